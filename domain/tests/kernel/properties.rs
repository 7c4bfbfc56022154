//! What holds for every cluster and every sequence of commands.

use cooperage_domain::cluster::{
    Cluster, ClusterStatus, Command, Event, Limits, Told, apply, decide, due, replay,
};
use cooperage_domain::task::TaskReport;
use proptest::prelude::*;
use proptest::sample::Index;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Map;

use crate::driver::{Driver, Move, a_move, sketch};
use crate::sketch::Sketch;
use crate::world::World;

/// Through the text that is stored.
fn stored<T: Serialize + DeserializeOwned>(value: &T) -> T {
    serde_json::from_str(&serde_json::to_string(value).unwrap()).unwrap()
}

/// The cluster as it is found after a crash: a snapshot taken after so many events, and the events since.
fn recovered(events: &[Event], snapshot_at: usize) -> Cluster {
    let mut cluster = replay(&events[..snapshot_at]).map(|cluster| stored(&cluster));
    for event in &events[snapshot_at..] {
        apply(&mut cluster, &stored(event));
    }
    cluster.unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// The driver checks at every step: one task per node, predecessors first, nothing changed by what is refused, all
    /// bookkeeping, and no machine left behind.
    #[test]
    fn every_job_ends_and_a_replay_gives_the_state_that_was(
        sketch in sketch(),
        moves in prop::collection::vec(a_move(), 0..120),
        cut in any::<Index>(),
    ) {
        let mut driver = Driver::new(&sketch);
        for it in moves {
            driver.make(it);
        }
        let events: Vec<Event> = driver.world.journal.iter().flatten().cloned().collect();
        let cluster = &driver.world.cluster;
        prop_assert_eq!(&replay(&events).unwrap(), cluster);
        let again = recovered(&events, cut.index(events.len() + 1));
        prop_assert_eq!(due(&again), due(cluster));
        prop_assert_eq!(&again, cluster);
        prop_assert_eq!(cluster.sequence as usize, events.len());
        driver.settle();
    }

    /// What tasks hear of other nodes is kept up with what happens, and is what looking at all of them gives.
    #[test]
    fn tasks_are_told_of_nodes_as_they_are(sketch in sketch(), moves in prop::collection::vec(a_move(), 0..80)) {
        let mut driver = Driver::new(&sketch);
        for it in moves {
            driver.make(it);
        }
        let (mut state, mut told) = (None, Told::default());
        for events in &driver.world.journal {
            for event in events {
                apply(&mut state, event);
            }
            let Some(cluster) = &state else { continue };
            told.hear(cluster, events);
            let mut afresh = Told::default();
            prop_assert_eq!(told.of(cluster), afresh.of(cluster));
        }
    }

    /// Whatever happened, a cluster can be brought to nothing.
    #[test]
    fn every_cluster_can_be_deleted(sketch in sketch(), moves in prop::collection::vec(a_move(), 0..80)) {
        let mut driver = Driver::new(&sketch);
        for it in moves {
            driver.make(it);
        }
        driver.settle();
        driver.make(Move::Delete);
        driver.settle();
        prop_assert_eq!(driver.world.cluster.status, ClusterStatus::Terminated);
        prop_assert!(driver.outside.is_empty());
    }

    /// Whatever happened, a cluster that stopped half-way can be brought to where it was wanted once the trouble is over.
    #[test]
    fn whatever_stopped_half_way_can_be_completed(sketch in sketch(), moves in prop::collection::vec(a_move(), 0..80)) {
        let mut driver = Driver::new(&sketch);
        for it in moves.into_iter().filter(|it| !matches!(it, Move::Delete)) {
            driver.make(it);
        }
        driver.settle();
        driver.make(Move::Retry);
        driver.settle();
        let status = driver.world.cluster.status;
        prop_assert!(matches!(status, ClusterStatus::Active | ClusterStatus::Terminated), "{}", status);
    }

    /// Numbers at the edges of what they can be break nothing.
    #[test]
    fn no_command_panics(
        attempts in prop_oneof![Just(0_u32), Just(1), Just(u32::MAX)],
        times in prop::array::uniform3(prop_oneof![Just(i64::MIN), Just(-1), Just(0), Just(i64::MAX)]),
        now in prop_oneof![Just(i64::MIN), Just(0), Just(i64::MAX)],
        code in prop_oneof![Just(0), any::<i64>()],
    ) {
        let limits = Limits {
            max_attempts: attempts,
            task_timeout: times[0],
            retry_delay: times[1],
            max_retry_delay: times[2],
            max_log_length: 0,
            queue_timeout: times[0],
            ..Limits::default()
        };
        let mut world = World::new(&Sketch { limits, ..Sketch::alike("start", 2) });
        world.now = now;
        for (task, attempt) in [(1, 1), (2, 1), (0, 0), (u32::MAX, u32::MAX)] {
            for command in [
                Command::StartAttempt { task, worker: String::new() },
                Command::TimeOutAttempt { task, attempt },
                Command::TimeOutQueue { task, why: String::new() },
                Command::FinishAttempt { task, attempt, report: TaskReport::failure(code, "") },
                Command::Abort { by: String::new() },
                Command::Retry { by: String::new() },
                Command::Pause { by: String::new() },
                Command::Resume { by: String::new() },
                Command::Prolong { expires: now, by: String::new() },
                Command::Configure { config: Map::new(), restart: true, by: String::new() },
                Command::Delete { now: false, by: String::new() },
            ] {
                let _ = world.tell(command);
                let _ = due(&world.cluster);
            }
        }
    }

    /// Deciding does not depend on anything but its input.
    #[test]
    fn decisions_are_the_same_for_the_same_input(sketch in sketch()) {
        let (one, other) = (World::new(&sketch), World::new(&sketch));
        prop_assert_eq!(&one.journal, &other.journal);
        let abort = || Command::Abort { by: "ann".into() };
        prop_assert_eq!(decide(&one.cluster, abort(), 5), decide(&stored(&other.cluster), abort(), 5));
    }
}
