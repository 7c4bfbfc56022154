//! Whatever a cluster is told that it cannot do, it says what would make it possible.

use std::collections::{BTreeMap, BTreeSet};

use cooperage_domain::cluster::{ClusterStatus, Command, Refusal, Resize, Rollout, ServiceChange};
use cooperage_domain::id::{ClusterId, NodeId};
use cooperage_domain::layout::{Growth, Shrinkage};
use serde_json::json;

use crate::rig::Rig;
use crate::sketch::{Sketch, node_id};
use crate::table::{self, OPERATIONS, by};

/// A refusal has two parts: what is wrong, and what would make it possible.
pub fn check_remedy(refusal: &Refusal) {
    let text = refusal.to_string();
    let says = |line: &str| line.split_once("; ").is_some_and(|(_, remedy)| remedy.len() > 5);
    assert!(text.lines().all(says), "what would make it possible is not said: {text}");
}

/// Commands that no cluster can carry out.
fn impossible() -> Vec<Command> {
    let nodes = BTreeSet::from([node_id("n9")]);
    let known: Vec<_> = Sketch::new("app: start | none\nlog: start").services.into_values().collect();
    let add = |name: &str| Command::AddServices {
        services: BTreeSet::from([name.to_owned()]),
        known: known.clone(),
        by: by(),
    };
    let grow = |growth| Command::Resize {
        resize: Box::new(Resize::Grow { growth, hardware: Vec::new(), images: Vec::new() }),
        by: by(),
    };
    let macros = json!({"web": {"title": "%no.such.macro%"}}).as_object().cloned().unwrap();
    let bad = Rollout { pause: -1, ..Rollout::default() };
    vec![
        table::change(ServiceChange::Start, Some("no")),
        table::remove("no"),
        table::remove("db"),
        Command::RemoveServices { services: BTreeSet::new(), by: by() },
        Command::RemoveServices { services: ["db", "web"].map(str::to_owned).into(), by: by() },
        add("no"),
        add("app"),
        add("web"),
        grow(Growth::default()),
        grow(Growth { machines: 9, ..Growth::default() }),
        grow(Growth { services: BTreeMap::from([("db".into(), 1)]), ..Growth::default() }),
        table::shrink(Shrinkage::To(1)),
        table::shrink(Shrinkage::To(9)),
        table::shrink(Shrinkage::Nodes(BTreeSet::new())),
        table::shrink(Shrinkage::Nodes(nodes.clone())),
        table::shrink(Shrinkage::Services(BTreeMap::from([("db".into(), 1)]))),
        Command::Replace { nodes: BTreeSet::new(), lost: false, rollout: None, by: by() },
        Command::Replace { nodes: nodes.clone(), lost: true, rollout: None, by: by() },
        table::replace(&["n1"], false, Some(bad)),
        Command::Configure { config: macros.clone(), restart: true, by: by() },
        Command::Reconfigure { config: macros, nodes: BTreeMap::new(), rollout: None, by: by() },
        Command::Prolong { expires: 1, by: by() },
        errand("no", "smoke", BTreeSet::new()),
        errand("db", "smoke", BTreeSet::new()),
        errand("web", "no", BTreeSet::new()),
        errand("web", "smoke", nodes),
        errand("web", "smoke", BTreeSet::from([node_id("n1")])),
        Command::Adopt {
            child: ClusterId(9),
            name: "app".into(),
            needs: BTreeSet::from(["mail".to_owned()]),
        },
        Command::Inherit { from: ClusterId(9), lineage: Vec::new() },
        Command::GiveFields {
            fields: serde_json::Map::new(),
            command: Box::new(table::remove("no")),
            by: by(),
        },
    ]
}

fn errand(service: &str, errand: &str, nodes: BTreeSet<NodeId>) -> Command {
    Command::RunErrand { service: service.into(), errand: errand.into(), nodes, by: by() }
}

/// The cluster of every row, before it and in the midst of it: in every status, with every kind of job.
fn clusters() -> Vec<Rig> {
    let mut clusters = Vec::new();
    for row in OPERATIONS {
        let mut rig = row.begun();
        clusters.push(rig.clone());
        rig.step(Rig::smooth);
        clusters.push(rig);
    }
    let mut gone = (OPERATIONS[0].ready)();
    gone.tell(table::delete(true)).unwrap();
    gone.run();
    assert_eq!(gone.cluster().status, ClusterStatus::Terminated);
    clusters.push(gone);
    clusters
}

#[test]
fn what_is_impossible_is_refused_with_a_remedy() {
    let active = (OPERATIONS[1].ready)();
    for command in impossible() {
        let text = format!("{command:?}");
        match active.clone().tell(command) {
            Ok(()) => panic!("not refused: {text}"),
            Err(refusal) => check_remedy(&refusal),
        }
    }
}

#[test]
fn every_refusal_in_every_state_says_what_would_make_it_possible() {
    let mut refused = BTreeSet::new();
    for rig in clusters() {
        let asked = OPERATIONS.iter().filter_map(|row| Some((row.command?)(rig.cluster())));
        for command in asked.chain(impossible()) {
            let text = format!("{command:?}");
            if let Err(refusal) = rig.clone().tell(command) {
                check_remedy(&refusal);
                refused.insert(text.split_once(' ').map_or(text.clone(), |(name, _)| name.to_owned()));
            }
        }
    }
    // Pausing, resuming and going back to what is are always possible, or nothing.
    for name in [
        "Delete",
        "Cancel",
        "Abort",
        "Retry",
        "Resize",
        "Replace",
        "Upgrade",
        "RollBack",
        "Converge",
        "RunErrand",
    ] {
        assert!(refused.contains(name), "{name} was never refused: {refused:?}");
    }
}
