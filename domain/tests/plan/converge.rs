//! The steps that close a difference, one kind of difference at a time.

use std::collections::BTreeSet;

use cooperage_domain::plan::{Observed, Steps, Unit, Wanted, converge};
use cooperage_domain::task::TaskName::{
    self, Bootstrap, Configure, Confirm, Create, Delete, Initialize, Install, Remove, Start, Stop,
};

use crate::sketch::{Sketch, unit};

fn sketch() -> Sketch {
    Sketch::new("a: install configure initialize start stop remove\nn1 = a")
}

fn steps(wanted: Wanted, observed: Observed, renew: &[TaskName], service: bool) -> Vec<TaskName> {
    let sketch = sketch();
    let id = unit(if service { "n1/a" } else { "n1" });
    let mut units = sketch.running();
    units.insert(id.clone(), Unit { observed, renew: renew.iter().copied().collect(), ..Unit::new(wanted) });
    converge(&units, &sketch.services).unwrap().remove(&id).unwrap_or_default()
}

#[test]
fn a_service_goes_from_where_it_is_to_where_it_should_be() {
    for (wanted, observed, expected) in [
        (Wanted::Running, Observed::Absent, vec![Install, Configure, Initialize, Start]),
        (Wanted::Running, Observed::Installed, vec![Configure, Initialize, Start]),
        (Wanted::Running, Observed::Configured, vec![Initialize, Start]),
        (Wanted::Running, Observed::Initialized, vec![Start]),
        (Wanted::Running, Observed::Stopped, vec![Start]),
        (Wanted::Running, Observed::Started, vec![]),
        (Wanted::Stopped, Observed::Started, vec![Stop]),
        (Wanted::Stopped, Observed::Stopped, vec![]),
        (Wanted::Stopped, Observed::Installed, vec![Configure, Initialize]),
        (Wanted::Configured, Observed::Absent, vec![Install, Configure]),
        (Wanted::Installed, Observed::Absent, vec![Install]),
        (Wanted::Installed, Observed::Started, vec![Stop]),
        (Wanted::Absent, Observed::Started, vec![Stop, Remove]),
        (Wanted::Absent, Observed::Installed, vec![Remove]),
        (Wanted::Absent, Observed::Absent, vec![]),
    ] {
        assert_eq!(steps(wanted, observed, &[], true), expected, "{observed:?} to {wanted:?}");
    }
}

#[test]
fn a_machine_goes_from_where_it_is_to_where_it_should_be() {
    for (wanted, observed, expected) in [
        (Wanted::Present, Observed::Absent, vec![Create, Confirm, Bootstrap]),
        (Wanted::Present, Observed::Created, vec![Confirm, Bootstrap]),
        (Wanted::Present, Observed::Confirmed, vec![Bootstrap]),
        (Wanted::Present, Observed::Bootstrapped, vec![]),
        (Wanted::Absent, Observed::Bootstrapped, vec![Delete]),
        (Wanted::Absent, Observed::Created, vec![Delete]),
        (Wanted::Absent, Observed::Absent, vec![]),
    ] {
        assert_eq!(steps(wanted, observed, &[], false), expected, "{observed:?} to {wanted:?}");
    }
}

#[test]
fn what_is_done_is_done_again_on_request() {
    for (wanted, observed, renew, expected) in [
        (Wanted::Running, Observed::Started, vec![Configure], vec![Configure]),
        (Wanted::Running, Observed::Started, vec![Stop, Start], vec![Stop, Start]),
        (Wanted::Running, Observed::Started, vec![Stop], vec![Stop, Start]),
        (
            Wanted::Running,
            Observed::Started,
            vec![Stop, Install, Configure],
            vec![Stop, Install, Configure, Start],
        ),
        (Wanted::Running, Observed::Stopped, vec![Stop, Configure, Start], vec![Configure, Start]),
        (Wanted::Stopped, Observed::Stopped, vec![Stop, Configure, Start], vec![Configure]),
        (Wanted::Absent, Observed::Stopped, vec![Configure, Start], vec![Remove]),
    ] {
        assert_eq!(steps(wanted, observed, &renew, true), expected, "{observed:?} to {wanted:?}, {renew:?}");
    }
    assert_eq!(steps(Wanted::Present, Observed::Bootstrapped, &[Bootstrap], false), [Bootstrap]);
    assert_eq!(steps(Wanted::Absent, Observed::Absent, &[Delete], false), [Delete], "a half-made machine");
}

#[test]
fn a_machine_of_no_use_is_made_anew_with_all_its_services() {
    let sketch = sketch();
    let mut units = sketch.running();
    units.get_mut(&unit("n1")).unwrap().renew = BTreeSet::from([Delete]);
    let expected = Steps::from([
        (unit("n1"), vec![Delete, Create, Confirm, Bootstrap]),
        (unit("n1/a"), vec![Install, Configure, Initialize, Start]),
    ]);
    assert_eq!(converge(&units, &sketch.services), Ok(expected));
}

#[test]
fn a_machine_that_goes_takes_its_services_along() {
    let sketch = sketch();
    let mut units = sketch.running();
    for unit in units.values_mut() {
        unit.wanted = Wanted::Absent;
    }
    assert_eq!(converge(&units, &sketch.services), Ok(Steps::from([(unit("n1"), vec![Delete])])));
}

#[test]
fn a_restart_of_a_service_that_cannot_be_stopped_is_a_start_and_ends() {
    let sketch = Sketch::new("a: start\nn1 = a");
    let mut units = sketch.running();
    let id = unit("n1/a");
    units.get_mut(&id).unwrap().renew = BTreeSet::from([Stop, Start]);
    assert_eq!(converge(&units, &sketch.services), Ok(Steps::from([(id.clone(), vec![Start])])));
    let after = units.remove(&id).unwrap().after(Start);
    units.insert(id, after);
    assert_eq!(converge(&units, &sketch.services), Ok(Steps::new()));
}
