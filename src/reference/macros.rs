//! Every form of macro, replaced by the code in a small cluster.

use std::collections::BTreeMap;
use std::fmt::Write;

use cooperage_domain::id::NodeId;
use cooperage_domain::macros::{ClusterView, expand};
use cooperage_domain::task::NodeProperties;
use serde_json::json;

use super::{assert_page, cell};

const INTRODUCTION: &str = "# Macros

A macro stands between percent signs in the configuration of a cluster, in the fields of a service's actions, and in links. It is
replaced when a task is given out, as seen from the task's node. [Writing a template](../templates.md) has the grammar and what happens when
something is missing. Here each form is replaced in this cluster of the user `ann`, by the code that does it in a server:

| node | host name | `access_v4` | `bind_v4` | services |
|---|---|---|---|---|
";

const RESULTS: &str = "
All as seen from node 1001:

| written | becomes | what it is |
|---|---|---|
";

/// Texts, and what they are.
const TEXTS: [(&str, &str); 19] = [
    ("%cluster.owner%", "user id of the owner"),
    ("%host.self%", "host name of the node itself"),
    ("%ip.self%", "its address for services, of kind `bind_v4`"),
    ("%ip.access_v4.self%", "its address of another kind"),
    ("%host.service.nginx%", "host names of all nodes with a service, in order of their numbers"),
    ("%host.service.nginx[0]%", "the first of them"),
    ("%ip.service.redis%", "addresses of all nodes with a service"),
    ("%ip.access_v4.service.redis[0]%", "the first of another kind"),
    ("%num.service.nginx%", "how many nodes carry a service"),
    ("%num.service.mysql%", "0 when none does"),
    ("%instance.self.service.nginx%", "place of the node among those with a service, from 1"),
    ("%map(host.service.nginx,'$:80')%", "each in a format, in which `$` is the element"),
    ("%join(host.service.nginx,' ')%", "with something else than a comma between"),
    ("%join(map(host.service.nginx,'server $;'),' ')%", "both"),
    ("%map(host.service.redis,'$$ $')%", "`$$` is a dollar sign"),
    ("50%% of %num.service.nginx%", "`%%` is a percent sign"),
    ("100% of 50% x", "only what looks like a macro is one"),
    ("http://%ip.access_v4.service.redis[0]%:6379/", "in a longer text"),
    ("%host.service.mysql[0]%", "left as written: no node carries the service"),
];

/// A text that cannot be replaced.
const FAULTS: [(&str, &str); 3] = [
    ("%host.service.nginx[7]%", "an element that is not there"),
    ("%ip.fast_v6.self%", "a kind of address that the node does not have"),
    ("%host.self.name%", "a form that there is not"),
];

fn nodes() -> BTreeMap<NodeId, NodeProperties> {
    let node = |number: u32, services: &[&str]| {
        let properties = json!({
            "hostname": format!("shop7-{number}.local"), "nodenum": number, "services": services,
            "ipaddresses": {"bind_v4": format!("10.0.0.{}", number - 990), "access_v4": format!("198.51.100.{}", number - 990)},
        });
        let properties = serde_json::from_value(properties).expect("the properties of a node");
        (NodeId(format!("node-{number}")), properties)
    };
    BTreeMap::from([node(1000, &["redis"]), node(1001, &["nginx"]), node(1002, &["nginx"])])
}

#[test]
fn the_book_has_every_form_as_it_is_replaced() {
    let nodes = nodes();
    let mut page = INTRODUCTION.to_owned();
    for node in nodes.values() {
        let (host, services) = (node.hostname.as_deref().unwrap_or_default(), node.services.iter());
        let services: Vec<&str> = services.map(String::as_str).collect();
        let address = |kind: &str| node.ipaddresses.get(kind).map_or("", String::as_str);
        let (access, bind) = (address("access_v4"), address("bind_v4"));
        let _ = writeln!(
            page,
            "| {} | `{host}` | `{access}` | `{bind}` | {} |",
            node.nodenum,
            services.join(", ")
        );
    }
    page.push_str(RESULTS);
    let view = ClusterView::new("ann", &nodes);
    let seen_from = NodeId("node-1001".to_owned());
    for (text, meaning) in TEXTS {
        let becomes = expand(text, &view, Some(&seen_from)).unwrap();
        let _ = writeln!(page, "| `{}` | `{}` | {meaning} |", cell(text), cell(&becomes));
    }
    page.push_str("\nWhat cannot be replaced is told with its place, and what to do:\n\n| written | what it is | said |\n|---|---|---|\n");
    for (text, meaning) in FAULTS {
        let fault = expand(text, &view, Some(&seen_from)).unwrap_err().to_string();
        let _ = writeln!(page, "| `{}` | {meaning} | {} |", cell(text), cell(&fault));
    }
    assert_page("macros", &page);
}
