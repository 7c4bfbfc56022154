//! What holds for every text, every macro and every configuration.

use std::collections::BTreeMap;

use cooperage_domain::entity::Link;
use cooperage_domain::id::NodeId;
use cooperage_domain::macros::{
    Basic, ClusterView, Macro, Property, expand, expand_link, expand_tree, parse, references, validate,
};
use cooperage_domain::task::NodeProperties;
use proptest::prelude::*;
use serde_json::{Value, json};

/// Services that some node of a cluster may carry, and one that none does.
const SERVICES: [&str; 4] = ["web", "data-base_1", "a.b.c", "nowhere"];

fn nodes() -> impl Strategy<Value = BTreeMap<NodeId, NodeProperties>> {
    let node = (
        prop::option::of("[a-z]{1,5}"),
        prop::collection::btree_map(prop::sample::select(vec!["bind_v4", "access_v4"]), "[0-9.]{1,5}", 0..3),
        prop::sample::subsequence(SERVICES[..3].to_vec(), 0..=3),
    );
    (prop::collection::vec(node, 0..6), any::<u64>()).prop_map(|(nodes, shuffle)| {
        let numbered = (1000..).zip(nodes).map(|(nodenum, (hostname, addresses, services))| {
            let id = NodeId(format!("{:x}", u64::from(nodenum).wrapping_mul(shuffle | 1)));
            let properties = NodeProperties {
                hostname,
                ipaddresses: addresses.into_iter().map(|(kind, at)| (kind.to_owned(), at)).collect(),
                nodenum,
                services: services.into_iter().map(str::to_owned).collect(),
                ..NodeProperties::default()
            };
            (id, properties)
        });
        numbered.collect()
    })
}

fn macros() -> impl Strategy<Value = Macro> {
    let service = prop::sample::select(SERVICES.to_vec()).prop_map(str::to_owned);
    let property = prop_oneof![
        Just(Property::HostName),
        prop::sample::select(vec!["bind_v4", "access_v4", "self", "service"])
            .prop_map(|kind| Property::Address(kind.to_owned())),
    ];
    let basic = prop_oneof![
        Just(Basic::Owner),
        property
            .clone()
            .prop_filter("ip.service.self names a service", |property| {
                *property != Property::Address("service".into())
            })
            .prop_map(Basic::Own),
        (property, service.clone(), prop::option::of(0..4_usize))
            .prop_map(|(property, service, index)| Basic::OfService { property, service, index }),
        service.clone().prop_map(Basic::Count),
        service.prop_map(Basic::Instance),
    ];
    let literal = || prop::option::of(prop_oneof!["[^'\\p{C}]{0,6}", "[$%'a ]{0,4}", "[$%\"a ]{0,4}"]);
    (basic, literal(), literal()).prop_map(|(basic, format, separator)| Macro { basic, format, separator })
}

/// A macro's value by plain enumeration; the outer `None` is an error, the inner one means left as written.
fn reference(
    wanted: &Macro,
    nodes: &BTreeMap<NodeId, NodeProperties>,
    here: &NodeId,
) -> Option<Option<String>> {
    let mut members: Vec<_> = nodes.iter().collect();
    members.sort_by_key(|(_, node)| node.nodenum);
    let on = |service: &String| -> Vec<(&NodeId, &NodeProperties)> {
        members.iter().copied().filter(|(_, node)| node.services.contains(service)).collect()
    };
    let get = |property: &Property, node: &NodeProperties| match property {
        Property::HostName => node.hostname.clone(),
        Property::Address(kind) => node.ipaddresses.get(kind).cloned(),
    };
    let list = match &wanted.basic {
        Basic::Owner => vec!["ann".to_owned()],
        Basic::Own(property) => match get(property, &nodes[here]) {
            None if *property == Property::HostName => return Some(None),
            value => vec![value?],
        },
        Basic::Count(service) => vec![on(service).len().to_string()],
        Basic::Instance(service) => match on(service).iter().position(|(id, _)| *id == here) {
            None => return Some(None),
            Some(position) => vec![(position + 1).to_string()],
        },
        Basic::OfService { service, .. } if on(service).is_empty() => return Some(None),
        Basic::OfService { property, service, index: Some(index) } => {
            vec![get(property, on(service).get(*index)?.1)?]
        }
        Basic::OfService { property, service, index: None } => {
            on(service).iter().map(|(_, node)| get(property, node)).collect::<Option<_>>()?
        }
    };
    let list: Vec<String> = match &wanted.format {
        None => list,
        Some(format) => list.iter().map(|value| formatted(format, value)).collect(),
    };
    Some(Some(list.join(wanted.separator.as_deref().unwrap_or(","))))
}

/// Character by character, where the product splits and replaces.
fn formatted(format: &str, value: &str) -> String {
    let mut result = String::new();
    let mut characters = format.chars().peekable();
    while let Some(c) = characters.next() {
        match c {
            '$' if characters.next_if_eq(&'$').is_some() => result.push('$'),
            '$' => result.push_str(value),
            other => result.push(other),
        }
    }
    result
}

/// Trees whose texts and keys are full of percent signs.
fn trees() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "(%|%cluster.owner%|x| ){0,4}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec(("[a-c%]{0,2}", inner), 0..4)
                .prop_map(|entries| Value::Object(entries.into_iter().collect())),
        ]
    })
}

/// The tree with its texts emptied.
fn shape(tree: &Value) -> Value {
    match tree {
        Value::String(_) => json!(""),
        Value::Array(items) => items.iter().map(shape).collect(),
        Value::Object(entries) => entries.iter().map(|(key, value)| (key.clone(), shape(value))).collect(),
        other => other.clone(),
    }
}

proptest! {
    #[test]
    fn arbitrary_text_never_panics(text in "\\PC*", macro_like in "[%'\"\\[\\](),$a-z. 0-9ä]{0,40}") {
        let nodes = BTreeMap::new();
        let view = ClusterView::new("ann", &nodes);
        for text in [text, macro_like] {
            let valid = validate(&text);
            let _ = parse(&text);
            // What is wrong in itself is wrong in every cluster, and in no other way.
            if let Err(fault) = valid {
                prop_assert_eq!(references(&json!(text)), Err(fault));
                prop_assert!(expand(&text, &view, None).is_err());
            }
        }
    }

    #[test]
    fn text_without_percent_signs_stays(text in "[^%]*") {
        let nodes = BTreeMap::new();
        prop_assert_eq!(expand(&text, &ClusterView::new("ann", &nodes), None), Ok(text));
    }

    #[test]
    fn doubled_percent_signs_protect_any_text(text in any::<String>()) {
        let nodes = BTreeMap::new();
        let written = text.replace('%', "%%");
        prop_assert_eq!(expand(&written, &ClusterView::new("ann", &nodes), None), Ok(text));
    }

    #[test]
    fn written_macros_are_read_back(wanted in macros()) {
        prop_assert_eq!(parse(&wanted.to_string()), Ok(wanted));
    }

    #[test]
    fn expansion_is_that_of_plain_enumeration(
        nodes in nodes().prop_filter("a node to see from", |nodes| !nodes.is_empty()),
        wanted in prop::collection::vec((macros(), "[^%]{0,3}"), 1..3),
        here in any::<prop::sample::Index>(),
    ) {
        let here = nodes.keys().nth(here.index(nodes.len())).unwrap();
        let mut text = String::new();
        let mut expected = Some(String::new());
        for (wanted, between) in &wanted {
            text += &format!("%{wanted}%{between}");
            expected = expected.zip(reference(wanted, &nodes, here)).map(|(before, value)| {
                before + &value.unwrap_or_else(|| format!("%{wanted}%")) + between
            });
        }
        let found = expand(&text, &ClusterView::new("ann", &nodes), Some(here));
        prop_assert_eq!(found.as_ref().ok(), expected.as_ref(), "{}: {:?}", text, found);
    }

    #[test]
    fn trees_keep_all_but_their_texts(tree in trees()) {
        let nodes = BTreeMap::new();
        let view = ClusterView::new("ann", &nodes);
        if let Ok(expanded) = expand_tree(&tree, &view, None) {
            prop_assert_eq!(shape(&expanded), shape(&tree));
        }
    }
}

#[test]
fn references_name_services_and_their_places() {
    let tree =
        json!({"db": ["%join(host.service.sql,' ')%", {"n": "%num.service.sql% %cluster.owner%"}], "n": 1});
    let found = references(&tree).unwrap();
    let found: Vec<_> =
        found.iter().map(|it| (it.path.as_str(), it.service.as_str(), it.may_be_absent)).collect();
    assert_eq!(found, [("db[0]", "sql", false), ("db[1].n", "sql", true)]);

    let fault = references(&json!({"a": [{"b": "%nonsense%"}]})).unwrap_err().to_string();
    assert!(fault.starts_with("a[0].b: macro %nonsense%"), "{fault}");
}

#[test]
fn links_stay_as_written_until_all_their_macros_have_values() {
    let nodes = BTreeMap::new();
    let view = ClusterView::new("ann", &nodes);
    for (url, expected) in [
        ("http://%cluster.owner%.example.com/", "http://ann.example.com/"),
        ("http://%cluster.owner%/%ip.self%", "http://%cluster.owner%/%ip.self%"),
        ("http://x/%nonsense%%%", "http://x/%nonsense%%%"),
    ] {
        let link = Link { label: "l".into(), url: url.into() };
        assert_eq!(expand_link(&link, &view, None), Link { url: expected.into(), ..link });
    }
}
