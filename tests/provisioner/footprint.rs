//! What a worker slot costs: the difference between a provisioner with many slots and one with few, divided by the slots.

use std::time::Duration;

use cooperage_plugins::simulated::Scenario;
use serde_json::json;

use crate::lab::{Client, Server, wait_for};
use crate::process::{LIMIT, Provisioner, end_runs, server, until_brings, want_workers};
use crate::world::World;

const FEW: u32 = 10;
const MANY: u32 = 1_000;
/// Generous: what it must never come near to.
const MOST_PER_SLOT: u64 = 64 * 1024;

/// What a process holds.
struct Held {
    /// Bytes of memory of its own.
    own: u64,
    /// Bytes in memory in all, the program itself included.
    resident: u64,
    threads: u64,
}

fn held(process: u32) -> Held {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let number = |name: &str| -> u64 {
        let line = status.lines().find(|line| line.starts_with(name)).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    };
    let (own, resident) = (number("RssAnon:") * 1024, number("VmRSS:") * 1024);
    Held { own, resident, threads: number("Threads:") }
}

/// Once it does not grow any more.
fn settled(process: u32) -> Held {
    let mut before = 0;
    wait_for("memory that stays as it is", LIMIT, || {
        std::thread::sleep(Duration::from_millis(500));
        let now = held(process);
        let still = now.own.abs_diff(before) < 64 * 1024;
        before = now.own;
        still.then_some(now)
    })
}

fn brings(server: &Server, world: &World, id: &str, capacity: u32) -> Provisioner {
    let one = Provisioner::start(id, server, world, capacity);
    want_workers(&server.admin(), capacity);
    until_brings(&server.admin(), id, capacity.into());
    one
}

/// Bytes of one slot.
fn per_slot(what: &str, few: &Held, many: &Held) -> u64 {
    let kib = |held: &Held| format!("{} KiB ({} KiB resident)", held.own / 1024, held.resident / 1024);
    let each = many.own.saturating_sub(few.own) / u64::from(MANY - FEW);
    println!("{what}: {} with {FEW}, {} with {MANY}: {each} bytes each", kib(few), kib(many));
    each
}

#[test]
fn a_slot_costs_next_to_nothing() {
    // Clusters of both servers have the same numbers.
    let (one, other) = (World::new(), World::new());
    let (small, large) = (server(&one, &[]), server(&other, &[]));
    let few = brings(&small, &one, "few", FEW);
    let many = brings(&large, &other, "many", MANY);
    let (idle_few, idle_many) = (settled(few.process()), settled(many.process()));
    let idle = per_slot("idle slots", &idle_few, &idle_many);
    assert_eq!(idle_few.threads, idle_many.threads, "slots are no threads");

    for world in [&one, &other] {
        world.play(&Scenario { shortest_ms: 3_600_000, longest_ms: 3_600_000, ..Scenario::default() });
    }
    let busy_few = busy(&small.admin(), &few, FEW);
    let busy_many = busy(&large.admin(), &many, MANY);
    let busy = per_slot("running tasks", &busy_few, &busy_many);
    // What was begun outlives everybody, as it should; nobody needs it here. First go those who would begin it again, and what
    // is only just beginning is found by a later look.
    drop((few, many, small, large));
    for _ in 0..5 {
        [&one, &other].into_iter().for_each(|world| end_runs(world.path()));
        std::thread::sleep(Duration::from_millis(200));
    }
    assert!(idle < MOST_PER_SLOT && busy < MOST_PER_SLOT, "{idle} and {busy} bytes per slot");
}

/// Has it carry out so many tasks at once, in clusters of ten machines.
fn busy(client: &Client, provisioner: &Provisioner, tasks: u32) -> Held {
    for number in 0..tasks / 10 {
        client.create(&json!({"name": format!("c{number}"), "clusterTemplate": "sim", "numMachines": 10}));
    }
    provisioner.until_logged("task taken", usize::try_from(tasks).unwrap());
    settled(provisioner.process())
}
