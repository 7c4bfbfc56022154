//! Which hosts a value names.

use std::collections::HashMap;

use serde_json::Value;

use super::state::Cluster;
use crate::id::NodeId;
use crate::task::NodeProperties;

/// What has a host name.
#[derive(Clone, Copy)]
pub(super) struct Host<'a> {
    pub(super) properties: &'a NodeProperties,
    /// The node, if it is one of the cluster itself.
    pub(super) own: Option<&'a NodeId>,
}

/// The host names of a cluster's nodes, and of those that its ancestors publish.
///
/// A text is cut into words, and each word is looked up: that takes time by the text, whatever the size of the cluster.
pub(super) struct Names<'a> {
    hosts: HashMap<&'a str, Host<'a>>,
    /// Length of the longest name, in bytes.
    longest: usize,
}

impl<'a> Names<'a> {
    pub(super) fn of(cluster: &'a Cluster) -> Self {
        let own = cluster.nodes.iter().map(|(id, node)| Host { properties: &node.properties, own: Some(id) });
        let published = cluster.kin.origins.ancestors().flat_map(|published| published.nodes.values());
        Self::new(own.chain(published.map(|properties| Host { properties, own: None })))
    }

    fn new(all: impl Iterator<Item = Host<'a>>) -> Self {
        let mut hosts = HashMap::with_capacity(all.size_hint().0);
        let mut longest = 0;
        for host in all {
            if let Some(name) = host.properties.hostname.as_deref().filter(|name| !name.is_empty()) {
                longest = longest.max(name.len());
                // Of several that say they have the same name the first has it.
                hosts.entry(name).or_insert(host);
            }
        }
        Self { hosts, longest }
    }

    /// The hosts that any text in a value names, keys included, as often as it does.
    pub(super) fn in_value(&self, value: &Value) -> Vec<(&'a str, Host<'a>)> {
        match value {
            Value::String(text) => self.in_text(text),
            Value::Array(items) => items.iter().flat_map(|item| self.in_value(item)).collect(),
            Value::Object(entries) => {
                let of_entry = |(key, value): (&String, &Value)| {
                    let mut named = self.in_text(key);
                    named.extend(self.in_value(value));
                    named
                };
                entries.iter().flat_map(of_entry).collect()
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => Vec::new(),
        }
    }

    /// The hosts that a text names.
    pub(super) fn in_text(&self, text: &str) -> Vec<(&'a str, Host<'a>)> {
        text.split(|c| !is_of_name(c)).flat_map(|word| self.in_word(word)).collect()
    }

    /// A name may be part of a longer word, from one of its dots, dashes and underscores to another, as in the name of a
    /// service below it or of a file. Where names overlap the first one counts, and of several that begin at the same place
    /// the longest.
    fn in_word(&self, word: &str) -> Vec<(&'a str, Host<'a>)> {
        if let Some((name, host)) = self.hosts.get_key_value(word) {
            return vec![(name, *host)];
        }
        let joints: Vec<usize> = word.match_indices(is_joint).map(|(at, _)| at).collect();
        let mut found = Vec::new();
        let mut from = 0;
        for begin in std::iter::once(0).chain(joints.iter().map(|at| at + 1)) {
            if begin < from {
                continue;
            }
            let later = &joints[joints.partition_point(|at| *at <= begin)..];
            let ends =
                later.iter().copied().chain([word.len()]).take_while(|end| end - begin <= self.longest);
            let ends: Vec<usize> = ends.collect();
            let names = |end: &usize| self.hosts.get_key_value(&word[begin..*end]);
            if let Some((name, host)) = ends.iter().rev().find_map(names) {
                from = begin + name.len();
                found.push((*name, *host));
            }
        }
        found
    }
}

/// Whether a host name may hold it.
fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || is_joint(c)
}

/// Whether it stands between the parts of a host name.
const fn is_joint(c: char) -> bool {
    matches!(c, '.' | '-' | '_')
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// The names that are found in a value, where these are the names of nodes.
    fn found(names: &[&str], value: &Value) -> Vec<String> {
        let node = |name: &&str| NodeProperties { hostname: Some((*name).to_owned()), ..Default::default() };
        let nodes: Vec<NodeProperties> = names.iter().map(node).collect();
        let names = Names::new(nodes.iter().map(|properties| Host { properties, own: None }));
        names.in_value(value).into_iter().map(|(name, _)| name.to_owned()).collect()
    }

    #[test]
    fn names_are_found_wherever_they_stand() {
        let names = ["a-1.lan", "a-10.lan", "a"];
        for (value, expected) in [
            (json!("a-1.lan"), vec!["a-1.lan"]),
            (json!("http://a-10.lan:80/,a-1.lan"), vec!["a-10.lan", "a-1.lan"]),
            (json!("line\na-1.lan\tnext"), vec!["a-1.lan"]),
            (json!({"a-1.lan": ["a-10.lan", 7, null, true, {"x": "a"}]}), vec!["a-1.lan", "a-10.lan", "a"]),
            (json!("db.a-1.lan.cache"), vec!["a-1.lan"]),
            (json!("a-1.lan_a-1.lan"), vec!["a-1.lan", "a-1.lan"]),
            (json!("a-1.lan."), vec!["a-1.lan"]),
            (json!("a-2.lan"), vec!["a"]),
            (json!("ba-1.lan a1 ä.a-1.lan"), vec!["a-1.lan"]),
            (json!(""), vec![]),
            (json!("--..__"), vec![]),
        ] {
            assert_eq!(found(&names, &value), expected, "{value}");
        }
        assert!(found(&[], &json!("a")).is_empty());
    }

    #[test]
    fn the_longest_name_wins() {
        assert_eq!(found(&["web", "web.lan", "lan"], &json!("web.lan.lan")), ["web.lan", "lan"]);
    }
}
