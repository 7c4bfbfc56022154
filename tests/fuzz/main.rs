//! Anything at all is sent to every route: nothing makes the server fail, fall, or fall silent.
//!
//! What is sent is what clients send, with parts of it replaced; so most of it gets past the first look. `make test` sends a
//! bounded number; `make fuzz` goes on for `MINUTES` minutes.

// A panic is a test's way to fail, and printing its way to say how much was tried.
#![allow(clippy::unwrap_used, clippy::print_stderr)]

mod bodies;
#[path = "../api/catalog.rs"]
mod catalog;
#[path = "../lab/mod.rs"]
mod lab;
// The store's tests start their PostgreSQL the same way.
#[allow(dead_code, reason = "some of it is only for the store's tests")]
#[path = "../../schema/tests/store/postgres.rs"]
mod postgres;
mod requests;
mod routes;
mod target;

use std::time::{Duration, Instant};

use proptest::strategy::Strategy;
use proptest::test_runner::{Config, TestRunner};

use requests::{Request, raw_heads, request};
use routes::{Port, routes};
use target::Target;

/// Requests of a bounded run, per port.
const CASES: u32 = 500;

/// How many requests, and until when.
fn config() -> (Config, Instant) {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u32>().ok());
    let minutes = number("FUZZ_MINUTES").unwrap_or(0);
    let config = Config {
        cases: number("PROPTEST_CASES").unwrap_or(CASES),
        failure_persistence: None,
        max_shrink_iters: 200,
        ..Config::default()
    };
    (config, Instant::now() + Duration::from_secs(u64::from(minutes) * 60))
}

/// Tries as often as the settings say, and goes on until the time is over.
fn hold<T: std::fmt::Debug>(
    what: &str,
    target: &Target,
    strategy: &impl Strategy<Value = T>,
    holds: impl Fn(&T) -> Result<(), String>,
) {
    let (config, end) = config();
    let mut rounds = 0;
    loop {
        let mut runner = TestRunner::new(config.clone());
        let outcome =
            runner.run(strategy, |value| holds(&value).map_err(proptest::test_runner::TestCaseError::fail));
        if let Err(fault) = outcome {
            panic!("{what}: {fault}\n{}", target.last_words());
        }
        rounds += 1;
        if Instant::now() >= end {
            break;
        }
    }
    target.is_sound();
    eprintln!("{what}: {} requests", rounds * config.cases);
}

#[test]
fn no_request_of_people_makes_the_server_fail() {
    let target = Target::start(None);
    let strategy = request(routes(Port::User), target.names());
    hold("requests on the port for people", &target, &strategy, |request| {
        target.answers(Port::User, request)
    });
}

/// The two engines take different things amiss.
#[test]
fn no_request_makes_the_server_fail_on_postgresql() {
    let target = Target::start(Some(postgres::SHARED.new_database()));
    let strategy = request(routes(Port::User), target.names());
    hold("requests on PostgreSQL", &target, &strategy, |request| target.answers(Port::User, request));
}

#[test]
fn no_request_of_provisioners_makes_the_server_fail() {
    let target = Target::start(None);
    let strategy = request(routes(Port::Tasks), target.names());
    hold("requests on the port for provisioners", &target, &strategy, |request| {
        target.answers(Port::Tasks, request)
    });
}

#[test]
fn no_bytes_at_all_make_the_server_fail() {
    let target = Target::start(None);
    hold("bytes", &target, &raw_heads(), |bytes| target.survives(bytes));
}

/// Every route is among those that are tried.
#[test]
fn the_table_of_routes_is_read() {
    for (port, known) in [
        (Port::User, ["POST /v2/clusters", "PUT /v2/{kind}/{name}", "GET /v2/ready"]),
        (Port::Tasks, ["POST /v2/tasks/finish", "PUT /v2/provisioners/{id}", "GET /v2/ready"]),
    ] {
        let all: Vec<String> =
            routes(port).iter().map(|route| format!("{} {}", route.method, route.path)).collect();
        assert!(known.iter().all(|one| all.iter().any(|route| route == one)), "{all:?}");
    }
    let _: fn(&Request) -> String = Request::shown;
}
