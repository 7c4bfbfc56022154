//! Rules of clusters that are built upon others.

use std::collections::{BTreeMap, BTreeSet};

use cooperage_domain::cluster::{
    CareChange, Cluster, ClusterStatus, Command, CreateOrder, Effect, Inheritance, Origins, Refusal, create,
    due, order,
};
use cooperage_domain::entity::{Requirement, Scope, Service};
use cooperage_domain::id::ClusterId;
use cooperage_domain::plan::ClusterAction;
use cooperage_domain::task::{TaskName, TaskReport};
use serde_json::{Value, json};

use crate::family::{BASE, base, shop};
use crate::sketch::{Sketch, node_id};
use crate::world::{MORNING, World};

fn world(sketch: &Sketch, id: u64, origins: Origins) -> World {
    let order = CreateOrder { id: ClusterId(id), name: format!("c{id}"), origins, ..sketch.order() };
    World::of(create(order, Ok(sketch.nodes.clone()), MORNING).unwrap())
}

/// Runs what is due; machines are confirmed with addresses that begin so, and `started` is what a START reports.
fn run(world: &mut World, network: &str, started: &Value) {
    while let Some(effect) = due(&world.cluster)
        .into_iter()
        .find(|effect| matches!(effect, Effect::Start { .. } | Effect::Follow { .. }))
    {
        let (task, attempt) = match effect {
            Effect::Start { task, .. } => {
                world.tell(Command::StartAttempt { task, worker: "w1".into() }).unwrap();
                continue;
            }
            Effect::Follow { task, attempt, .. } => (task, attempt),
            other => unreachable!("{other:?}"),
        };
        let found = &world.job().tasks[&task];
        let number = world.cluster.nodes[&found.node].properties.nodenum;
        let mut report = TaskReport::success();
        match found.name {
            TaskName::Confirm => {
                let address = format!("{network}.{}", number - 999);
                report.ipaddresses = Some(BTreeMap::from([("bind_v4".to_owned(), address)]));
            }
            TaskName::Start => report.result = started.as_object().cloned().unwrap_or_default(),
            _ => {}
        }
        world.tell(Command::FinishAttempt { task, attempt, report }).unwrap();
    }
}

/// A database that reports its port, and a name server.
fn foundation() -> World {
    let mut sketch = Sketch::new("db: install start stop remove\nns: start stop remove\nb1 = db\nb2 = ns");
    let db = sketch.services.get_mut("db").unwrap();
    db.dependencies.provides.insert("sql".into());
    db.outputs =
        serde_json::from_value(json!([{"name": "port"}, {"name": "key", "sensitive": true}])).unwrap();
    let mut world = world(&sketch, BASE.0, Origins::default());
    run(&mut world, "10.0.0", &json!({"port": 5432, "key": {"$sealed": "abc"}}));
    assert_eq!(world.cluster.status, ClusterStatus::Active);
    world
}

fn tell_of(world: &mut World, other: &Cluster) {
    let Inheritance { from, lineage } = Inheritance::of(other);
    world.tell(Command::Inherit { from, lineage }).unwrap();
}

fn adopt(world: &mut World, child: u64, needs: &[&str]) -> Result<(), Refusal> {
    let needs = needs.iter().map(|&name| name.to_owned()).collect();
    world.tell(Command::Adopt { child: ClusterId(child), name: format!("c{child}"), needs }).map(drop)
}

/// The services that the latest job brings up again; none of them is left out, and no machine is touched.
fn planned(world: &World) -> Vec<String> {
    let planned = world.planned();
    let mut services: Vec<String> = planned
        .iter()
        .map(|label| label.split(':').nth(2).unwrap_or_else(|| panic!("{label} in {planned:?}")).to_owned())
        .collect();
    services.sort();
    services.dedup();
    assert_eq!(planned.len(), services.len() * 3, "written, stopped and started: {planned:?}");
    services
}

/// What a service is given with its configuration.
fn given(world: &mut World, label: &str) -> Value {
    let (task, attempt) = world.start(label);
    let order = order(&world.cluster, task, attempt).unwrap();
    world.finish(label, 0);
    json!(order.config.service.unwrap().inputs)
}

#[test]
fn a_cluster_publishes_what_it_carries_with_addresses_and_outputs() {
    let published = Inheritance::of(&foundation().cluster).lineage;
    let [published] = published.as_slice() else { panic!("{published:?}") };
    assert_eq!((published.cluster, published.services.len()), (BASE, 2));
    assert_eq!(published.services["db"].outputs["port"], *json!({"b1.local": 5432}).as_object().unwrap());
    assert!(!published.services["db"].outputs.contains_key("key"), "it is a secret");
    assert!(published.satisfies("sql") && published.satisfies("ns") && !published.satisfies("web"));
    assert_eq!(published.nodes[&node_id("b1")].ipaddresses["bind_v4"], "10.0.0.1");
    assert_eq!(published.nodes[&node_id("b1")].sshuser, "", "how to log in is nobody's business");
}

#[test]
fn what_a_cluster_has_not_itself_is_answered_by_the_nearest_ancestor() {
    let mut base = foundation();
    let mut middle = world(&Sketch::new("ns: start\nn1 = ns"), 8, Origins::of(Some(&base.cluster), None));
    run(&mut middle, "10.0.8", &json!({}));
    let mut sketch = shop();
    sketch.config = json!({"app": {"db": "%ip.service.db% %ip.service.ns% %num.service.db% %host.service.log%"},
        "log": {"title": "%join(host.service.ns, '+')%"}});
    let inputs = json!([{"name": "port", "at": "outputs.db.port"}, {"name": "all", "at": "members.db"},
        {"name": "own", "at": "members.log"}, {"name": "none", "at": "outputs.web.port"}]);
    sketch.services.get_mut("pool").unwrap().inputs = serde_json::from_value(inputs).unwrap();
    let mut shop = world(&sketch, 9, Origins::of(Some(&middle.cluster), Some(&base.cluster)));
    assert!(shop.cluster.kin.origins.foundation.is_none(), "it is the parent's ancestor anyway");
    for step in ["n1:CREATE", "n2:CREATE", "n1:CONFIRM", "n2:CONFIRM", "n1:BOOTSTRAP", "n2:BOOTSTRAP"] {
        shop.run(step, 0);
    }
    shop.run("n1:INSTALL:app", 0);
    assert_eq!(given(&mut shop, "n1:CONFIGURE:app"), json!({"db": "10.0.0.1 10.0.8.1 1 n1.local"}));
    assert_eq!(given(&mut shop, "n1:CONFIGURE:log"), json!({"title": "n1.local"}));
    let expected =
        json!({"port": {"b1.local": 5432}, "all": ["b1.local"], "own": ["n1.local"], "none": null});
    assert_eq!(given(&mut shop, "n2:CONFIGURE:pool"), expected);
    assert_eq!(shop.cluster.needs_of(ClusterId(8)), BTreeSet::from(["sql".to_owned()]));
    let taken = shop.cluster.taken();
    let of = |service: &str| taken.iter().find(|it| it.service == service).unwrap();
    assert_eq!((of("db").cluster_id.as_str(), of("ns").cluster.as_str()), ("00000007", "c8"), "{taken:?}");
    assert_eq!(of("sql").by, BTreeSet::from(["app".to_owned()]));
    // The middle passes on what its child needs of the base, and so the base keeps it.
    adopt(&mut middle, 9, &["sql"]).unwrap();
    assert_eq!(middle.cluster.needs_of(BASE), BTreeSet::from(["sql".to_owned()]));
    adopt(&mut base, 8, &["sql"]).unwrap();
    let services = BTreeSet::from(["db".to_owned()]);
    let refusal = base.tell(Command::RemoveServices { services, by: "ann".into() }).unwrap_err();
    assert!(refusal.to_string().contains("c8 (00000008)"), "{refusal}");
}

#[test]
fn what_changes_is_brought_up_where_it_is_taken_and_nowhere_else() {
    for (lineage, expected) in [
        // Whoever knows a host by name knows its address.
        (base("10.0.0.2", 5432), vec!["app", "pool"]),
        (base("10.0.0.1", 5433), vec!["pool"]),
    ] {
        let mut world = World::created(&shop());
        world.tell(Command::Inherit { from: BASE, lineage: lineage.clone() }).unwrap();
        assert_eq!(world.job().action, ClusterAction::ClusterInherit);
        assert_eq!(planned(&world), expected);
        world.run_all();
        assert_eq!(world.cluster.status, ClusterStatus::Active);
        assert_eq!(world.tell(Command::Inherit { from: BASE, lineage }).unwrap(), [], "it is known already");
    }
}

#[test]
fn the_address_behind_a_host_name_counts() {
    let mut sketch = shop();
    sketch.config["app"]["db"] = "%host.service.db%".into();
    let mut world = World::created(&sketch);
    world.tell(Command::Inherit { from: BASE, lineage: base("10.0.0.2", 5432) }).unwrap();
    assert_eq!(planned(&world), ["app", "pool"]);
}

#[test]
fn what_nobody_takes_is_noted_and_nothing_runs() {
    let mut world = World::created(&shop());
    let mut lineage = base("10.0.0.1", 5432);
    lineage[0].name = "renamed".into();
    world.tell(Command::Inherit { from: BASE, lineage: lineage.clone() }).unwrap();
    assert_eq!((world.cluster.status, world.job().id.number), (ClusterStatus::Active, 2));
    assert_eq!(world.cluster.kin.origins.parent.as_ref().unwrap().lineage, lineage);
}

#[test]
fn while_a_job_runs_it_waits_for_its_end() {
    for paused in [false, true] {
        let config = shop().config.as_object().cloned().unwrap();
        let mut world = World::created(&shop());
        world.tell(Command::Configure { config, restart: false, by: "ann".into() }).unwrap();
        world.run("n1:BOOTSTRAP", 0);
        if paused {
            world.pause().unwrap();
        }
        world.tell(Command::Inherit { from: BASE, lineage: base("10.0.0.1", 5433) }).unwrap();
        assert!(world.cluster.kin.news);
        if paused {
            assert_eq!(world.ready(), [""; 0]);
            world.resume().unwrap();
        }
        // What was written before is written again; what comes later gets the new value at once.
        while world.cluster.status == ClusterStatus::Pending {
            let next = world.ready().pop().unwrap();
            world.run(&next, 0);
        }
        assert_eq!(
            world.job().action,
            ClusterAction::ClusterConfigure,
            "the writing of the configuration had it"
        );
        assert!(!world.cluster.kin.news);
    }
}

#[test]
fn what_was_brought_up_before_the_news_is_brought_up_again_after_the_job() {
    let mut world = World::new(&shop());
    while world.task("n1:START:app").attempts.is_empty() {
        let next = world.ready().pop().unwrap();
        world.run(&next, 0);
    }
    world.tell(Command::Inherit { from: BASE, lineage: base("10.0.0.2", 5432) }).unwrap();
    world.run_all();
    assert_eq!(world.cluster.status, ClusterStatus::Active);
    assert_eq!(world.job().action, ClusterAction::ClusterInherit);
    assert_eq!(planned(&world), ["app", "pool"]);
}

#[test]
fn what_stopped_half_way_takes_it_up_with_its_next_job() {
    let mut world = World::created(&shop());
    world.configure(true).unwrap();
    world.run_failing(TaskName::Stop, 1);
    assert_eq!(world.cluster.status, ClusterStatus::Inconsistent);
    let jobs = world.cluster.jobs.len();
    world.tell(Command::Inherit { from: BASE, lineage: base("10.0.0.1", 5433) }).unwrap();
    assert_eq!(world.cluster.jobs.len(), jobs, "nothing begins by itself");
    world.retry().unwrap();
    world.run_all();
    assert_eq!((world.cluster.status, world.cluster.kin.news), (ClusterStatus::Active, false));
    let label = "n2:CONFIGURE:pool";
    let ports: Vec<_> = world
        .cluster
        .jobs
        .values()
        .flat_map(|job| job.tasks.values())
        .filter(|task| World::label(task) == label)
        .filter_map(|task| task.attempts.last().map(|attempt| attempt.inputs.clone()))
        .collect();
    assert_ne!(ports.first(), ports.last(), "{ports:?}");
}

#[test]
fn in_maintenance_it_waits_for_the_end_of_that() {
    let mut world = World::created(&shop());
    let maintain = |reason: Option<&str>| Command::Care {
        changes: vec![CareChange::Maintenance { node: None, reason: reason.map(str::to_owned) }],
        by: "ann".into(),
    };
    world.tell(maintain(Some("another disk"))).unwrap();
    world.tell(Command::Inherit { from: BASE, lineage: base("10.0.0.2", 5432) }).unwrap();
    assert_eq!((world.cluster.status, world.cluster.kin.news), (ClusterStatus::Active, true));
    world.tell(maintain(None)).unwrap();
    assert_eq!(world.job().action, ClusterAction::ClusterInherit);
    world.run_all();
    assert_eq!((world.cluster.status, world.cluster.kin.news), (ClusterStatus::Active, false));
}

#[test]
fn a_roll_back_does_not_stop_at_what_ancestors_did() {
    let mut world = World::created(&shop());
    let mut config = world.cluster.config.clone();
    config["log"]["title"] = "two".into();
    world
        .tell(Command::Reconfigure { config, nodes: BTreeMap::new(), rollout: None, by: "ann".into() })
        .unwrap();
    world.run_all();
    world.tell(Command::Inherit { from: BASE, lineage: base("10.0.0.2", 5432) }).unwrap();
    world.run_all();
    let to = world.cluster.previous.clone().unwrap();
    assert_eq!(to.config["log"]["title"], "one");
    world.tell(Command::RollBack { to, rollout: None, by: "ann".into() }).unwrap();
    assert_eq!(planned(&world), ["log"]);
}

#[test]
fn nobody_but_those_it_was_built_upon_tells_a_cluster_what_they_publish() {
    let mut world = World::created(&shop());
    let told = world.tell(Command::Inherit { from: ClusterId(99), lineage: base("10.0.0.2", 1) });
    assert!(matches!(told, Err(Refusal::Invalid(_))), "{told:?}");
}

#[test]
fn grandchildren_learn_through_their_parents() {
    let mut base = foundation();
    let mut middle = world(&Sketch::new("x: start\nn1 = x"), 8, Origins::of(Some(&base.cluster), None));
    run(&mut middle, "10.0.8", &json!({}));
    let mut shop = world(&shop(), 9, Origins::of(Some(&middle.cluster), None));
    run(&mut shop, "10.0.9", &json!({}));
    let before = middle.cluster.kin.hands_down.clone();
    base.tell(Command::Replace {
        nodes: BTreeSet::from([node_id("b1")]),
        lost: false,
        rollout: None,
        by: "ann".into(),
    })
    .unwrap();
    run(&mut base, "10.0.77", &json!({"port": 5432}));
    tell_of(&mut middle, &base.cluster);
    assert_eq!(middle.job().action, ClusterAction::ClusterCreate, "nothing of it takes that");
    assert_ne!(middle.cluster.kin.hands_down, before, "but it hands it down");
    tell_of(&mut shop, &middle.cluster);
    assert_eq!(planned(&shop), ["app", "pool"]);
}

#[test]
fn a_cluster_with_children_stays_until_they_are_gone() {
    let mut base = foundation();
    adopt(&mut base, 9, &["sql"]).unwrap();
    for command in [
        Command::Delete { now: false, by: "ann".into() },
        Command::Delete { now: true, by: "janitor".into() },
    ] {
        let refusal = base.tell(command).unwrap_err();
        assert!(matches!(refusal, Refusal::HasChildren { .. }), "{refusal:?}");
        assert!(refusal.to_string().contains("c9 (00000009)"), "{refusal}");
    }
    base.prolong(base.now + 1_000).unwrap();
    let expires = |base: &World| due(&base.cluster).iter().any(|it| matches!(it, Effect::Expire { .. }));
    assert!(!expires(&base), "nor does it go with its lease");
    base.tell(Command::Release { child: ClusterId(9) }).unwrap();
    assert!(expires(&base));
    assert_eq!(base.tell(Command::Release { child: ClusterId(9) }).unwrap(), []);
    base.delete().unwrap();
    let refusal = adopt(&mut base, 9, &[]).unwrap_err();
    assert!(refusal.to_string().contains("being deleted"), "{refusal}");
    base.run_all();
    assert!(adopt(&mut base, 9, &[]).unwrap_err().to_string().contains("terminated"));
}

#[test]
fn a_create_that_is_built_upon_is_not_undone() {
    let mut base = world(&shop(), 8, Origins::default());
    adopt(&mut base, 9, &["log"]).unwrap();
    for undo in
        [Command::Cancel { undo: true, by: "ann".into() }, Command::Delete { now: true, by: "ann".into() }]
    {
        assert!(matches!(base.tell(undo), Err(Refusal::HasChildren { .. })));
    }
    base.run_all();
    assert_eq!(base.cluster.status, ClusterStatus::Active);
}

#[test]
fn what_children_require_is_neither_removed_nor_rolled_back() {
    let mut base = foundation();
    adopt(&mut base, 9, &["sql"]).unwrap();
    adopt(&mut base, 10, &["ns"]).unwrap();
    let remove = |service: &str| Command::RemoveServices {
        services: BTreeSet::from([service.to_owned()]),
        by: "ann".into(),
    };
    for (command, child, other) in [(remove("db"), "c9", "c10"), (remove("ns"), "c10", "c9")] {
        let refusal = base.tell(command).unwrap_err().to_string();
        let names = |child: &str| refusal.contains(&format!("{child} ("));
        assert!(names(child) && !names(other), "{refusal}");
    }
    adopt(&mut base, 10, &[]).unwrap();
    base.tell(remove("ns")).unwrap();
    base.run_all();
    let back = |base: &World| {
        let to = base.cluster.previous.clone().unwrap();
        Command::RollBack { to, rollout: None, by: "ann".into() }
    };
    base.tell(back(&base)).unwrap();
    base.run_all();
    adopt(&mut base, 10, &["ns"]).unwrap();
    let refusal = base.tell(back(&base)).unwrap_err();
    assert!(matches!(refusal, Refusal::NeededByChildren { .. }), "{refusal}");
}

#[test]
fn only_what_it_has_can_be_asked_of_a_parent() {
    let mut base = foundation();
    let refusal = adopt(&mut base, 9, &["mail"]).unwrap_err();
    assert!(refusal.to_string().contains("mail"), "{refusal}");
    assert!(base.cluster.kin.children.is_empty());
    adopt(&mut base, 9, &["sql"]).unwrap();
    adopt(&mut base, 9, &["mail"]).unwrap();
    assert_eq!(base.cluster.kin.children.len(), 1, "one that is there says what it needs");
}

#[test]
fn a_service_of_an_ancestor_meets_what_is_looked_for_there() {
    let mut child = World::created(&shop());
    let mut mail = Service::default();
    mail.base.name = "mail".into();
    let mut ask = |name: &str, scope| {
        mail.dependencies.runtime.requires = [Requirement { scope, ..Requirement::plain(name) }].into();
        let services = BTreeSet::from(["mail".to_owned()]);
        let command = Command::AddServices { services, known: vec![mail.clone()], by: "ann".into() };
        child.clone().tell(command).map(drop)
    };
    assert!(matches!(ask("sql", Scope::Cluster), Err(Refusal::NoLayout(_))));
    let refusal = ask("dns", Scope::Ancestors).unwrap_err().to_string();
    assert!(refusal.contains("build the cluster on one that has dns"), "{refusal}");
    ask("sql", Scope::Ancestors).unwrap();
    let remove = |service: &str| Command::RemoveServices {
        services: BTreeSet::from([service.to_owned()]),
        by: "ann".into(),
    };
    child.tell(remove("log")).unwrap();
}
