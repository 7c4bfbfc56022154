//! What is shown of actors and messages. Plain data and pure functions.

use std::collections::{BTreeSet, HashMap};

use cooperage_actors::console::{
    ActorSample, ActorState, Cause, Fault, Followed, Histogram, Latency, Outcome, bound_us,
};
use serde::Serialize;

use super::names::Names;

/// Actors that are shown at once if nobody says otherwise, and at most.
const SHOWN: usize = 1000;
const MOST_SHOWN: usize = 10_000;

/// Which actors somebody wants to see.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    /// At and below this path.
    pub under: String,
    /// Whose path, kind or name has this text, in lower case.
    filter: String,
    limit: usize,
}

impl Wanted {
    /// What is not said is everything.
    pub fn new(under: Option<String>, filter: Option<String>, limit: Option<usize>) -> Self {
        Self {
            under: super::absolute(&under.unwrap_or_default()),
            filter: filter.unwrap_or_default().to_lowercase(),
            limit: limit.unwrap_or(SHOWN).clamp(1, MOST_SHOWN),
        }
    }

    fn matches(&self, actor: &Actor) -> bool {
        let words = [actor.path.as_str(), actor.kind, actor.name.as_deref().unwrap_or_default()];
        self.filter.is_empty() || words.iter().any(|word| word.to_lowercase().contains(&self.filter))
    }
}

/// One actor, as it is described by `LiveActor`.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Actor {
    path: String,
    /// The path of what it belongs to; `null`: the server.
    parent: Option<String>,
    /// What people call the cluster or the node.
    name: Option<String>,
    kind: &'static str,
    state: &'static str,
    waiting: usize,
    per_second: f64,
    busy: f64,
    handled: u64,
    restarts: u32,
    last_error: Option<String>,
    fault: Option<&'static str>,
    restartable: bool,
}

/// An actor's path without its last two words: those of a node are its cluster's, and the rest belongs to the server.
fn parent(path: &str) -> Option<String> {
    path.find("/nodes/").map(|end| path[..end].to_owned())
}

impl Actor {
    fn new(sample: &ActorSample, before: Option<&ActorSample>) -> Self {
        let (mut per_second, mut busy) = (0.0, 0.0);
        if let Some(before) = before {
            let ns = sample.at_ns.saturating_sub(before.at_ns).max(1) as f64;
            per_second = (sample.handled.saturating_sub(before.handled)) as f64 * 1e9 / ns;
            busy = (sample.busy_ns.saturating_sub(before.busy_ns) as f64 / ns).min(1.0);
        }
        Self {
            path: sample.path.to_string(),
            parent: parent(&sample.path),
            name: None,
            kind: sample.kind,
            state: match sample.state {
                ActorState::Running => "running",
                ActorState::Paused => "paused",
                ActorState::Stopping => "stopping",
            },
            waiting: sample.waiting,
            per_second: (per_second * 10.0).round() / 10.0,
            busy: (busy * 1000.0).round() / 1000.0,
            handled: sample.handled,
            restarts: sample.restarts,
            last_error: sample.last_error.clone(),
            fault: sample.fault.map(|fault| match fault {
                Fault::Drop => "drop",
                Fault::Delay(_) => "delay",
                Fault::Crash => "crash",
            }),
            restartable: sample.is_started_again,
        }
    }

    /// A cluster that rests.
    fn passivated(path: &str) -> Self {
        Self {
            path: path.to_owned(),
            parent: None,
            name: None,
            kind: "Cluster",
            state: "passivated",
            waiting: 0,
            per_second: 0.0,
            busy: 0.0,
            handled: 0,
            restarts: 0,
            last_error: None,
            fault: None,
            restartable: false,
        }
    }

    /// With what people call it.
    fn called(mut self, names: &Names) -> Self {
        self.name = names.of(&self.path).map(str::to_owned);
        self
    }

    /// Where it lives.
    pub fn path(&self) -> &str {
        &self.path
    }
}

/// What actors did since somebody looked last.
#[derive(Debug, Default)]
pub struct Rates(HashMap<u64, ActorSample>);

impl Rates {
    /// As they are now, with what they did since this was asked last.
    pub fn of(&mut self, now: Vec<ActorSample>) -> Vec<Actor> {
        let seen = now.iter().map(|sample| Actor::new(sample, self.0.get(&sample.number))).collect();
        self.0 = now.into_iter().map(|sample| (sample.number, sample)).collect();
        seen
    }
}

/// The actors that are wanted.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Tree {
    actors: Vec<Actor>,
    /// How many there are that match, those that were cut off too.
    total: usize,
    /// How many live.
    live: usize,
    /// How many messages are handled in a second, all together.
    per_second: f64,
    /// Whether faults may be injected.
    faults: bool,
}

/// Live actors and clusters at rest, by path.
pub fn tree(seen: &[Actor], at_rest: &[String], names: &Names, wanted: &Wanted, faults: bool) -> Tree {
    let live: BTreeSet<&str> = seen.iter().map(|actor| actor.path.as_str()).collect();
    let under = if wanted.under == "/" { "" } else { wanted.under.as_str() };
    let resting = at_rest.iter().filter(|path| {
        let is_below = path.strip_prefix(under).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        is_below && !live.contains(path.as_str())
    });
    let mut actors: Vec<Actor> = seen.to_vec();
    actors.extend(resting.map(|path| Actor::passivated(path)));
    let mut actors: Vec<Actor> = actors.into_iter().map(|actor| actor.called(names)).collect();
    actors.retain(|actor| wanted.matches(actor));
    actors.sort_by(|a, b| a.path.cmp(&b.path));
    let total = actors.len();
    actors.truncate(wanted.limit);
    let per_second = (seen.iter().map(|actor| actor.per_second).sum::<f64>() * 10.0).round() / 10.0;
    Tree { actors, total, live: seen.len(), per_second, faults }
}

/// The actor at a path; of several, one of which is about to be gone, the newest.
pub fn newest_at<'a>(seen: &'a [Actor], path: &str) -> Option<&'a Actor> {
    seen.iter().rfind(|actor| actor.path == path)
}

/// How long something took, in µs.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Times {
    count: u64,
    mean_us: u64,
    median_us: u64,
    p95_us: u64,
    longest_us: u64,
    /// How many took less than so many µs, and not less than what stands before.
    steps: Vec<Step>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Step {
    below_us: u64,
    count: u64,
}

impl Times {
    fn new(times: &Histogram) -> Self {
        let step = |(index, count): (usize, &u64)| Step { below_us: bound_us(index), count: *count };
        Self {
            count: times.count(),
            mean_us: times.mean_us(),
            median_us: times.percentile_us(50),
            p95_us: times.percentile_us(95),
            longest_us: times.longest_us(),
            steps: times.counts().iter().enumerate().map(step).collect(),
        }
    }
}

#[derive(Debug, Serialize)]
struct Pair {
    /// What was being handled when it was sent.
    from: Option<&'static str>,
    to: &'static str,
    waited: Times,
    taken: Times,
}

/// One actor from close by.
#[derive(Debug, Serialize)]
pub struct Detail {
    actor: Actor,
    latencies: Vec<Pair>,
}

impl Detail {
    /// With what was measured.
    pub fn new(actor: Actor, names: &Names, latencies: &[Latency]) -> Self {
        let pair = |it: &Latency| Pair {
            from: it.from,
            to: it.to,
            waited: Times::new(&it.waited),
            taken: Times::new(&it.taken),
        };
        Self { actor: actor.called(names), latencies: latencies.iter().map(pair).collect() }
    }

    /// Of a cluster that rests.
    pub fn passivated(path: &str, names: &Names) -> Self {
        Self { actor: Actor::passivated(path).called(names), latencies: Vec::new() }
    }
}

/// A message that was followed.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Message {
    /// When it was told of, in ms since 1970.
    at: i64,
    to: String,
    from: Option<String>,
    during: Option<&'static str>,
    kind: &'static str,
    bytes: usize,
    about: Option<String>,
    correlation: Option<String>,
    waited_us: Option<u64>,
    taken_us: u64,
    answered_us: Option<u64>,
    delayed: bool,
    outcome: &'static str,
}

impl Message {
    /// Told at this time.
    pub fn new(message: &Followed, at: i64) -> Self {
        Self {
            at,
            to: message.to.to_string(),
            from: message.from.as_ref().map(ToString::to_string),
            during: message.during,
            kind: message.kind,
            bytes: message.bytes,
            about: message.subject.clone(),
            correlation: message.cause.as_ref().map(Cause::id).map(str::to_owned),
            waited_us: message.waited_ns.map(|ns| ns / 1000),
            taken_us: message.taken_ns / 1000,
            answered_us: message.answered_ns.map(|ns| ns / 1000),
            delayed: message.delayed,
            outcome: match message.outcome {
                Outcome::Handled => "handled",
                Outcome::Answered => "answered",
                Outcome::Refused => "refused",
                Outcome::Unanswered => "unanswered",
                Outcome::Abandoned => "abandoned",
                Outcome::Broke => "broke",
                Outcome::Dropped => "dropped",
                Outcome::Crashed => "crashed",
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(path: &str, number: u64, handled: u64, busy_ns: u64, at_ns: u64) -> ActorSample {
        ActorSample {
            path: path.into(),
            number,
            kind: if path.contains("/nodes/") { "Node" } else { "Cluster" },
            state: ActorState::Running,
            waiting: 0,
            handled,
            busy_ns,
            restarts: 0,
            last_error: None,
            fault: None,
            is_started_again: true,
            at_ns,
        }
    }

    #[test]
    fn rates_are_of_the_time_between_two_looks_at_the_same_actor() {
        let mut rates = Rates::default();
        let first = rates.of(vec![sample("/clusters/1", 7, 100, 0, 0)]);
        assert_eq!((first[0].per_second, first[0].busy), (0.0, 0.0), "nothing is known yet");
        let half = 500_000_000;
        let then =
            vec![sample("/clusters/1", 7, 150, half / 4, half), sample("/clusters/1", 8, 900, half, half)];
        let then = rates.of(then);
        assert_eq!((then[0].per_second, then[0].busy), (100.0, 0.25));
        assert_eq!(then[1].per_second, 0.0, "its successor is another actor");
    }

    #[test]
    fn the_tree_has_live_actors_and_clusters_at_rest_once_each() {
        let mut rates = Rates::default();
        let live = ["/clusters/1", "/clusters/1/nodes/a", "/clusters/2"];
        let seen = live.iter().zip(1..).map(|(path, number)| sample(path, number, 0, 0, 0)).collect();
        let seen = rates.of(seen);
        let names = Names::from([("/clusters/2", "shop"), ("/clusters/3", "Forum")]);
        let at_rest = ["/clusters/2".to_owned(), "/clusters/3".to_owned()];
        let paths = |wanted: &Wanted| {
            let tree = tree(&seen, &at_rest, &names, wanted, false);
            let paths: Vec<_> = tree.actors.iter().map(|it| format!("{} {}", it.path, it.state)).collect();
            (paths, tree.total)
        };
        let all = Wanted::new(None, None, None);
        let expected = [
            "/clusters/1 running",
            "/clusters/1/nodes/a running",
            "/clusters/2 running",
            "/clusters/3 passivated",
        ];
        assert_eq!(paths(&all).0, expected);
        assert_eq!(paths(&Wanted::new(None, Some("NODE".to_owned()), None)).0, expected[1..2]);
        let forum = paths(&Wanted::new(None, Some("forum".to_owned()), None)).0;
        assert_eq!(forum, expected[3..], "found by its name");
        let cut = paths(&Wanted::new(Some("clusters/".to_owned()), None, Some(1)));
        assert_eq!((cut.0.len(), cut.1), (1, 4), "how many there are is told");
        assert_eq!(parent("/clusters/1/nodes/a").as_deref(), Some("/clusters/1"));
        assert_eq!(
            paths(&Wanted::new(Some("/clusters/3".to_owned()), None, None)).0[3..],
            ["/clusters/3 passivated"]
        );
    }
}
