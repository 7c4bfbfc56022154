//! Services that are required on the same machine come first on that machine, and on no other.

use cooperage_domain::plan::ClusterAction::{ClusterCreate, StopServices};
use cooperage_domain::plan::{Steps, stages};
use cooperage_domain::task::TaskName;

use crate::sketch::{Sketch, is_before, names, unit};

const FULL: &str = "install configure initialize start stop";

#[test]
fn they_are_waited_for_on_their_node_alone() {
    let sketch = Sketch::new(&format!(
        "side: {FULL}\napp: {FULL} | runtime-node side | install-node side\nn1 = app side\nn2 = app side"
    ));
    let graph = sketch.coopr(ClusterCreate, "").unwrap();
    for step in ["INSTALL", "START"] {
        assert!(is_before(&graph, &format!("n1:{step}:side"), &format!("n1:{step}:app")));
        assert!(!is_before(&graph, &format!("n2:{step}:side"), &format!("n1:{step}:app")));
    }
    let graph = sketch.coopr(StopServices, "").unwrap();
    assert!(is_before(&graph, "n1:STOP:app", "n1:STOP:side"));
    assert!(!is_before(&graph, "n2:STOP:app", "n1:STOP:side"));
    assert_eq!(stages(&graph).len(), 2);
}

#[test]
fn what_is_behind_them_is_waited_for_as_far_as_the_requirements_on_the_way_say() {
    let through = |mid: &str, app: &str| {
        let sketch = Sketch::new(&format!(
            "db: {FULL}\nmid: {mid}\napp: {FULL} | {app}\nn1 = app mid db\nn2 = app mid db"
        ));
        let graph = sketch.coopr(ClusterCreate, "").unwrap();
        ["n1", "n2"].map(|node| is_before(&graph, &format!("{node}:START:db"), "n1:START:app"))
    };
    // `mid` has no START: it is looked through.
    assert_eq!(through("configure | runtime-node db", "runtime-node mid"), [true, false]);
    assert_eq!(through("configure | runtime db", "runtime-node mid"), [true, true]);
    assert_eq!(through("configure | runtime-node db", "runtime mid"), [true, true]);
    assert_eq!(through(&format!("{FULL} | runtime db"), "runtime-node mid"), [true, true]);
    assert_eq!(through(&format!("{FULL} | runtime-node db"), "runtime-node mid"), [true, false]);
    // Who requires it in two ways waits for all, although another one that it waits for does so on its node only.
    assert_eq!(through(&format!("{FULL} | runtime-node db"), "runtime-node mid | runtime db"), [true, true]);
    assert_eq!(through(FULL, "runtime-node db | runtime-uses db"), [true, true]);
}

#[test]
fn on_nodes_without_the_one_in_between_it_is_waited_for_all_the_same() {
    let sketch = Sketch::new(&format!(
        "db: {FULL}\nmid: {FULL} | runtime-node db\napp: {FULL} | runtime mid db\nn1 = app\nn2 = mid db\nn3 = db"
    ));
    let graph = sketch.coopr(ClusterCreate, "").unwrap();
    assert!(is_before(&graph, "n3:START:db", "n1:START:app"));
}

#[test]
fn as_coopr_starts_what_is_needed_so_are_they_on_their_node() {
    let sketch =
        Sketch::new(&format!("side: {FULL}\napp: {FULL} | runtime-node side\nn1 = app side\nn2 = app side"));
    let steps: Steps = [(unit("n1/app"), vec![TaskName::Start])].into();
    let issued = cooperage_domain::plan::graph::build(&cooperage_domain::plan::PlanInput {
        nodes: &sketch.nodes,
        services: &sketch.services,
        steps: &steps,
        unplanned: cooperage_domain::plan::AwaitUnplanned::Issue,
    });
    assert_eq!(names(&issued.unwrap()), ["n1:START:side", "n1:START:app"]);
}
