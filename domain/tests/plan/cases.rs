//! Cases in files: what Coopr does for a cluster and an action, and how ours differs on purpose.
//!
//! A file is an array of `{name, given, when, expect}`; `given` holds Coopr's JSON of services and nodes. Besides our own
//! files those of the directory in the environment variable `COOPERAGE_CASES` are run. Cases of operations that are not
//! about planning, and those that record a quirk of Coopr, are left alone.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs;
use std::path::Path;

use cooperage_domain::entity::Service;
use cooperage_domain::plan::coopr::{self, Scope};
use cooperage_domain::plan::needs::{Needs, Phase};
use cooperage_domain::plan::stages::{levels, split};
use cooperage_domain::plan::{Graph, PlanNode, UnitId};
use cooperage_domain::task::TaskName;
use serde_json::Value;

use crate::sketch::{Sketch, ancestors, names, node_id};

type Verdict = Result<(), String>;

#[test]
fn our_cases_hold() {
    let ran = run(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/plan/cases"));
    assert!(ran >= 30, "only {ran} cases were found");
}

#[test]
fn the_cases_of_the_environment_hold() {
    if let Some(directory) = std::env::var_os("COOPERAGE_CASES") {
        let ran = run(Path::new(&directory));
        println!("{ran} planning cases held");
    }
}

/// Runs all cases below a directory and says how many there were.
fn run(directory: &Path) -> usize {
    let mut ran = 0;
    let mut failed = Vec::new();
    let entries = fs::read_dir(directory).unwrap_or_else(|fault| panic!("{}: {fault}", directory.display()));
    for path in
        entries.map(|entry| entry.unwrap().path()).filter(|path| path.extension() == Some("json".as_ref()))
    {
        let cases: Vec<Value> = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        for case in cases.iter().filter(|case| case["quirk"] != true) {
            let Some(verdict) = judge(case) else { continue };
            ran += 1;
            if let Err(fault) = verdict {
                failed.push(format!("{}: {}: {fault}", path.display(), case["name"]));
            }
        }
    }
    assert!(failed.is_empty(), "{} of {ran} cases failed:\n{}", failed.len(), failed.join("\n"));
    ran
}

fn judge(case: &Value) -> Option<Verdict> {
    let (given, when, expect) = (&case["given"], &case["when"], &case["expect"]);
    match when["op"].as_str()? {
        "plan" => Some(plan(given, when, expect)),
        "service_order" => Some(service_order(given, expect)),
        "linearize" => Some(linearize(when, expect)),
        "split_stages" => Some(split_stages(when, expect)),
        _ => None,
    }
}

fn plan(given: &Value, when: &Value, expect: &Value) -> Verdict {
    let sketch = sketch(given);
    let action = serde_json::from_value(when["action"].clone()).map_err(|fault| fault.to_string())?;
    let scope = Scope {
        services: when.get("services").map(texts),
        nodes: when.get("nodes").map(|nodes| texts(nodes).iter().map(|name| node_id(name)).collect()),
    };
    match (coopr::plan(action, &scope, &sketch.nodes, &sketch.services), expect.get("error")) {
        (Ok(graph), None) => check_graph(&graph, expect),
        (Err(fault), Some(_)) => mentions(&fault.to_string(), expect),
        (Ok(graph), Some(error)) => Err(format!("expected {error}, got {:?}", names(&graph))),
        (Err(fault), None) => Err(fault.to_string()),
    }
}

fn mentions(message: &str, expect: &Value) -> Verdict {
    match texts(&expect["mentions"]).iter().find(|word| !message.contains(*word)) {
        None => Ok(()),
        Some(word) => Err(format!("{message:?} does not mention {word:?}")),
    }
}

fn check_graph(graph: &Graph, expect: &Value) -> Verdict {
    let names = names(graph);
    if let Some(tasks) = expect.get("tasks") {
        same("tasks", &names.iter().cloned().collect(), &texts(tasks))?;
    }
    let ancestors = ancestors(graph);
    let find =
        |task: &str| names.iter().position(|name| name == task).ok_or(format!("{task} is not planned"));
    for (first, second) in pairs(&expect["before"]) {
        if !ancestors[find(&second)?].contains(&find(&first)?) {
            return Err(format!("{second} does not wait for {first}"));
        }
    }
    for (one, other) in pairs(&expect["unordered"]) {
        let (one, other) = (find(&one)?, find(&other)?);
        if ancestors[one].contains(&other) || ancestors[other].contains(&one) {
            return Err(format!("{} and {} are forced into an order", names[one], names[other]));
        }
    }
    check_stages(&levels(graph), |task| names[task].clone(), expect)
}

fn check_stages(levels: &[Vec<usize>], name: impl Fn(usize) -> String, expect: &Value) -> Verdict {
    let Some(stages) = expect.get("stages").and_then(Value::as_array) else { return Ok(()) };
    if stages.len() != levels.len() {
        return Err(format!("{} stages instead of {}", levels.len(), stages.len()));
    }
    for (number, (level, stage)) in levels.iter().zip(stages).enumerate() {
        same(&format!("stage {number}"), &level.iter().map(|&task| name(task)).collect(), &texts(stage))?;
    }
    Ok(())
}

fn service_order(given: &Value, expect: &Value) -> Verdict {
    let sketch = sketch(given);
    for (key, phase) in [("install", Phase::Install), ("runtime", Phase::Runtime)] {
        if let Some(order) = expect.get(key) {
            let needs = Needs::new(phase, sketch.services.values());
            let direct =
                needs.direct().into_iter().map(|(one, other)| format!("{one} after {other}")).collect();
            same(key, &direct, &pairs(order).map(|(one, other)| format!("{one} after {other}")).collect())?;
        }
    }
    Ok(())
}

/// `tasks` (those only named in `before` may be left out) and `before`, pairs of tasks.
fn linearize(when: &Value, expect: &Value) -> Verdict {
    let edges: Vec<(String, String)> =
        ["before", "edges", "dependencies"].iter().flat_map(|key| pairs(&when[*key])).collect();
    let mut labels = texts(&when["tasks"]);
    labels.extend(edges.iter().flat_map(|(one, other)| [one.clone(), other.clone()]));
    let labels: Vec<String> = labels.into_iter().collect();
    let place: BTreeMap<&String, usize> = labels.iter().enumerate().map(|(at, label)| (label, at)).collect();
    let mut after = vec![Vec::new(); labels.len()];
    for (one, other) in &edges {
        after[place[other]].push(place[one]);
    }
    let tasks: Vec<(UnitId, TaskName)> = labels.iter().map(|label| task(label)).collect();
    match (Graph::new(tasks.clone(), after), expect.get("error")) {
        (Ok(graph), None) => {
            let label = |index: usize| {
                let found = &graph.tasks()[index];
                let at = tasks.iter().position(|(unit, name)| (unit, *name) == (&found.unit(), found.name));
                labels[at.unwrap()].clone()
            };
            check_stages(&levels(&graph), label, expect)
        }
        (Err(fault), Some(_)) => mentions(&fault.to_string(), expect),
        (Ok(_), Some(error)) => Err(format!("expected {error}, got a graph")),
        (Err(fault), None) => Err(fault.to_string()),
    }
}

/// `NODE:TASK[:SERVICE]`, or any word for a task of which only the name matters.
fn task(label: &str) -> (UnitId, TaskName) {
    let mut parts = label.splitn(3, ':');
    let node = node_id(parts.next().unwrap_or_default());
    let name = parts.next().and_then(|name| serde_json::from_value(name.into()).ok());
    (UnitId { node, service: parts.next().map(str::to_owned) }, name.unwrap_or(TaskName::Create))
}

/// Which task of a node goes into which part is open; how large the parts are and which nodes are in each is not.
fn split_stages(when: &Value, expect: &Value) -> Verdict {
    let node = |label: &String| label.split(':').next().unwrap_or_default().to_owned();
    let stages = when["stages"].as_array().ok_or("stages are missing")?;
    let parts: Vec<Vec<String>> = stages.iter().flat_map(|stage| split(list(stage), node)).collect();
    let expected: Vec<Vec<String>> = expect["stages"].as_array().into_iter().flatten().map(list).collect();
    let nodes = |parts: &[Vec<String>]| -> Vec<BTreeSet<String>> {
        parts.iter().map(|part| part.iter().map(node).collect()).collect()
    };
    if nodes(&parts) != nodes(&expected) {
        return Err(format!("{parts:?} instead of {expected:?}"));
    }
    if let Some(part) =
        parts.iter().find(|part| part.iter().map(node).collect::<HashSet<_>>().len() < part.len())
    {
        return Err(format!("a node occurs twice in {part:?}"));
    }
    same("tasks", &parts.into_iter().flatten().collect(), &expected.into_iter().flatten().collect())
}

fn sketch(given: &Value) -> Sketch {
    let services: Vec<Service> = serde_json::from_value(given["services"].clone()).unwrap();
    let nodes = given["cluster"]["nodes"].as_array().into_iter().flatten();
    Sketch {
        services: services.into_iter().map(|service| (service.name().to_owned(), service)).collect(),
        nodes: nodes
            .map(|node| PlanNode {
                id: node_id(node["id"].as_str().unwrap()),
                services: texts(&node["services"]),
            })
            .collect(),
    }
}

fn list(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

fn texts(value: &Value) -> BTreeSet<String> {
    list(value).into_iter().collect()
}

fn pairs(value: &Value) -> impl Iterator<Item = (String, String)> {
    value.as_array().into_iter().flatten().map(|pair| {
        let text = |at: usize| pair[at].as_str().unwrap_or_default().to_owned();
        (text(0), text(1))
    })
}

fn same(what: &str, got: &BTreeSet<String>, expected: &BTreeSet<String>) -> Verdict {
    if got == expected {
        return Ok(());
    }
    let only = |one: &BTreeSet<String>, other| one.difference(other).cloned().collect::<Vec<_>>().join(", ");
    Err(format!("{what}: missing [{}], not expected [{}]", only(expected, got), only(got, expected)))
}
