//! Each rule of ordering by its name, on the smallest cluster that shows it.

use cooperage_domain::plan::stages::levels;
use cooperage_domain::plan::{ClusterAction, Steps, stages};
use cooperage_domain::task::TaskName;

use crate::sketch::{Sketch, is_before, names, unit};

use ClusterAction::{AddServices, ClusterCreate, RestartServices, StartServices, StopServices};

/// What an order is between two tasks.
#[derive(Debug, PartialEq)]
enum Order {
    Before,
    Open,
}
use Order::{Before, Open};

#[test]
#[allow(clippy::too_many_lines)] // A table of cases reads best in one piece.
fn tasks_of_different_services_come_in_the_order_of_the_rules() {
    let on_two_nodes = |services: &str| format!("{services}\nn1 = a\nn2 = b");
    let full = "install configure initialize start stop";
    let runtime = on_two_nodes(&format!("a: {full}\nb: {full} | runtime a"));
    let install = on_two_nodes(&format!("a: {full}\nb: {full} | install a"));
    let uses = on_two_nodes(&format!("a: {full}\nb: {full} | runtime-uses a | install-uses a"));
    let absent = on_two_nodes(&format!("a: {full}\nb: {full} | runtime z | install-uses z"));
    let through = format!(
        "a: {full}\nm: configure | runtime a | install a\nb: {full} | runtime m | install m\nn1 = a\nn2 = b\nn3 = m"
    );
    let provided = format!("a: {full} | provides x\nb: {full} | runtime x\nn1 = a\nn2 = b");
    let own = format!("a: {full} | provides x\nb: {full} | provides x | runtime x\nn1 = a\nn2 = b");
    let table = [
        (
            "install dependencies order INSTALL",
            &install,
            ClusterCreate,
            "n1:INSTALL:a",
            "n2:INSTALL:b",
            Before,
        ),
        ("but not START", &install, ClusterCreate, "n1:START:a", "n2:START:b", Open),
        ("START comes before INITIALIZE", &runtime, ClusterCreate, "n1:START:a", "n2:INITIALIZE:b", Before),
        ("START comes before START", &runtime, StartServices, "n1:START:a", "n2:START:b", Before),
        ("runtime does not order INSTALL", &runtime, ClusterCreate, "n1:INSTALL:a", "n2:INSTALL:b", Open),
        (
            "nor INITIALIZE among themselves",
            &install,
            ClusterCreate,
            "n1:INITIALIZE:a",
            "n2:INITIALIZE:b",
            Open,
        ),
        ("CONFIGURE waits for nobody", &runtime, ClusterCreate, "n1:START:a", "n2:CONFIGURE:b", Open),
        ("STOP goes the other way", &runtime, StopServices, "n2:STOP:b", "n1:STOP:a", Before),
        (
            "a restart stops all before it starts",
            &runtime,
            RestartServices,
            "n2:STOP:b",
            "n1:START:a",
            Before,
        ),
        ("`uses` orders START", &uses, StartServices, "n1:START:a", "n2:START:b", Before),
        ("`uses` orders INSTALL", &uses, ClusterCreate, "n1:INSTALL:a", "n2:INSTALL:b", Before),
        ("an absent name has no effect", &absent, ClusterCreate, "n1:START:a", "n2:START:b", Open),
        (
            "a service without START is looked through",
            &through,
            StartServices,
            "n1:START:a",
            "n2:START:b",
            Before,
        ),
        ("one without INSTALL too", &through, ClusterCreate, "n1:INSTALL:a", "n2:INSTALL:b", Before),
        ("one without STOP too", &through, StopServices, "n2:STOP:b", "n1:STOP:a", Before),
        ("a provider answers to the name", &provided, StartServices, "n1:START:a", "n2:START:b", Before),
        ("who provides a name needs no other", &own, StartServices, "n1:START:a", "n2:START:b", Open),
    ];
    for (rule, sketch, action, first, second, order) in table {
        let graph = Sketch::new(sketch).coopr(action, "").unwrap();
        let found = if is_before(&graph, first, second) { Before } else { Open };
        assert_eq!(found, order, "{rule}: {first}, {second}");
        assert!(!is_before(&graph, second, first), "{rule}: {second} before {first}");
    }
}

#[test]
fn machine_tasks_come_first_and_every_node_that_carries_the_service_counts() {
    let sketch = Sketch::new(
        "db: install start
         web: install start | runtime db
         n1 = db
         n2 = db
         n3 = web",
    );
    let graph = sketch.coopr(ClusterCreate, "").unwrap();
    for (first, second) in [
        ("n3:CREATE", "n3:CONFIRM"),
        ("n3:CONFIRM", "n3:BOOTSTRAP"),
        ("n3:BOOTSTRAP", "n3:INSTALL:web"),
        ("n1:START:db", "n3:START:web"),
        ("n2:START:db", "n3:START:web"),
    ] {
        assert!(is_before(&graph, first, second), "{first}, {second}");
    }
    assert!(!is_before(&graph, "n1:CREATE", "n3:INSTALL:web"));
}

#[test]
fn a_machine_is_given_back_after_its_services_are_done() {
    let sketch = Sketch::new("a: stop start\nn1 = a");
    let steps = Steps::from([(unit("n1"), vec![TaskName::Delete]), (unit("n1/a"), vec![TaskName::Stop])]);
    assert_eq!(names(&sketch.graph(&steps).unwrap()), ["n1:STOP:a", "n1:DELETE"]);
}

#[test]
fn a_machine_made_anew_is_ready_before_its_services_come() {
    let sketch = Sketch::new("a: install start\nn1 = a");
    let anew = vec![TaskName::Delete, TaskName::Create, TaskName::Confirm, TaskName::Bootstrap];
    let steps = Steps::from([(unit("n1"), anew), (unit("n1/a"), vec![TaskName::Install])]);
    let graph = sketch.graph(&steps).unwrap();
    assert_eq!(names(&graph), ["n1:DELETE", "n1:CREATE", "n1:CONFIRM", "n1:BOOTSTRAP", "n1:INSTALL:a"]);
    assert_eq!(levels(&graph).len(), 5);
}

#[test]
fn a_service_is_removed_after_those_that_need_it() {
    let sketch = Sketch::new(
        "db: remove
         web: stop remove | install db | runtime db
         n1 = db
         n2 = web",
    );
    let steps = Steps::from([
        (unit("n1/db"), vec![TaskName::Remove]),
        (unit("n2/web"), vec![TaskName::Stop, TaskName::Remove]),
    ]);
    let graph = sketch.graph(&steps).unwrap();
    assert!(is_before(&graph, "n2:STOP:web", "n1:REMOVE:db"));
    assert!(is_before(&graph, "n2:REMOVE:web", "n1:REMOVE:db"));
}

#[test]
fn awaited_starts_are_issued_for_coopr_and_not_where_it_is_known_what_runs() {
    let sketch = Sketch::new(
        "a: start
         b: start | runtime a
         c: install start | runtime b
         n1 = a
         n2 = b c",
    );
    let coopr = sketch.coopr(AddServices, "c").unwrap();
    assert_eq!(names(&coopr), ["n2:BOOTSTRAP", "n2:START:b", "n2:INSTALL:c", "n2:START:c"]);
    let steps = Steps::from([(unit("n2/c"), vec![TaskName::Install, TaskName::Start])]);
    assert_eq!(names(&sketch.graph(&steps).unwrap()), ["n2:INSTALL:c", "n2:START:c"]);
}

#[test]
fn what_runs_already_is_looked_through() {
    let sketch = Sketch::new("a: start\nb: start | runtime a\nc: start | runtime b\nn1 = a\nn2 = b c");
    let steps = Steps::from([(unit("n1/a"), vec![TaskName::Start]), (unit("n2/c"), vec![TaskName::Start])]);
    assert!(is_before(&sketch.graph(&steps).unwrap(), "n1:START:a", "n2:START:c"));
}

#[test]
fn nothing_to_do_is_a_plan_without_stages() {
    let graph = Sketch::new("a: install\nn1 = a").coopr(StopServices, "").unwrap();
    assert!(graph.is_empty());
    assert!(stages(&graph).is_empty());
}
