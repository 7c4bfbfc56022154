//! Deciding once more what a journal holds: the command behind each decision is put together from the events that came of
//! it, and is given to today's decider.

use std::collections::BTreeSet;

use super::command::Command;
use super::create::create;
use super::decide::decide;
use super::event::{Event, PlannedStep};
use super::job::Outcome;
use super::refusal::Refusal;
use super::services::ServiceChange;
use super::state::Cluster;
use super::wanted_change::WantedChange;
use super::{attempt, follow_up, planning};
use crate::node_action::SNIPPED;
use crate::plan::ClusterAction;
use crate::task::TaskReport;

/// What came of deciding once more.
#[derive(Debug, Clone, PartialEq)]
pub enum Redecided {
    /// Today's decider decides the same; so many events came of it.
    Same(usize),
    /// From the events it cannot be told what was asked for; the first of them is passed over.
    Unknown,
    /// Today's decider decides otherwise.
    Otherwise {
        /// What it decides, or why it refuses.
        decided: Result<Vec<Event>, String>,
    },
}

/// Decides once more what led to the first of the events `ahead`, which followed on `cluster`. There should be at least 16 of
/// them, as far as there are: more never come of one decision about a cluster that is there.
#[must_use]
pub fn redecide(cluster: Option<&Cluster>, ahead: &[Event]) -> Redecided {
    let Some(first) = ahead.first() else { return Redecided::Unknown };
    let Some(cluster) = cluster else { return created(ahead) };
    let (mut same, mut otherwise) = (0, None);
    for decided in decisions(cluster, ahead, time(first)) {
        let decided = decided.map(|events| as_early_releases(events, ahead));
        match decided {
            Ok(events) if !events.is_empty() && ahead.starts_with(&events) => {
                // Less may come of another command that begins the same.
                same = same.max(events.len());
            }
            decided => {
                otherwise = otherwise.or(Some(decided.map_err(|refusal| refusal.to_string())));
            }
        }
    }
    match otherwise {
        _ if same > 0 => Redecided::Same(same),
        Some(decided) => Redecided::Otherwise { decided },
        None => Redecided::Unknown,
    }
}

type Decision = Result<Vec<Event>, Refusal>;

/// What may be decided now.
fn decisions(cluster: &Cluster, ahead: &[Event], now: i64) -> Vec<Decision> {
    match ahead {
        [given @ Event::ProviderFieldsGiven { .. }, rest @ ..] => {
            let with = |mut events: Vec<Event>| {
                events.insert(0, given.clone());
                events
            };
            decisions(cluster, rest, now).into_iter().map(|decided| decided.map(with)).collect()
        }
        [Event::WantedChanged { change, by, .. }, Event::JobPlanned { action, rollout, .. }, ..] => {
            // What was asked for is not known, but what was wanted because of it: everything else follows from that.
            let change = WantedChange { settled: BTreeSet::new(), ..(**change).clone() };
            let planned = planning::change(cluster, change, *action, rollout.clone(), by, now);
            vec![planned.map(|events| follow_up::complete(cluster, events, now))]
        }
        _ => commands(cluster, ahead).into_iter().map(|command| decide(cluster, command, now)).collect(),
    }
}

/// Events as they were recorded by releases that told neither the hash of values with an attempt nor the kind of a failure, and
/// that named as settled also what nobody had asked for before.
fn as_early_releases(mut events: Vec<Event>, recorded: &[Event]) -> Vec<Event> {
    for (event, then) in events.iter_mut().zip(recorded) {
        match (event, then) {
            (Event::AttemptStarted { inputs, .. }, Event::AttemptStarted { inputs: None, .. }) => {
                *inputs = None;
            }
            (
                Event::TaskFailed { outcome, .. } | Event::UnitProbed { outcome, .. },
                Event::TaskFailed { outcome: Outcome { kind: None, .. }, .. }
                | Event::UnitProbed { outcome: Outcome { kind: None, .. }, .. },
            ) => outcome.kind = None,
            (Event::WantedChanged { change, .. }, Event::WantedChanged { change: recorded, .. })
                if recorded.settled.is_superset(&change.settled) =>
            {
                change.settled.clone_from(&recorded.settled);
            }
            _ => {}
        }
    }
    events
}

fn created(ahead: &[Event]) -> Redecided {
    let (Some(Event::ClusterRequested { at, order }), Some(Event::LayoutFound { nodes, .. })) =
        (ahead.first(), ahead.get(1))
    else {
        // Why there was no layout is known to the solver only.
        return Redecided::Unknown;
    };
    match create((**order).clone(), Ok(nodes.clone()), *at) {
        Ok(events) if ahead.starts_with(&events) => Redecided::Same(events.len()),
        decided => Redecided::Otherwise { decided: decided.map_err(|refusal| refusal.to_string()) },
    }
}

/// What may have been asked for.
fn commands(cluster: &Cluster, ahead: &[Event]) -> Vec<Command> {
    let Some(first) = ahead.first() else { return Vec::new() };
    let one = |command| vec![command];
    match first {
        Event::AttemptStarted { task, worker, .. } => {
            one(Command::StartAttempt { task: *task, worker: worker.clone() })
        }
        Event::TaskSucceeded { task, report, .. } => finished(cluster, *task, (**report).clone()),
        Event::TaskFailed { task, outcome, result, .. } => match attempt::why_not_taken(&outcome.stderr) {
            Some(why) if outcome.code == attempt::INTERNAL_FAILURE => {
                one(Command::TimeOutQueue { task: *task, why: why.to_owned() })
            }
            _ => finished(cluster, *task, TaskReport { result: result.clone(), ..failure(outcome) }),
        },
        Event::UnitProbed { task, outcome } => finished(cluster, *task, failure(outcome)),
        Event::JobFailed { by: Some(by), .. } | Event::FollowUpSet { by, .. } => stops(by),
        Event::JobPaused { by, .. } => one(Command::Pause { by: by.clone() }),
        Event::JobResumed { by, .. } => one(Command::Resume { by: by.clone() }),
        Event::LeaseWarned { .. } => one(Command::WarnOfExpiry),
        Event::LeaseChanged { expires, by, .. } => {
            one(Command::Prolong { expires: *expires, by: by.clone() })
        }
        Event::CareChanged { change, by, .. } => {
            one(Command::Care { changes: vec![change.clone()], by: by.clone() })
        }
        Event::ChildAdopted { .. } | Event::ChildReleased { .. } | Event::Inherited { .. } => of_kin(first),
        Event::TemplateReplaced { template, by, .. } => {
            one(Command::SyncTemplate { template: template.clone(), by: by.clone() })
        }
        Event::ConfigReplaced { config, restart, by, .. } => {
            one(Command::Configure { config: config.clone(), restart: *restart, by: by.clone() })
        }
        Event::ServicesAdded { definitions, by, .. } => one(Command::AddServices {
            services: definitions.keys().cloned().collect(),
            known: definitions.values().cloned().collect(),
            by: by.clone(),
        }),
        Event::ServicesWanted { by, .. } => changes(cluster, ahead, by),
        Event::JobPlanned { action: ClusterAction::ClusterDelete, by, .. } => {
            one(Command::Delete { now: false, by: by.clone() })
        }
        Event::JobPlanned { action: ClusterAction::ClusterProbe, by, .. } => {
            one(Command::Converge { mend: false, by: by.clone() })
        }
        Event::JobPlanned { action: ClusterAction::ClusterConverge, by, .. } => {
            let again = Command::Retry { by: by.clone() };
            vec![Command::Converge { mend: true, by: by.clone() }, again]
        }
        Event::JobPlanned { action: ClusterAction::RunErrand, by, tasks, .. } => errand(by, tasks),
        Event::JobPlanned { by, .. } => one(Command::Retry { by: by.clone() }),
        Event::ClusterRequested { .. }
        | Event::LayoutFound { .. }
        | Event::LayoutRefused { .. }
        | Event::WantedChanged { .. }
        | Event::ProviderFieldsGiven { .. }
        | Event::JobExtended { .. }
        | Event::JobFailed { by: None, .. }
        | Event::JobEnded { .. } => Vec::new(),
    }
}

/// What clusters that are built upon each other tell each other.
fn of_kin(event: &Event) -> Vec<Command> {
    match event {
        Event::ChildAdopted { child, name, needs, .. } => {
            vec![Command::Adopt { child: *child, name: name.clone(), needs: needs.clone() }]
        }
        Event::ChildReleased { child, .. } => vec![Command::Release { child: *child }],
        Event::Inherited { from, lineage, .. } => {
            vec![Command::Inherit { from: *from, lineage: lineage.clone() }]
        }
        _ => Vec::new(),
    }
}

/// The ways to stop a job.
fn stops(by: &str) -> Vec<Command> {
    let by = || by.to_owned();
    vec![
        Command::Abort { by: by() },
        Command::Cancel { undo: false, by: by() },
        Command::Cancel { undo: true, by: by() },
        Command::Delete { now: true, by: by() },
    ]
}

fn errand(by: &str, tasks: &[PlannedStep]) -> Vec<Command> {
    let named = tasks.first().and_then(|task| task.service.clone().zip(task.errand.clone()));
    let Some((service, errand)) = named else { return Vec::new() };
    let nodes = tasks.iter().map(|task| task.node.clone()).collect();
    vec![Command::RunErrand { service, errand, nodes, by: by.to_owned() }]
}

fn finished(cluster: &Cluster, task: u32, report: TaskReport) -> Vec<Command> {
    let found = cluster.latest_job().and_then(|job| job.tasks.get(&task));
    // Without an open attempt nothing can be finished, which the decider says.
    let attempt = found.and_then(|task| task.open_attempt()).map_or(0, |attempt| attempt.number);
    vec![Command::FinishAttempt { task, attempt, report }]
}

/// The report of a failure. What was cut off its output is gone; with something in its place it is cut the same again.
fn failure(outcome: &Outcome) -> TaskReport {
    let uncut = |text: &str| match text.strip_prefix(SNIPPED) {
        Some(rest) => format!("?{rest}"),
        None => text.to_owned(),
    };
    let mut report = TaskReport::failure(outcome.code, uncut(&outcome.stderr));
    report.stdout = uncut(&outcome.stdout);
    report.error_kind = outcome.kind;
    report
}

/// A change of services names all of them or one; which one, its events do not say.
fn changes(cluster: &Cluster, ahead: &[Event], by: &str) -> Vec<Command> {
    let action = ahead.iter().find_map(|event| match event {
        Event::JobPlanned { action, .. } => Some(*action),
        _ => None,
    });
    let change = match action {
        Some(ClusterAction::StartServices) => ServiceChange::Start,
        Some(ClusterAction::StopServices) => ServiceChange::Stop,
        Some(ClusterAction::RestartServices) => ServiceChange::Restart,
        _ => return Vec::new(),
    };
    let named = cluster.services.iter().cloned().map(Some);
    let all = std::iter::once(None).chain(named);
    all.map(|service| Command::ChangeServices { change, service, by: by.to_owned() }).collect()
}

/// When something happened, in ms since 1970.
const fn time(event: &Event) -> i64 {
    match event {
        Event::ClusterRequested { at, .. }
        | Event::LayoutFound { at, .. }
        | Event::LayoutRefused { at, .. }
        | Event::JobPlanned { at, .. }
        | Event::ServicesWanted { at, .. }
        | Event::ServicesAdded { at, .. }
        | Event::ConfigReplaced { at, .. }
        | Event::TemplateReplaced { at, .. }
        | Event::LeaseChanged { at, .. }
        | Event::LeaseWarned { at, .. }
        | Event::CareChanged { at, .. }
        | Event::ChildAdopted { at, .. }
        | Event::ChildReleased { at, .. }
        | Event::Inherited { at, .. }
        | Event::ProviderFieldsGiven { at, .. }
        | Event::JobPaused { at, .. }
        | Event::JobResumed { at, .. }
        | Event::AttemptStarted { at, .. }
        | Event::TaskSucceeded { at, .. }
        | Event::JobFailed { at, .. }
        | Event::JobExtended { at, .. }
        | Event::WantedChanged { at, .. }
        | Event::FollowUpSet { at, .. }
        | Event::JobEnded { at, .. } => *at,
        Event::TaskFailed { outcome, .. } | Event::UnitProbed { outcome, .. } => outcome.at,
    }
}
