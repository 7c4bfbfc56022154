//! The web interface as a person uses it: a browser, this server, machines of this host. The steps are in `web/tests/`.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::PoisonError;
use std::time::{Duration, Instant};

use crate::machines::{Machines, NETWORK};

/// Longest time that all steps may take together.
const LIMIT: Duration = Duration::from_secs(600);
/// How long a server that was killed is away.
const AWAY: Duration = Duration::from_secs(3);
const PAUSE: Duration = Duration::from_millis(100);

/// What is missing for it.
fn missing() -> Option<&'static str> {
    if env!("COOPERAGE_WEB") != "built" {
        return Some("the web interface was left out of this build (make web)");
    }
    if !Path::new("web/node_modules").exists() {
        return Some("what it is tried with is not installed (make web)");
    }
    let chromium = std::env::var("COOPERAGE_CHROMIUM").unwrap_or_else(|_| "/usr/bin/chromium".to_owned());
    (!Path::new(&chromium).exists()).then_some("there is no Chromium (apt-get install chromium)")
}

#[test]
fn a_person_makes_watches_grows_and_deletes_a_cluster_in_a_browser() {
    if let Some(missing) = missing() {
        println!("NOT TESTED: the web interface in a browser: {missing}");
        return;
    }
    let _alone = NETWORK.write().unwrap_or_else(PoisonError::into_inner);
    let Some(mut machines) = Machines::start_alone(&["base", "web"], &[]) else {
        println!("NOT TESTED: the web interface in a browser, since that makes machines");
        return;
    };
    let kill = machines.server.folder().join("kill");
    let token = std::fs::read_to_string(machines.server.data_dir().join("admin.token")).unwrap();
    let mut steps = Command::new("npm")
        .args(["run", "--silent", "browser"])
        .current_dir("web")
        .env("COOPERAGE_BASE", machines.server.base())
        .env("COOPERAGE_TOKEN", token.trim())
        .env("COOPERAGE_KILL_FILE", &kill)
        .stdin(Stdio::null())
        .spawn()
        .unwrap();
    let begun = Instant::now();
    let status = loop {
        if let Some(status) = steps.try_wait().unwrap() {
            break status;
        }
        if kill.exists() {
            machines.server.kill();
            std::thread::sleep(AWAY);
            std::fs::remove_file(&kill).unwrap();
            machines.server.run();
        }
        if begun.elapsed() > LIMIT {
            steps.kill().unwrap();
        }
        std::thread::sleep(PAUSE);
    };
    assert!(status.success(), "{status}");
    assert_eq!(machines.nodes(), Vec::<String>::new());
}
