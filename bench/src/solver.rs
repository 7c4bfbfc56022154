//! How long layouts are looked for, and why there are none.

use std::time::Duration;

use cooperage_domain::entity::{ClusterTemplate, HardwareType, ImageType, Service};
use cooperage_domain::layout::{Catalog, Layout, LayoutRequest, NoLayout, Objective, explain, solve};
use serde::Serialize;
use serde_json::{Value, json};

use crate::figure::{Figure, Target};
use crate::{BenchError, Grid, Section, milliseconds, timed};

/// How often each question is put.
const TIMES: usize = 25;

/// A question, and how long it takes to answer it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Answer {
    question: String,
    nodes: u32,
    services: usize,
    /// Kinds of node in the layout; none when there is no layout.
    kinds: Option<usize>,
    /// Reasons why there is none.
    reasons: usize,
    milliseconds: f64,
    /// The most it should be.
    target: f64,
}

/// What was measured.
#[derive(Debug, Serialize)]
struct Solutions {
    answers: Vec<Answer>,
}

/// What is asked, and of which catalog.
struct Question {
    name: String,
    template: ClusterTemplate,
    services: Vec<Service>,
    hardware: Vec<HardwareType>,
    images: Vec<ImageType>,
    nodes: u32,
    objective: Objective,
    /// In ms.
    target: f64,
}

/// Puts all questions.
///
/// # Errors
/// When one cannot be put.
pub fn measure(quick: bool) -> Result<Section, BenchError> {
    let times = if quick { 1 } else { TIMES };
    let largest = if quick { 1_000 } else { 10_000 };
    let sizes: &[u32] = if quick { &[100, 1_000] } else { &[100, 1_000, 10_000] };
    let mut answers = Vec::new();
    for services in [18, 30, 60] {
        for kind in [constrained, entangled] {
            answers.push(kind(services, 5, 0)?.answer(times)?);
            answers.push(kind(services, 5, 9)?.answer(times)?);
        }
    }
    answers.push(exclusive(10, 30, 4)?.answer(times)?);
    for nodes in sizes {
        answers.push(exclusive(100, *nodes, 1)?.answer(times)?);
    }
    answers.push(exclusive(100, largest, largest / 50)?.answer(times)?);
    for objective in [Objective::Cheapest, Objective::FewestNodes, Objective::Spread] {
        answers.push(constrained(60, 100, 0)?.best_at(objective).answer(times)?);
        answers.push(exclusive(100, largest, 1)?.best_at(objective).answer(times)?);
    }
    let explained = exclusive(100, largest, 1)?;
    answers.push(explained.explain(times)?);
    let solutions = Solutions { answers };
    Section::new(&solutions, vec![solutions.grid()], solutions.figures())
}

fn read<T: serde::de::DeserializeOwned>(value: Value) -> Result<T, BenchError> {
    let question = value.to_string();
    serde_json::from_value(value).map_err(|fault| BenchError::Question { question, fault: fault.to_string() })
}

/// As many services with a rule each as are said, on three hardware types and two image types, each with a `least` number of
/// nodes.
fn constrained(services: usize, nodes: u32, least: u32) -> Result<Question, BenchError> {
    let hardware = ["large", "medium", "small"];
    let rules = (0..services).map(|number| {
        let accepted: Vec<&str> = hardware.iter().copied().skip(number % 2).collect();
        let most = nodes.saturating_sub(u32::try_from(number % 3).unwrap_or(0)).max(least);
        (name(number), json!({"quantities": {"min": least, "max": most}, "hardwaretypes": accepted}))
    });
    let rules: serde_json::Map<String, Value> = rules.collect();
    let what = if least > nodes { "that ask for too much" } else { "with a rule each" };
    question(format!("{services} services {what}"), services, nodes, 10.0, &json!({"services": rules}))
}

/// Services in groups of three: two that only go together, and a third that goes with neither.
fn entangled(services: usize, nodes: u32, least: u32) -> Result<Question, BenchError> {
    let group = |number: usize, members: [usize; 2]| members.map(|member| name(number * 3 + member));
    let groups = services / 3;
    let must: Vec<_> = (0..groups).map(|number| group(number, [0, 1])).collect();
    let cant: Vec<_> = (0..groups).map(|number| group(number, [1, 2])).collect();
    let rules = (0..services).map(|number| (name(number), json!({"quantities": {"min": least}})));
    let rules: serde_json::Map<String, Value> = rules.collect();
    let what = if least > 0 { "that ask for too much" } else { "that go together or not" };
    let layout = json!({"layout": {"mustcoexist": must, "cantcoexist": cant}, "services": rules});
    question(format!("{services} services {what}"), services, nodes, 10.0, &layout)
}

/// Services none of which goes with another one, so that each is a kind of node, each on a `least` number of nodes.
fn exclusive(services: usize, nodes: u32, least: u32) -> Result<Question, BenchError> {
    let mut cant = Vec::new();
    for one in 0..services {
        cant.extend((one + 1..services).map(|other| [name(one), name(other)]));
    }
    let most = nodes / u32::try_from(services).unwrap_or(1).max(1) + 1;
    let rules = (0..services)
        .map(|number| (name(number), json!({"quantities": {"min": least, "max": most.max(least)}})));
    let rules: serde_json::Map<String, Value> = rules.collect();
    let has_room = u32::try_from(services).unwrap_or(u32::MAX).saturating_mul(least) <= nodes;
    let what = if has_room { "" } else { " that have no room" };
    let constraints = json!({"layout": {"cantcoexist": cant}, "services": rules});
    question(format!("{services} kinds of node{what}"), services, nodes, 20.0, &constraints)
}

fn name(number: usize) -> String {
    format!("service-{number:03}")
}

fn question(
    name_of: String,
    services: usize,
    nodes: u32,
    target: f64,
    constraints: &Value,
) -> Result<Question, BenchError> {
    let names: Vec<String> = (0..services).map(name).collect();
    let template = json!({"name": "bench", "defaults": {"services": names}, "constraints": constraints});
    let service = |name: &String| read(json!({"name": name}));
    let hardware = |name: &str| {
        let price = match name {
            "large" => "4",
            "medium" => "2",
            _ => "1",
        };
        read(json!({"name": name, "providermap": {"cloud": {"flavor": name, "price": price}}}))
    };
    let image = |name: &str| read(json!({"name": name, "providermap": {"cloud": {"image": name}}}));
    Ok(Question {
        name: name_of,
        template: read(template)?,
        services: names.iter().map(service).collect::<Result<_, _>>()?,
        hardware: ["large", "medium", "small"].into_iter().map(hardware).collect::<Result<_, _>>()?,
        images: ["debian", "fedora"].into_iter().map(image).collect::<Result<_, _>>()?,
        nodes,
        objective: Objective::default(),
        target,
    })
}

impl Question {
    /// The same, asked for something else than many services on each node.
    fn best_at(mut self, objective: Objective) -> Self {
        self.name = format!("{}, {}", self.name, objective.as_str());
        self.objective = objective;
        self
    }

    fn ask(&self) -> Result<Layout, NoLayout> {
        let Self { template, services, hardware, images, nodes, objective, .. } = self;
        let catalog = Catalog { template, provider: "cloud", hardware, images, services };
        let (machines, objective) = (*nodes, *objective);
        solve(&catalog, &LayoutRequest { machines, objective, ..LayoutRequest::default() })
    }

    fn answer(&self, times: usize) -> Result<Answer, BenchError> {
        let taken = timed(times, || self.ask());
        let (kinds, reasons) = match self.ask() {
            Ok(layout) => (Some(layout.groups.len()), 0),
            Err(refusal) => (None, refusal.reasons.len()),
        };
        Ok(self.answered(self.name.clone(), taken, kinds, reasons))
    }

    fn answered(&self, question: String, taken: Duration, kinds: Option<usize>, reasons: usize) -> Answer {
        let Self { nodes, target, services, .. } = self;
        let milliseconds = milliseconds(taken);
        let (nodes, target) = (*nodes, *target);
        Answer { question, nodes, services: services.len(), kinds, reasons, milliseconds, target }
    }

    /// Why each service is where it is.
    fn explain(&self, times: usize) -> Result<Answer, BenchError> {
        let layout = self.ask().map_err(|refusal| BenchError::Question {
            question: self.name.clone(),
            fault: refusal.to_string(),
        })?;
        let why = |number: usize| {
            let mut carried = layout.groups[number].node.services.iter();
            carried.next().map(|service| explain::why_here(&self.template, &layout.groups, number, service))
        };
        let taken =
            timed(times, || (0..layout.groups.len()).filter_map(why).map(|why| why.len()).sum::<usize>());
        let question = format!("why each of {} kinds is where it is", layout.groups.len());
        let answer = self.answered(question, taken, Some(layout.groups.len()), 0);
        Ok(Answer { target: 50.0, ..answer })
    }
}

impl Solutions {
    fn figures(&self) -> Vec<Figure> {
        let figure = |answer: &Answer| {
            let what = format!("{}, {} nodes", answer.question, answer.nodes);
            Figure::new(what, answer.milliseconds, "ms", Target::AtMost(answer.target))
        };
        self.answers.iter().map(figure).collect()
    }

    fn grid(&self) -> Grid {
        let row = |answer: &Answer| {
            [
                answer.question.clone(),
                answer.nodes.to_string(),
                answer.services.to_string(),
                answer.kinds.map(|kinds| kinds.to_string()).unwrap_or_default(),
                answer.reasons.to_string(),
                format!("{:.3} ms", answer.milliseconds),
            ]
        };
        let headings = ["QUESTION", "NODES", "SERVICES", "KINDS", "REASONS", "ANSWERED IN"];
        Grid::new(headings, self.answers.iter().map(row))
    }
}
