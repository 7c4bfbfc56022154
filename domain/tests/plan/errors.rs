//! What cannot be planned is refused with the thing, the value and the remedy.

use std::collections::BTreeSet;

use cooperage_domain::plan::coopr::{self, Scope};
use cooperage_domain::plan::{ClusterAction, PlanError, Steps, converge};
use cooperage_domain::task::TaskName;

use crate::sketch::{Sketch, node_id, unit};

const ONE: &str = "a: start stop\nn1 = a";

fn refusal(sketch: &str, of: &str, steps: &[TaskName]) -> String {
    let steps = Steps::from([(unit(of), steps.to_vec())]);
    Sketch::new(sketch).graph(&steps).unwrap_err().to_string()
}

#[test]
fn steps_that_make_no_sense_are_refused() {
    for (sketch, of, steps, words) in [
        (ONE, "n2", vec![TaskName::Create], ["node n2", "name one that is"]),
        (ONE, "n1/b", vec![TaskName::Start], ["n1/b", "add it to the node"]),
        (ONE, "n1", vec![TaskName::Start], ["unit n1: step START", "not of machines"]),
        (ONE, "n1/a", vec![TaskName::Create], ["n1/a: step CREATE", "not of services"]),
        (ONE, "n1/a", vec![TaskName::Install], ["INSTALL is not defined by the service", "drop the step"]),
        (ONE, "n1/a", vec![TaskName::Stop, TaskName::Stop], ["STOP is asked for twice", "drop the step"]),
        ("n1 = a", "n1/a", vec![TaskName::Start], ["service \"a\" on node n1", "store a service"]),
    ] {
        let message = refusal(sketch, of, &steps);
        for word in words {
            assert!(message.contains(word), "{message:?} does not mention {word:?}");
        }
    }
}

#[test]
fn a_circle_of_dependencies_is_named_from_its_first_service_and_phase() {
    let sketch = Sketch::new(
        "x: install | install c
         c: install | install b
         b: install | install-uses n
         a: install | install c | provides n
         n1 = a b c x",
    );
    let fault = sketch.coopr(ClusterAction::ClusterCreate, "").unwrap_err();
    let services = ["a", "c", "b", "a"].map(str::to_owned).to_vec();
    assert!(matches!(&fault, PlanError::Cycle { services: named, .. } if *named == services), "{fault}");
    assert!(fault.to_string().contains("dependencies.install: the services a → c → b → a"), "{fault}");
}

#[test]
fn a_circle_does_not_hinder_what_it_does_not_concern() {
    let sketch = Sketch::new("a: install start | runtime b\nb: start | runtime a\nn1 = a b");
    assert_eq!(sketch.coopr(ClusterAction::ClusterDelete, "").unwrap().len(), 1);
    assert_eq!(sketch.coopr(ClusterAction::ClusterConfigure, "").unwrap().len(), 1);
}

#[test]
fn steps_out_of_order_that_wait_for_each_other_are_named() {
    let sketch = Sketch::new("a: start stop\nb: start stop | runtime a\nn1 = a\nn2 = b");
    let steps = Steps::from([
        (unit("n1/a"), vec![TaskName::Stop, TaskName::Start]),
        (unit("n2/b"), vec![TaskName::Start, TaskName::Stop]),
    ]);
    let fault = sketch.graph(&steps).unwrap_err();
    assert!(
        fault.to_string().contains("n1:STOP:a → n1:START:a → n2:START:b → n2:STOP:b → n1:STOP:a"),
        "{fault}"
    );
}

#[test]
fn a_scope_that_names_what_is_not_there_is_refused() {
    let sketch = Sketch::new(ONE);
    let refused = |scope: &Scope| {
        coopr::plan(ClusterAction::StopServices, scope, &sketch.nodes, &sketch.services).unwrap_err()
    };
    let services = Scope { services: Some(BTreeSet::from(["z".to_owned()])), nodes: None };
    assert_eq!(refused(&services), PlanError::NotOnCluster { service: "z".to_owned() });
    let nodes = Scope { services: None, nodes: Some(BTreeSet::from([node_id("n9")])) };
    assert_eq!(refused(&nodes), PlanError::UnknownNode { node: node_id("n9") });
}

#[test]
fn a_service_nobody_knows_hinders_only_what_concerns_it() {
    let sketch = Sketch::new("n1 = a");
    let undefined = PlanError::UndefinedService { service: "a".to_owned(), node: node_id("n1") };
    assert_eq!(converge(&sketch.units(), &sketch.services), Err(undefined));
    assert_eq!(converge(&sketch.running(), &sketch.services), Ok(Steps::new()));
    assert_eq!(sketch.coopr(ClusterAction::ClusterDelete, "").unwrap().len(), 1);
}
