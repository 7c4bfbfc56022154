//! Replacing macros by what they stand for, in a text, a link or a whole configuration.

use serde_json::{Map, Value};

use super::error::MacroError;
use super::syntax::{Basic, Macro, Property, parse};
use super::text::{Piece, pieces};
use super::view::{ClusterView, Member};
use crate::entity::Link;
use crate::id::NodeId;
use crate::task::NodeProperties;

/// Replaces the macros of `text`, as seen from `node` (`None`: from the cluster as a whole) of the cluster `view`.
///
/// # Errors
/// The first macro that is written wrongly, or for which the cluster lacks the data.
pub fn expand(text: &str, view: &ClusterView<'_>, node: Option<&NodeId>) -> Result<String, MacroError> {
    let mut expanded = String::with_capacity(text.len());
    for piece in pieces(text) {
        match piece {
            Piece::Text(text) => expanded.push_str(text),
            Piece::Macro(inner) => match evaluate(&parse(inner)?, view, node) {
                Ok(Some(value)) => expanded.push_str(&value),
                Ok(None) => expanded.extend(["%", inner, "%"]),
                Err(Lack { missing, remedy }) => {
                    return Err(MacroError::Incomplete {
                        path: String::new(),
                        text: inner.to_owned(),
                        missing,
                        remedy,
                    });
                }
            },
        }
    }
    Ok(expanded)
}

/// Replaces the macros in every text of `tree`, at any depth; keys, numbers and booleans stay. See [`expand`].
///
/// # Errors
/// As [`expand`], with the place in the tree.
pub fn expand_tree(tree: &Value, view: &ClusterView<'_>, node: Option<&NodeId>) -> Result<Value, MacroError> {
    match tree {
        Value::String(text) => expand(text, view, node).map(Value::String),
        Value::Array(items) => items
            .iter()
            .enumerate()
            .map(|(index, item)| expand_tree(item, view, node).map_err(|fault| fault.within_index(index)))
            .collect::<Result<_, _>>()
            .map(Value::Array),
        Value::Object(entries) => expand_map(entries, view, node).map(Value::Object),
        Value::Null | Value::Bool(_) | Value::Number(_) => Ok(tree.clone()),
    }
}

/// [`expand_tree`] for an object, such as the configuration of a cluster.
///
/// # Errors
/// As [`expand_tree`].
pub fn expand_map(
    entries: &Map<String, Value>,
    view: &ClusterView<'_>,
    node: Option<&NodeId>,
) -> Result<Map<String, Value>, MacroError> {
    entries
        .iter()
        .map(|(key, value)| {
            let value = expand_tree(value, view, node).map_err(|fault| fault.within_key(key))?;
            Ok((key.clone(), value))
        })
        .collect()
}

/// Replaces the macros of a link's address; if one cannot be replaced yet, the link stays as written.
#[must_use]
pub fn expand_link(link: &Link, view: &ClusterView<'_>, node: Option<&NodeId>) -> Link {
    let url = expand(&link.url, view, node).unwrap_or_else(|_| link.url.clone());
    Link { label: link.label.clone(), url }
}

/// What a cluster lacks for a macro.
struct Lack {
    missing: String,
    remedy: String,
}

/// The text a macro stands for; `None` when it is to be left as written.
fn evaluate(wanted: &Macro, view: &ClusterView<'_>, node: Option<&NodeId>) -> Result<Option<String>, Lack> {
    let Some(mut values) = values(&wanted.basic, view, node)? else { return Ok(None) };
    if let Some(format) = &wanted.format {
        for value in &mut values {
            *value = format_value(format, value);
        }
    }
    Ok(Some(values.join(wanted.separator.as_deref().unwrap_or(","))))
}

/// The values before formatting and joining; `None` when the macro is to be left as written.
fn values(basic: &Basic, view: &ClusterView<'_>, node: Option<&NodeId>) -> Result<Option<Vec<String>>, Lack> {
    let value = match basic {
        Basic::Owner => Some(view.owner.to_owned()),
        Basic::Own(wanted) => {
            let here = here(view, node)?;
            match (wanted, property(wanted, here.1)) {
                (_, Some(value)) => Some(value.to_owned()),
                (Property::HostName, None) => None,
                (Property::Address(_), None) => return Err(lacks(wanted, here)),
            }
        }
        Basic::OfService { property, service, index } => {
            return of_service(property, service, *index, view.carriers(service));
        }
        Basic::Count(service) => Some(view.carriers(service).len().to_string()),
        Basic::Instance(service) => {
            let (here, _) = here(view, node)?;
            let position = view.carriers(service).iter().position(|(id, _)| *id == here);
            position.map(|before| (before + 1).to_string())
        }
    };
    Ok(value.map(|value| vec![value]))
}

/// The node a macro is seen from.
fn here<'a>(view: &'a ClusterView<'_>, node: Option<&'a NodeId>) -> Result<Member<'a>, Lack> {
    let Some(id) = node else {
        return Err(Lack {
            missing: "it speaks of a node and stands where there is none".into(),
            remedy: "use it in what belongs to a service, or name a service: host.service.S".into(),
        });
    };
    view.node(id).map(|properties| (id, properties)).ok_or_else(|| Lack {
        missing: format!("node {id} is not part of the cluster"),
        remedy: "use one of the cluster's nodes".into(),
    })
}

fn of_service(
    wanted: &Property,
    service: &str,
    index: Option<usize>,
    carriers: &[Member<'_>],
) -> Result<Option<Vec<String>>, Lack> {
    let chosen = match index {
        _ if carriers.is_empty() => return Ok(None),
        None => carriers,
        Some(index) => carriers.get(index..=index).ok_or_else(|| Lack {
            missing: format!("{service} is on {} nodes and has no node {index}", carriers.len()),
            remedy: format!("use an index from 0 to {}", carriers.len() - 1),
        })?,
    };
    chosen
        .iter()
        .map(|carrier| property(wanted, carrier.1).map(str::to_owned).ok_or_else(|| lacks(wanted, *carrier)))
        .collect::<Result<_, _>>()
        .map(Some)
}

/// What `node` has of the kind wanted.
fn property<'a>(wanted: &Property, node: &'a NodeProperties) -> Option<&'a str> {
    let value = match wanted {
        Property::HostName => node.hostname.as_deref(),
        Property::Address(kind) => node.ipaddresses.get(kind).map(String::as_str),
    };
    value.filter(|value| !value.is_empty())
}

fn lacks(wanted: &Property, (id, node): Member<'_>) -> Lack {
    let number = node.nodenum;
    match wanted {
        Property::HostName => Lack {
            missing: format!("node {id} (number {number}) has no host name"),
            remedy: "use it only once the node has one".into(),
        },
        Property::Address(kind) => {
            let known: Vec<&str> = node.ipaddresses.keys().map(String::as_str).collect();
            let remedy = if known.is_empty() {
                "addresses are known once the machine is confirmed".into()
            } else {
                format!("use a kind it has: {}", known.join(", "))
            };
            Lack { missing: format!("node {id} (number {number}) has no address of kind {kind}"), remedy }
        }
    }
}

/// Puts `value` into `format`: `$` is the value, `$$` a dollar sign.
fn format_value(format: &str, value: &str) -> String {
    let parts: Vec<String> = format.split("$$").map(|part| part.replace('$', value)).collect();
    parts.join("$")
}
