//! What was really done: the directory of the simulated machines, and its log, which nobody changes afterwards.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use cooperage_plugins::simulated::Scenario;
use serde_json::{Value, json};

/// The directory of the simulated machines.
#[derive(Debug)]
pub struct World {
    folder: tempfile::TempDir,
}

/// A line of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// `begin`, `end`, `killed` or `overlap`.
    pub what: String,
    /// The node.
    pub node: String,
    /// Name of the task.
    pub name: String,
    /// Id of the task, and attempt.
    pub execution: (String, u64),
}

impl World {
    /// An empty one.
    pub fn new() -> Self {
        Self { folder: tempfile::Builder::new().prefix("cooperage-world-").tempdir().unwrap() }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// From now on tasks go like this.
    pub fn play(&self, scenario: &Scenario) {
        scenario.write(self.path()).unwrap();
    }

    /// Nodes that have a machine.
    pub fn machines(&self) -> BTreeSet<String> {
        let entries = std::fs::read_dir(self.path().join("machines")).into_iter().flatten();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    /// Number of lines in the log.
    pub fn log_length(&self) -> usize {
        std::fs::read(self.log_path()).unwrap_or_default().iter().filter(|byte| **byte == b'\n').count()
    }

    /// The log.
    pub fn log(&self) -> Vec<Line> {
        let text = std::fs::read_to_string(self.log_path()).unwrap_or_default();
        text.lines().map(line).collect()
    }

    fn log_path(&self) -> PathBuf {
        self.path().join("log")
    }

    /// No task was started twice, and no node ever did two things at once.
    pub fn check_executions(&self) {
        let mut begun = BTreeSet::new();
        let mut busy: BTreeMap<String, (String, u64)> = BTreeMap::new();
        for line in self.log() {
            match line.what.as_str() {
                "begin" => {
                    assert!(begun.insert(line.execution.clone()), "{line:?} was started twice");
                    let before = busy.insert(line.node.clone(), line.execution.clone());
                    assert_eq!(before, None, "{line:?} began beside it");
                }
                "end" | "killed" => {
                    assert_eq!(busy.remove(&line.node), Some(line.execution), "{}", line.node);
                }
                other => panic!("{other}: {line:?} met another task on its machine"),
            }
        }
    }

    /// What was done is what the plans say: every execution is known to a plan and the other way round, and none began before
    /// those it waits for had ended.
    pub fn check_plans(&self, plans: &[Value]) {
        let log = self.log();
        let place = |what: &str, execution: &(String, u64)| {
            log.iter().position(|line| line.what == what && line.execution == *execution)
        };
        let mut known = BTreeSet::new();
        let tasks: Vec<&Value> =
            plans.iter().flat_map(|plan| plan["tasks"].as_array().into_iter().flatten()).collect();
        let last = |task: &Value| {
            let attempt = task["attempts"].as_array()?.last()?;
            Some((text(&task["id"]), attempt["number"].as_u64()?))
        };
        for task in &tasks {
            for attempt in task["attempts"].as_array().unwrap() {
                let execution = (text(&task["id"]), attempt["number"].as_u64().unwrap());
                assert!(
                    place("begin", &execution).is_some(),
                    "{execution:?} is in a plan and was never done"
                );
                known.insert(execution);
            }
            let Some(begin) = last(task).and_then(|execution| place("begin", &execution)) else { continue };
            for before in task["after"].as_array().unwrap() {
                let before = tasks.iter().find(|task| task["id"] == *before).unwrap();
                let end = last(before).and_then(|execution| place("end", &execution));
                assert!(end.is_some_and(|end| end < begin), "{task} began before the end of {before}");
            }
        }
        let cluster = plans.first().map(|plan| text(&plan["clusterId"])).unwrap();
        let done = log.iter().filter(|line| line.execution.0.starts_with(&format!("{cluster}-")));
        let unknown: Vec<_> = done.filter(|line| !known.contains(&line.execution)).collect();
        assert!(unknown.is_empty(), "no plan knows {unknown:?}");
    }
}

fn line(text: &str) -> Line {
    let words: Vec<&str> = text.split(' ').collect();
    let [what, _, _, node, name, task, attempt, _] = words[..] else { panic!("log: {text:?}") };
    let owned = str::to_owned;
    Line {
        what: owned(what),
        node: owned(node),
        name: owned(name),
        execution: (owned(task), attempt.parse().unwrap()),
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

/// Entities for clusters of simulated machines: `app` needs `db`, and each node has one of the two.
pub fn catalog() -> Value {
    let actions = |names: &[&str]| -> Value {
        names
            .iter()
            .map(|name| ((*name).to_owned(), json!({"type": "simulated", "fields": {}})))
            .collect::<serde_json::Map<_, _>>()
            .into()
    };
    let all = actions(&["install", "configure", "initialize", "start", "stop", "remove"]);
    json!([
        {"kind": "provider", "name": "sim", "providertype": "simulated", "provisioner": {"account": "lab"}},
        {"kind": "hardwaretype", "name": "small", "providermap": {"sim": {"flavor": "small"}}},
        {"kind": "imagetype", "name": "plain", "providermap": {"sim": {"image": "plain", "sshuser": "root"}}},
        {"kind": "service", "name": "base", "dependencies": {"provides": [], "conflicts": []},
         "provisioner": {"actions": actions(&["install", "configure"])}},
        {"kind": "service", "name": "db", "provisioner": {"actions": all},
         "dependencies": {"provides": [], "conflicts": [], "runtime": {"requires": ["base"]}}},
        {"kind": "service", "name": "app", "provisioner": {"actions": all},
         "dependencies": {"provides": [], "conflicts": [], "runtime": {"requires": ["db"]}}},
        {"kind": "clustertemplate", "name": "sim",
         "defaults": {"services": ["base", "db", "app"], "provider": "sim", "hardwaretype": "small", "imagetype": "plain"},
         "compatibility": {"hardwaretypes": ["small"], "imagetypes": ["plain"], "services": ["base", "db", "app"]},
         "constraints": {
            "layout": {"mustcoexist": [], "cantcoexist": [["app", "db"]]},
            "services": {"db": {"quantities": {"min": 1, "max": 1}}, "base": {"quantities": {"min": 1}}},
            "size": {"min": 2, "max": 20}}},
    ])
}
