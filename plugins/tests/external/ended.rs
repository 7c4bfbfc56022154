//! Programs end when nobody wants them any more, with everything they started.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use cooperage_plugins::external::{Swept, sweep};

use crate::rig::{Rig, create};

/// Processes with this word among their arguments.
fn with_argument(word: &str) -> usize {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let lines = processes.filter_map(|process| fs::read(process.path().join("cmdline")).ok());
    lines.filter(|line| line.split(|byte| *byte == 0).any(|argument| argument == word.as_bytes())).count()
}

async fn until(what: impl Fn() -> bool) {
    let begun = Instant::now();
    while !what() {
        assert!(begun.elapsed() < Duration::from_secs(20), "in vain");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

async fn cancelled(rig: &Rig, started: &Path) -> (cooperage_domain::task::TaskReport, Duration) {
    let cancel = async {
        until(|| started.exists()).await;
        rig.cancel.cancel();
        Instant::now()
    };
    let (report, since) = tokio::join!(rig.execute(create()), cancel);
    (report, since.elapsed())
}

#[tokio::test]
async fn a_cancelled_one_may_tidy_up_and_goes_with_all_it_started() {
    let rig = Rig::new();
    let open = rig.open();
    let (started, tidied) = (open.join("started"), open.join("tidied"));
    let script = format!(
        "#!/bin/sh\ntrap 'echo tidies >&2; touch {tidied}; exit 1' TERM\nsleep 86301 & setsid sleep 86302 &\ntouch {started}\nwait\n",
        tidied = tidied.display(),
        started = started.display()
    );
    let rig = rig.with_script(&script);
    let (report, took) = cancelled(&rig, &started).await;
    assert!(report.stderr.contains("Plugin acme: stopped"), "{report:?}");
    assert!(report.stderr.starts_with("tidies"), "it is heard to its end: {report:?}");
    assert!(tidied.exists() && took < Duration::from_secs(4), "{took:?}");
    until(|| with_argument("86301") + with_argument("86302") == 0).await;
}

#[tokio::test]
async fn one_that_does_not_listen_is_killed() {
    let rig = Rig::new();
    let started = rig.open().join("started");
    let script = format!("#!/bin/sh\ntrap '' TERM\ntouch {}\nwhile :; do sleep 1; done\n", started.display());
    let rig = rig.with_script(&script);
    let (report, took) = cancelled(&rig, &started).await;
    assert_eq!(report.status, 1);
    assert!(took > Duration::from_secs(4) && took < Duration::from_secs(20), "{took:?}");
}

#[tokio::test]
async fn what_it_leaves_running_is_ended_and_holds_nothing_up() {
    let rig = Rig::new().with_script("#!/bin/sh\nsleep 86303 &\necho '{\"result\": {}}'\n");
    let begun = Instant::now();
    let report = rig.execute(create()).await;
    assert_eq!(report.status, 0, "{report:?}");
    assert!(begun.elapsed() < Duration::from_secs(10));
    until(|| with_argument("86303") == 0).await;
}

#[tokio::test]
async fn one_that_nobody_waits_for_any_more_is_ended() {
    let rig = Rig::new();
    let started = rig.open().join("started");
    let rig = rig.with_script(&format!("#!/bin/sh\ntouch {}\nexec sleep 86304\n", started.display()));
    let wait = until(|| started.exists());
    tokio::select! {
        report = rig.execute(create()) => panic!("{report:?}"),
        () = wait => {}
    }
    until(|| with_argument("86304") == 0).await;
    assert_eq!(sweep(&rig.runs()).unwrap(), Swept::default(), "its folder went with it");
}
