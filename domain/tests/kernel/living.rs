//! Cases about clusters that are given: each is brought to life from its nodes, and told what the case says.

use std::collections::{BTreeMap, BTreeSet};

use cooperage_domain::cluster::{ClusterStatus, Command, CreateOrder, Refusal, ServiceChange, create};
use cooperage_domain::entity::{ClusterTemplate, Service};
use cooperage_domain::plan::ClusterAction;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::cases::{Case, Verdict, equal};
use crate::sketch::{Sketch, node_id};
use crate::world::{MORNING, World};

/// The verdict on a case, or `None` when it is about something else.
pub fn run(case: &Case) -> Option<Verdict> {
    let given = &case.given["cluster"];
    match case.op() {
        "scenario" if !given.is_null() && steps(case).all(knows) => Some(scenario(case)),
        "matrix" if case.when["paths"].is_array() => Some(matrix(case)),
        "change_expire_time" => Some(change_expire_time(case)),
        "add_services" | "validate_add_services" => Some(add_services(case)),
        "plan" if case.when["nodes"].is_null() => {
            let change = match read::<ClusterAction>(&case.when["action"]) {
                ClusterAction::StartServices => ServiceChange::Start,
                ClusterAction::StopServices => ServiceChange::Stop,
                ClusterAction::RestartServices => ServiceChange::Restart,
                _ => return None,
            };
            Some(plan(case, change))
        }
        _ => None,
    }
}

/// Whether a step is about the cluster given, and its owner.
fn knows(step: &Value) -> bool {
    let known = ["put_config", "get_config", "post", "sync_template"].iter().any(|it| step["do"] == *it);
    known && step["as"].is_null() && step["cluster"].is_null()
}

fn steps(case: &Case) -> impl Iterator<Item = &Value> {
    case.when["steps"].as_array().into_iter().flatten()
}

fn read<T: DeserializeOwned>(value: &Value) -> T {
    serde_json::from_value(value.clone()).unwrap_or_else(|e| panic!("{value}: {e}"))
}

fn texts(value: &Value) -> BTreeSet<String> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

fn services(case: &Case) -> Vec<Service> {
    case.given["services"].as_array().into_iter().flatten().map(read).collect()
}

/// The template the cluster is made from: the one it names, or the only one.
fn template(case: &Case) -> Value {
    let named = |it: &&Value| {
        let name = &case.given["cluster"]["clusterTemplate"];
        name.is_null() || it["name"] == *name
    };
    let mut template = case.given["clustertemplates"].as_array().into_iter().flatten().find(named).cloned();
    let template = template.get_or_insert_with(|| json!({"name": "any"}));
    if !case.given["leaseduration"].is_null() {
        template["administration"] = json!({"leaseduration": case.given["leaseduration"]});
    }
    template.clone()
}

/// The nodes given, one by one or by kind; else one that carries all services of the cluster.
fn sketch(case: &Case) -> Sketch {
    let given = &case.given["cluster"];
    let mut sketch = Sketch::default();
    let mut add = |kind: &Value, id: Option<&str>| {
        let name = id.map_or_else(|| format!("n{}", sketch.nodes.len() + 1), str::to_owned);
        let carried = texts(&kind["services"]);
        sketch.add_node(&name, carried.iter().map(String::as_str));
        let node = sketch.nodes.get_mut(&node_id(&name)).unwrap();
        for (type_name, field) in
            [("hardwaretype", &mut node.hardwaretype), ("imagetype", &mut node.imagetype)]
        {
            *field = kind[type_name].as_str().unwrap_or_default().to_owned();
        }
    };
    if let Some(kinds) = given["layout"].as_array() {
        for kind in kinds {
            (0..read::<u32>(&kind["count"])).for_each(|_| add(kind, None));
        }
    } else if let Some(nodes) = given["nodes"].as_array() {
        nodes.iter().for_each(|node| add(node, node["id"].as_str()));
    } else if given["services"].is_array() {
        add(given, None);
    } else {
        add(&template(case)["defaults"], None);
    }
    sketch
}

/// The cluster of the case, active.
fn active(case: &Case) -> World {
    let given = &case.given["cluster"];
    let sketch = sketch(case);
    let carried: BTreeSet<String> = sketch.nodes.values().flat_map(|node| node.services.clone()).collect();
    // A service that the case does not describe has no actions.
    let plain = |name: &String| (name.clone(), read::<Service>(&json!({"name": name})));
    let mut definitions: BTreeMap<String, Service> = carried.iter().map(plain).collect();
    let known = services(case).into_iter().map(|service| (service.name().to_owned(), service));
    definitions.extend(known.filter(|(name, _)| carried.contains(name)));
    let order = CreateOrder {
        template: read(&template(case)),
        definitions,
        services: carried,
        config: given["config"].as_object().cloned().unwrap_or_default(),
        expires: given["expire_offset_ms"].as_i64().map_or(0, |offset| MORNING + offset),
        ..sketch.order()
    };
    let mut world = World::of(create(order, Ok(sketch.nodes), MORNING).unwrap());
    world.run_all();
    world
}

/// The same in the state given.
fn in_state(case: &Case, status: &Value) -> World {
    let mut world = active(case);
    if !status.is_null() {
        world.cluster.status = read::<ClusterStatus>(status);
    }
    world
}

fn tell(world: &mut World, command: Command) -> u16 {
    match world.tell(command) {
        Ok(_) => 200,
        Err(Refusal::WrongState { .. }) => 409,
        Err(Refusal::UnknownService { .. }) => 404,
        Err(_) => 400,
    }
}

/// What is posted to a path below the cluster.
fn posted(case: &Case, path: &str, body: &Value) -> Command {
    let by = "ann".to_owned();
    let change = |word| match word {
        "start" => ServiceChange::Start,
        "stop" => ServiceChange::Stop,
        "restart" => ServiceChange::Restart,
        other => panic!("nothing can be posted to {other}"),
    };
    match path.split('/').skip(2).collect::<Vec<_>>()[..] {
        [] => Command::AddServices { services: texts(&body["services"]), known: services(case), by },
        [word] => Command::ChangeServices { change: change(word), service: None, by },
        [service, word, ..] => {
            Command::ChangeServices { change: change(word), service: Some(service.to_owned()), by }
        }
    }
}

/// A template with some of its fields changed.
fn edited(template: &mut Value, edit: &Value) {
    match edit {
        Value::Object(fields) => fields.iter().for_each(|(key, edit)| edited(&mut template[key], edit)),
        other => *template = other.clone(),
    }
}

fn scenario(case: &Case) -> Verdict {
    let mut world = in_state(case, &case.given["cluster"]["status"]);
    let original = world.cluster.template.clone();
    let mut newest = template(case);
    edited(&mut newest, &case.given["template_edit"].as_object().cloned().map_or(json!({}), Value::from));
    let newest: ClusterTemplate = read(&newest);
    for step in steps(case) {
        let (by, body) = ("ann".to_owned(), &step["body"]);
        let told = match step["do"].as_str().unwrap_or_default() {
            "put_config" => {
                let restart = body["restart"].as_bool().unwrap_or(true);
                tell(&mut world, Command::Configure { config: read(&body["config"]), restart, by })
            }
            "post" => {
                let command = posted(case, step["path"].as_str().unwrap_or_default(), body);
                tell(&mut world, command)
            }
            "sync_template" => {
                tell(&mut world, Command::SyncTemplate { template: Box::new(newest.clone()), by })
            }
            _ => 200,
        };
        if let Some(expected) = step["then"]["http_status"].as_u64() {
            equal(&u64::from(told), &expected).map_err(|fault| format!("{}: {fault}", step["do"]))?;
        }
        if let Some(expected) = step["then"]["body"].as_object() {
            equal(&world.cluster.config, expected)?;
        }
    }
    if case.expect["action"].is_string() {
        equal(&json!(world.job().action), &case.expect["action"])?;
    }
    for (label, expected) in
        [("cluster_template_equals_edited", newest), ("cluster_template_unchanged", original)]
    {
        if case.expect[label] == true {
            equal(&world.cluster.template, &expected)?;
        }
    }
    Ok(())
}

/// The same answer for each path in each state, and nothing changes.
fn matrix(case: &Case) -> Verdict {
    for status in case.when["statuses"].as_array().into_iter().flatten() {
        for path in texts(&case.when["paths"]) {
            let mut world = in_state(case, status);
            let before = world.cluster.clone();
            let told = tell(&mut world, posted(case, &path, &case.when["body"]));
            equal(&json!(told), &case.expect["http_status"])
                .map_err(|it| format!("{path}, {status}: {it}"))?;
            equal(&world.cluster, &before)?;
        }
    }
    Ok(())
}

fn change_expire_time(case: &Case) -> Verdict {
    let mut world = in_state(case, &case.given["cluster"]["status"]);
    let expected = case.expect["steps"].as_array().into_iter().flatten();
    for (step, expected) in steps(case).zip(expected) {
        let expires = MORNING + read::<i64>(&step["expire_offset_ms"]);
        let told = tell(&mut world, Command::Prolong { expires, by: "ann".into() });
        equal(&json!(told), &expected["http_status"])?;
        equal(&json!(world.cluster.expires - MORNING), &expected["expire_offset_ms"])?;
    }
    Ok(())
}

/// How many nodes there are of each kind: services, hardware, image.
type Kinds = Vec<(BTreeSet<String>, String, String, u64)>;

fn add_services(case: &Case) -> Verdict {
    let mut world = active(case);
    let before = world.cluster.clone();
    let names = texts(&case.when["services"]);
    let by = "ann".to_owned();
    let told = world.tell(Command::AddServices { services: names, known: services(case), by }).map(drop);
    if case.expect["result"] != "ok" {
        let Err(refusal) = told else { return Err("it was not refused".into()) };
        let message = refusal.to_string();
        equal(&world.cluster, &before)?;
        return match texts(&case.expect["mentions"]).iter().find(|word| !message.contains(*word)) {
            None => Ok(()),
            Some(word) => Err(format!("{message:?} does not mention {word}")),
        };
    }
    told.map_err(|refusal| refusal.to_string())?;
    world.run_all();
    equal(&world.cluster.status, &ClusterStatus::Active)?;
    let Some(layout) = case.expect["layout"].as_array() else { return Ok(()) };
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut expected: Kinds = Vec::new();
    for kind in layout {
        let count = kind["count"].as_u64().unwrap_or_default();
        expected.push((
            texts(&kind["services"]),
            text(&kind["hardwaretype"]),
            text(&kind["imagetype"]),
            count,
        ));
    }
    expected.sort();
    equal(&kinds(&world), &expected)
}

fn kinds(world: &World) -> Kinds {
    let mut kinds: Kinds = Vec::new();
    for node in world.cluster.nodes.values() {
        let it = &node.properties;
        let same = |kind: &&mut (_, _, _, _)| {
            (&kind.0, &kind.1, &kind.2) == (&it.services, &it.hardwaretype, &it.imagetype)
        };
        match kinds.iter_mut().find(same) {
            Some(kind) => kind.3 += 1,
            None => kinds.push((it.services.clone(), it.hardwaretype.clone(), it.imagetype.clone(), 1)),
        }
    }
    kinds.sort();
    kinds
}

/// The tasks of a change to services of a cluster in which all run, and pairs of which the first comes before the second.
fn plan(case: &Case, change: ServiceChange) -> Verdict {
    let asked = texts(&case.when["services"]);
    if asked.len() > 1 {
        return Err("only one service, or all, can be changed at once".into());
    }
    let mut world = active(case);
    let service = asked.into_iter().next().unwrap_or_default();
    world.change(change, &service).map_err(|refusal| refusal.to_string())?;
    if case.expect["tasks"].is_array() {
        equal(&world.planned().into_iter().collect(), &texts(&case.expect["tasks"]))?;
    }
    let mut order = Vec::new();
    world.run_with(|task| {
        order.push(World::label(task));
        0
    });
    for pair in case.expect["before"].as_array().into_iter().flatten() {
        let place = |at: usize| order.iter().position(|it| pair[at] == **it);
        if place(0).is_none() || place(0) > place(1) {
            return Err(format!("{} does not come before {}", pair[0], pair[1]));
        }
    }
    Ok(())
}
