//! Runs the case files about macros.

use std::collections::BTreeMap;

use cooperage_domain::id::NodeId;
use cooperage_domain::macros::{ClusterView, MacroError, expand, expand_map, parse, validate};
use cooperage_domain::task::NodeProperties;
use serde_json::{Map, Value};

use crate::cases::{Case, Verdict, equal, run_all};

#[test]
fn macros_behave_as_the_case_files_say() {
    run_all("macros/cases", |case| {
        let verdict = match case.op() {
            "parse" => case.judge(parse(text(case, "macro")).map_err(|fault| labelled(&fault)), |_| Ok(())),
            "validate" => {
                case.judge(validate(text(case, "text")).map_err(|fault| labelled(&fault)), |()| Ok(()))
            }
            "expand" => expand_text(case),
            "expand_json" => expand_config(case),
            _ => return None,
        };
        Some(verdict)
    });
}

fn text<'a>(case: &'a Case, key: &str) -> &'a str {
    case.when[key].as_str().unwrap_or_else(|| panic!("{}: {key} is no text", case.name))
}

fn labelled(fault: &MacroError) -> (&'static str, String) {
    let message = fault.to_string();
    match fault {
        MacroError::Syntax { .. } => ("syntax", message),
        MacroError::Incomplete { .. } => ("incomplete", message),
    }
}

/// Calls `run` with the cluster of the case and the node to see from.
fn in_cluster<T>(case: &Case, run: impl FnOnce(&ClusterView<'_>, Option<&NodeId>) -> T) -> T {
    let cluster = &case.given["cluster"];
    let mut nodes = BTreeMap::new();
    for node in cluster["nodes"].as_array().into_iter().flatten() {
        let id = NodeId(node["id"].as_str().unwrap().to_owned());
        nodes.insert(id, serde_json::from_value::<NodeProperties>(node.clone()).unwrap());
    }
    let view = ClusterView::new(cluster["owner"].as_str().unwrap_or_default(), &nodes);
    let node = case.when["node"].as_str().map(|id| NodeId(id.to_owned()));
    run(&view, node.as_ref())
}

fn expand_text(case: &Case) -> Verdict {
    let outcome = in_cluster(case, |view, node| expand(text(case, "text"), view, node));
    case.judge(outcome.map_err(|fault| labelled(&fault)), |found| match &case.expect["any_order"] {
        Value::Null => equal(&found.as_str(), &case.expect["value"].as_str().unwrap()),
        order => in_any_order(found, order),
    })
}

fn expand_config(case: &Case) -> Verdict {
    let config = case.when["config"].as_object().unwrap();
    let outcome = in_cluster(case, |view, node| expand_map(config, view, node));
    case.judge(outcome.map_err(|fault| labelled(&fault)), |found| {
        let (mut found, mut expected) = (Value::from(found.clone()), case.expect["config"].clone());
        for (path, order) in case.expect["any_order_paths"].as_object().unwrap_or(&Map::new()) {
            let pointer = format!("/{}", path.replace('.', "/"));
            let list = found.pointer_mut(&pointer).map(Value::take).unwrap_or_default();
            in_any_order(list.as_str().unwrap_or_default(), order)?;
            if let Some(listed) = expected.pointer_mut(&pointer) {
                listed.take();
            }
        }
        equal(&found, &expected)
    })
}

/// Whether `found` is a prefix, the items in any order with separators between, and a suffix.
fn in_any_order(found: &str, order: &Value) -> Verdict {
    let part = |key: &str| order[key].as_str().unwrap_or_default();
    let mut items: Vec<&str> = order["items"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    let list = found.strip_prefix(part("prefix")).and_then(|rest| rest.strip_suffix(part("suffix")));
    let holds = list.is_some_and(|list| is_permutation(list, part("separator"), &mut items));
    if holds { Ok(()) } else { Err(format!("expected {order} in any order, got {found:?}")) }
}

fn is_permutation(list: &str, separator: &str, items: &mut Vec<&str>) -> bool {
    if items.is_empty() {
        return list.is_empty();
    }
    (0..items.len()).any(|at| {
        let item = items.swap_remove(at);
        let rest = list.strip_prefix(item);
        let rest = if items.is_empty() { rest } else { rest.and_then(|rest| rest.strip_prefix(separator)) };
        let holds = rest.is_some_and(|rest| is_permutation(rest, separator, items));
        items.push(item);
        let last = items.len() - 1;
        items.swap(at, last);
        holds
    })
}
