//! Both sides killed at random moments, again and again, and everything ends as it would have.

use std::collections::BTreeSet;
use std::time::Duration;

use cooperage_plugins::simulated::Scenario;

use crate::lab::{Server, wait_for};
use crate::process::{LIMIT, Provisioner, create, server, until_brings, want_workers, workers};
use crate::random::Random;
use crate::world::World;

/// Clusters that are created and deleted.
const ROUNDS: u64 = 6;
/// Kills lie at most so far behind the line of the log they wait for.
const JITTER_MS: u64 = 80;

/// A server, its provisioners, and what becomes of them.
struct Survival {
    world: World,
    server: Server,
    provisioners: [Provisioner; 2],
    random: Random,
}

#[test]
fn killed_at_any_moment_neither_side_loses_or_repeats_anything() {
    let world = World::new();
    let server = server(&world, &[]);
    let client = server.admin();
    let provisioners = ["one", "two"].map(|id| Provisioner::start(id, &server, &world, 4));
    want_workers(&client, 8);
    ["one", "two"].into_iter().for_each(|id| until_brings(&client, id, 4));
    let mut survival = Survival { world, server, provisioners, random: Random::new() };
    (0..ROUNDS).for_each(|round| survival.round(round));
}

impl Survival {
    fn round(&mut self, round: u64) {
        let seed = self.random.next();
        self.world.play(&Scenario { seed, shortest_ms: 5, longest_ms: 250, faults: Vec::new() });
        let client = self.server.admin();
        let machines = 2 + u32::try_from(self.random.below(4)).unwrap();
        let id = create(&client, &format!("round{round}"), machines);
        self.kill_while_pending(&id);
        self.check(&id, "active");
        client.delete(&format!("/v2/clusters/{id}")).ok();
        self.kill_while_pending(&id);
        self.check(&id, "terminated");
        assert_eq!(self.world.machines(), BTreeSet::new(), "machines left by {id}");
    }

    /// Kills one or the other as soon as something has happened, until nothing is left to do.
    fn kill_while_pending(&mut self, id: &str) {
        for _ in 0..4 {
            let begun = self.world.log_length() + usize::try_from(self.random.below(12)).unwrap();
            let client = self.server.admin();
            let over = || client.get(&format!("/v2/clusters/{id}/status")).ok()["status"] != "pending";
            wait_for("the moment to kill", LIMIT, || {
                (self.world.log_length() >= begun || over()).then_some(())
            });
            if over() {
                return;
            }
            std::thread::sleep(Duration::from_millis(self.random.below(JITTER_MS)));
            let victim = usize::try_from(self.random.below(4)).unwrap();
            println!("{id}: kill {victim}");
            match self.provisioners.get_mut(victim) {
                Some(provisioner) => {
                    provisioner.kill();
                    provisioner.run();
                }
                None => {
                    self.server.kill();
                    self.server.run();
                }
            }
        }
    }

    fn check(&self, id: &str, expected: &str) {
        let client = self.server.admin();
        let status = wait_for("the end of the job", LIMIT, || {
            let status = client.get(&format!("/v2/clusters/{id}/status")).ok()["status"].clone();
            (status != "pending").then_some(status)
        });
        // First what was done, since it explains why a job does not end well.
        self.world.check_executions();
        assert_eq!(status, expected);
        let plans = client.get(&format!("/v2/clusters/{id}/plans")).ok();
        self.world.check_plans(plans.as_array().unwrap());
        let again: Vec<_> = workers(&client, id).into_iter().filter(|(_, attempt, _)| *attempt > 1).collect();
        assert_eq!(again, [], "nothing failed, so nothing is tried again");
    }
}
