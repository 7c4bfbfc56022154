//! What must hold for every cluster, drawn at random.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::num::NonZeroUsize;
use std::time::Duration;

use cooperage_domain::entity::{ActionSpec, PhaseDependencies, Service, ServiceAction};
use cooperage_domain::plan::Slot;
use cooperage_domain::plan::coopr::{self, Scope};
use cooperage_domain::plan::predict::stage_makespan;
use cooperage_domain::plan::unit::record;
use cooperage_domain::plan::{
    ClusterAction, Graph, Observed, PlanNode, PlannedTask, Unit, Units, Wanted, converge, predict, stages,
};
use cooperage_domain::task::TaskName;
use proptest::collection::{btree_set, vec};
use proptest::prelude::*;
use proptest::sample::{Index, select, subsequence};

use crate::sketch::{Sketch, ancestors, node_id};

const ACTIONS: [ServiceAction; 6] = [
    ServiceAction::Install,
    ServiceAction::Configure,
    ServiceAction::Initialize,
    ServiceAction::Start,
    ServiceAction::Stop,
    ServiceAction::Remove,
];

const GOALS: [Wanted; 5] =
    [Wanted::Absent, Wanted::Installed, Wanted::Configured, Wanted::Stopped, Wanted::Running];

const PHASES: [Observed; 6] = [
    Observed::Absent,
    Observed::Installed,
    Observed::Configured,
    Observed::Initialized,
    Observed::Stopped,
    Observed::Started,
];

const MACHINE_PHASES: [Observed; 4] =
    [Observed::Absent, Observed::Created, Observed::Confirmed, Observed::Bootstrapped];

const AGAIN: [TaskName; 4] = [TaskName::Install, TaskName::Configure, TaskName::Stop, TaskName::Start];

/// What a service is made of: actions, the four sets of dependencies, and whom it provides for.
type Parts = (Vec<ServiceAction>, [Vec<(Index, bool)>; 4], Vec<Index>);

fn parts() -> impl Strategy<Value = Parts> {
    let names = || vec((any::<Index>(), any::<bool>()), 0..3);
    (subsequence(&ACTIONS, 0..=6), [names(), names(), names(), names()], vec(any::<Index>(), 0..2))
}

/// Service number `at`. It depends on services of lower number, by name or by a name `pN` that only services up to
/// number N provide: never in a circle.
fn service(at: usize, (actions, needs, provides): Parts) -> Service {
    let names = |chosen: &[(Index, bool)]| -> BTreeSet<String> {
        let below = chosen.iter().filter(|_| at > 0);
        below
            .map(|(index, by_name)| format!("{}{}", if *by_name { "s" } else { "p" }, index.index(at)))
            .collect()
    };
    let mut service = Service::default();
    service.base.name = format!("s{at}");
    let [requires, uses, runtime_requires, runtime_uses] = &needs;
    service.dependencies.install = PhaseDependencies { requires: names(requires).into(), uses: names(uses) };
    service.dependencies.runtime =
        PhaseDependencies { requires: names(runtime_requires).into(), uses: names(runtime_uses) };
    service.dependencies.provides =
        provides.iter().map(|index| format!("p{}", at + index.index(4))).collect();
    let spec = ActionSpec { automator: "shell".to_owned(), ..ActionSpec::default() };
    service.provisioner.actions = actions.into_iter().map(|action| (action, spec.clone())).collect();
    service
}

fn sketches() -> impl Strategy<Value = Sketch> {
    let services = vec(parts(), 1..8).prop_map(|all| -> Vec<Service> {
        all.into_iter().enumerate().map(|(at, parts)| service(at, parts)).collect()
    });
    (services, vec(vec(any::<Index>(), 1..5), 1..5)).prop_map(|(services, nodes)| {
        let name = |index: &Index| services[index.index(services.len())].name().to_owned();
        let nodes = nodes.iter().enumerate().map(|(at, carried)| PlanNode {
            id: node_id(&format!("n{at}")),
            services: carried.iter().map(name).collect(),
        });
        Sketch {
            nodes: nodes.collect(),
            services: services.iter().map(|service| (service.name().to_owned(), service.clone())).collect(),
        }
    })
}

/// A cluster with an action of Coopr, limited at random.
fn actions() -> impl Strategy<Value = (Sketch, ClusterAction, Scope)> {
    let limits = (any::<bool>(), any::<bool>(), btree_set(0..8_usize, 0..8), btree_set(0..5_usize, 0..5));
    (sketches(), select(ClusterAction::COOPR), limits).prop_map(|(sketch, action, limits)| {
        let (by_service, by_node, services, nodes) = limits;
        let carried: BTreeSet<&String> = sketch.nodes.iter().flat_map(|node| &node.services).collect();
        let named =
            services.iter().map(|at| format!("s{at}")).filter(|name| carried.contains(name)).collect();
        let nodes = nodes.iter().filter_map(|&at| Some(sketch.nodes.get(at)?.id.clone())).collect();
        let scope = Scope { services: by_service.then_some(named), nodes: by_node.then_some(nodes) };
        (sketch, action, scope)
    })
}

/// A cluster with units in any state.
fn states() -> impl Strategy<Value = (Sketch, Units)> {
    let of_service = (select(&GOALS), select(&PHASES), subsequence(&AGAIN, 0..=4));
    let of_machine = (
        select(&[Wanted::Absent, Wanted::Present, Wanted::Present]),
        select(&MACHINE_PHASES),
        subsequence(&[TaskName::Bootstrap, TaskName::Delete], 0..=2),
    );
    (sketches(), vec((of_service, of_machine), 40)).prop_map(|(sketch, states)| {
        let mut units = sketch.units();
        for ((id, unit), (of_service, of_machine)) in units.iter_mut().zip(states) {
            let (wanted, observed, renew) = if id.is_machine() { of_machine } else { of_service };
            *unit = Unit { observed, renew: renew.into_iter().collect(), ..Unit::new(wanted) };
        }
        (sketch, units)
    })
}

/// Coopr's rules, told once more and without cleverness: whether `task` must wait for `other`.
fn must_wait(sketch: &Sketch, task: &PlannedTask, other: &PlannedTask) -> bool {
    let (Some(one), Some(two)) = (&task.service, &other.service) else {
        return task.node == other.node && task.service.is_some() && other.name != TaskName::Delete;
    };
    match (task.name, other.name) {
        (TaskName::Install, TaskName::Install) => depends(sketch, one, two, false),
        (TaskName::Initialize | TaskName::Start, TaskName::Start) => depends(sketch, one, two, true),
        (TaskName::Stop | TaskName::Remove, TaskName::Stop) => depends(sketch, two, one, true),
        (TaskName::Remove, TaskName::Remove) => depends(sketch, two, one, false),
        _ => false,
    }
}

/// Whether one service depends on another, directly or through others.
fn depends(sketch: &Sketch, one: &str, other: &str, runtime: bool) -> bool {
    let dependencies = &sketch.services[one].dependencies;
    let carried = |service: &&Service| sketch.nodes.iter().any(|node| node.services.contains(service.name()));
    let phase = if runtime { &dependencies.runtime } else { &dependencies.install };
    phase.all().any(|name| {
        let mut answering =
            sketch.services.values().filter(carried).filter(|service| service.satisfies(name));
        answering.any(|found| found.name() == other || depends(sketch, found.name(), other, runtime))
    })
}

fn check_graph(sketch: &Sketch, graph: &Graph) -> Result<(), TestCaseError> {
    let tasks = graph.tasks();
    let all = ancestors(graph);
    for task in tasks {
        for other in tasks {
            if must_wait(sketch, task, other) {
                prop_assert!(all[task.index].contains(&other.index), "{task} does not wait for {other}");
            }
        }
        for &awaited in &task.after {
            prop_assert!(awaited < task.index);
            let other = &tasks[awaited];
            let near = task.node == other.node && (task.service == other.service || task.service.is_none());
            prop_assert!(near || must_wait(sketch, task, other), "{task} waits for {other} without a reason");
            let round = task.after.iter().any(|&third| all[third].contains(&awaited));
            prop_assert!(!round, "{task} waits for {other} anyway");
        }
    }
    let distinct: HashSet<String> = tasks.iter().map(ToString::to_string).collect();
    prop_assert_eq!(distinct.len(), tasks.len());
    Ok(())
}

fn check_stages(graph: &Graph) -> Result<(), TestCaseError> {
    let stages = stages(graph);
    let mut stage_of = BTreeMap::new();
    for (number, stage) in stages.iter().enumerate() {
        let nodes: HashSet<_> = stage.iter().map(|&task| &graph.tasks()[task].node).collect();
        prop_assert_eq!(nodes.len(), stage.len(), "a node twice in a stage");
        prop_assert!(!stage.is_empty());
        stage_of.extend(stage.iter().map(|&task| (task, number)));
    }
    prop_assert_eq!(stage_of.len(), graph.len());
    for task in graph.tasks() {
        prop_assert!(task.after.iter().all(|awaited| stage_of[awaited] < stage_of[&task.index]));
    }
    Ok(())
}

fn check_slots(graph: &Graph, slots: &[Slot], workers: usize) -> Result<(), TestCaseError> {
    for task in graph.tasks() {
        let slot = slots[task.index];
        prop_assert!(
            task.after.iter().all(|&awaited| slots[awaited].end <= slot.start),
            "{task} is too early"
        );
        let others = || graph.tasks().iter().filter(|other| other.index != task.index);
        // A task without length disturbs nobody.
        let overlap = |other: &&PlannedTask| {
            let (one, two) = (slot, slots[other.index]);
            one.start < two.end && two.start < one.end && one.start < one.end && two.start < two.end
        };
        prop_assert!(!others().filter(overlap).any(|other| other.node == task.node), "two tasks on a node");
        let started_before = |other: &&PlannedTask| slots[other.index].start <= slot.start;
        prop_assert!(others().filter(overlap).filter(started_before).count() < workers, "too few workers");
    }
    Ok(())
}

fn run(units: &mut Units, tasks: &[PlannedTask]) {
    for task in tasks {
        record(units, &task.unit(), task.name);
    }
}

proptest! {
    #[test]
    fn plans_of_actions_keep_every_rule_and_hold_no_edge_too_many((sketch, action, scope) in actions()) {
        let graph = coopr::plan(action, &scope, &sketch.nodes, &sketch.services).unwrap();
        check_graph(&sketch, &graph)?;
        check_stages(&graph)?;
    }

    #[test]
    fn so_do_plans_of_differences((sketch, units) in states()) {
        let graph = sketch.graph(&converge(&units, &sketch.services).unwrap()).unwrap();
        check_graph(&sketch, &graph)?;
        check_stages(&graph)?;
    }

    #[test]
    fn creating_is_converging_from_nothing(sketch in sketches()) {
        let units = sketch.units();
        let graph = sketch.graph(&converge(&units, &sketch.services).unwrap()).unwrap();
        prop_assert_eq!(graph, sketch.coopr(ClusterAction::ClusterCreate, "").unwrap());
    }

    #[test]
    fn deleting_is_converging_to_nothing(sketch in sketches()) {
        let mut units = sketch.running();
        units.values_mut().for_each(|unit| unit.wanted = Wanted::Absent);
        let graph = sketch.graph(&converge(&units, &sketch.services).unwrap()).unwrap();
        prop_assert_eq!(graph, sketch.coopr(ClusterAction::ClusterDelete, "").unwrap());
    }

    #[test]
    fn wherever_a_run_breaks_off_exactly_the_rest_remains((sketch, mut units) in states(), at in any::<Index>()) {
        let graph = sketch.graph(&converge(&units, &sketch.services).unwrap()).unwrap();
        let (done, rest) = graph.tasks().split_at(at.index(graph.len() + 1));
        run(&mut units, done);
        let again = sketch.graph(&converge(&units, &sketch.services).unwrap()).unwrap();
        let names = |tasks: &[PlannedTask]| tasks.iter().map(ToString::to_string).collect::<BTreeSet<_>>();
        prop_assert_eq!(names(again.tasks()), names(rest));
        run(&mut units, rest);
        prop_assert!(converge(&units, &sketch.services).unwrap().is_empty());
    }

    #[test]
    fn predictions_are_possible_and_not_better_than_possible(
        (sketch, action, scope) in actions(),
        seconds in vec(0..20_u64, 80),
        workers in 1..6_usize,
    ) {
        let graph = coopr::plan(action, &scope, &sketch.nodes, &sketch.services).unwrap();
        let of = |task: &PlannedTask| Duration::from_secs(seconds[task.index % seconds.len()]);
        let prediction = predict(&graph, of, NonZeroUsize::new(workers).unwrap());
        check_slots(&graph, &prediction.slots, workers)?;
        let work: Duration = graph.tasks().iter().map(of).sum();
        prop_assert!(prediction.lower_bound <= prediction.makespan && prediction.makespan <= work);
        let path: Duration = prediction.critical_path.iter().map(|&task| of(&graph.tasks()[task])).sum();
        prop_assert!(path <= prediction.lower_bound);
        prop_assert!(stage_makespan(&graph, of, NonZeroUsize::new(workers).unwrap()) >= prediction.lower_bound);
    }
}
