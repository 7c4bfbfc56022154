//! Agreement with CP-SAT of Google's OR-Tools on questions that are too large to try everything.
//!
//! Where Python does not know `ortools` there is nothing to agree with, and the test says so. `COOPERAGE_PYTHON` names the
//! Python that does.

#![allow(clippy::print_stderr, reason = "a test that is left out says so")]

use std::io::Write;
use std::process::{Command, Stdio};

use cooperage_domain::layout::{LayoutRequest, Objective, check_layout, solve};
use fastrand::Rng;
use serde_json::{Map, Value, json};

use crate::input::{World, hardware};

/// How many questions are put.
const QUESTIONS: usize = 40;
const HARDWARE: [&str; 3] = ["large", "medium", "small"];

/// A question for both.
struct Question {
    world: World,
    machines: u32,
    /// As CP-SAT is asked.
    asked: Value,
}

fn drawn(random: &mut Rng) -> Question {
    let services = random.usize(8..=14);
    let machines = random.u32(5..=12);
    let names: Vec<String> = (0..services).map(|number| format!("s{number:02}")).collect();
    let prices: Vec<u32> = HARDWARE.iter().map(|_| random.u32(1..10)).collect();
    let (mut rules, mut asked) = (Map::new(), Vec::new());
    for name in &names {
        let min = random.u32(1..=3);
        let max = min + random.u32(0..=6);
        let mut accepted: Vec<usize> = (0..HARDWARE.len()).filter(|_| random.u8(..3) > 0).collect();
        if accepted.is_empty() {
            accepted = (0..HARDWARE.len()).collect();
        }
        let named: Vec<&str> = accepted.iter().map(|number| HARDWARE[*number]).collect();
        rules.insert(name.clone(), json!({"quantities": {"min": min, "max": max}, "hardwaretypes": named}));
        asked.push(json!({"min": min, "max": max, "hardware": accepted}));
    }
    let group = |random: &mut Rng, most: usize| {
        let mut group: Vec<usize> = (0..random.usize(2..=most)).map(|_| random.usize(..services)).collect();
        group.sort_unstable();
        group.dedup();
        group
    };
    let groups = |random: &mut Rng, count: usize, most: usize| {
        let drawn = (0..count).map(|_| group(random, most));
        drawn.filter(|group| group.len() > 1).collect::<Vec<_>>()
    };
    let (must, cant) = (groups(random, 1, 2), groups(random, services / 2, 3));
    let named = |groups: &[Vec<usize>]| -> Vec<Vec<&String>> {
        groups.iter().map(|group| group.iter().map(|number| &names[*number]).collect()).collect()
    };
    let layout = json!({"mustcoexist": named(&must), "cantcoexist": named(&cant)});
    let mut world = World::new(&names.join(" "), json!({"layout": layout, "services": rules}));
    let priced = |(name, price): (&&str, &u32)| {
        let mut hardware = hardware(name);
        hardware.providermap.entry("cloud".into()).or_default().insert("price".into(), price.to_string());
        hardware
    };
    world.hardware = HARDWARE.iter().zip(&prices).map(priced).collect();
    let asked = json!({"machines": machines, "services": asked, "prices": prices, "mustcoexist": must,
        "cantcoexist": cant});
    Question { world, machines, asked }
}

impl Question {
    /// Our answers, as CP-SAT gives its own.
    fn answer(&self) -> Value {
        let ask = |objective| {
            let request = LayoutRequest { machines: self.machines, objective, ..LayoutRequest::default() };
            let layout = solve(&self.world.catalog(), &request).ok()?;
            assert_eq!(check_layout(&self.world.template, &layout.groups), vec![]);
            Some(layout)
        };
        let price = |name: &String| {
            let hardware = self.world.hardware.iter().find(|one| one.base.name == *name);
            hardware.and_then(|hardware| hardware.price("cloud")).expect("a price")
        };
        let cheapest = ask(Objective::Cheapest).map(|layout| {
            layout.groups.iter().map(|one| price(&one.node.hardwaretype) * f64::from(one.count)).sum::<f64>()
        });
        let fewest = ask(Objective::FewestNodes).map(|layout| layout.machines());
        json!({"cheapest": cheapest.map(|price| price.round() as u64), "fewest": fewest})
    }
}

/// What CP-SAT answers; nothing where it is not there.
fn their_answers(questions: &[Question]) -> Option<Vec<Value>> {
    let python = std::env::var("COOPERAGE_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let knows = Command::new(&python).args(["-c", "import ortools"]).stderr(Stdio::null()).status();
    if !knows.is_ok_and(|status| status.success()) {
        return None;
    }
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/layout/cp_sat.py");
    let mut child = Command::new(&python)
        .arg(script)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("a Python that has just run");
    let asked: Vec<&Value> = questions.iter().map(|question| &question.asked).collect();
    let asked = serde_json::to_vec(&asked).expect("plain data");
    child.stdin.take().expect("a pipe").write_all(&asked).expect("somebody who reads");
    let told = child.wait_with_output().expect("an end").stdout;
    Some(serde_json::from_slice(&told).expect("answers"))
}

#[test]
fn agrees_with_cp_sat_where_it_is_installed() {
    let mut random = Rng::with_seed(2026);
    let questions: Vec<Question> = (0..QUESTIONS).map(|_| drawn(&mut random)).collect();
    let Some(theirs) = their_answers(&questions) else {
        eprintln!(
            "left out: Python has no ortools (pip install ortools; COOPERAGE_PYTHON names another Python)"
        );
        return;
    };
    let mut compared = 0;
    for (question, theirs) in questions.iter().zip(&theirs) {
        let ours = question.answer();
        for objective in ["cheapest", "fewest"].into_iter().filter(|one| theirs[one] != "unknown") {
            compared += 1;
            assert_eq!(ours[objective], theirs[objective], "{objective} of {}", question.asked);
        }
    }
    assert!(compared > QUESTIONS, "{compared} answers were proven");
}
