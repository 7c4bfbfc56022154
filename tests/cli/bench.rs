//! Whether what is measured can be measured: how fast it is depends on the machine, and nobody asks that here.

use std::process::{Command, Stdio};

use serde_json::Value;

/// What `cooperage bench --quick` writes for programs.
fn report() -> Value {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cooperage"));
    let ran = command.args(["bench", "--quick", "-o", "json"]).stdin(Stdio::null()).output().unwrap();
    let said = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{said}");
    serde_json::from_slice(&ran.stdout).unwrap()
}

#[test]
fn every_part_is_measured_in_short() {
    let report = report();
    for subject in ["schedule", "solver", "journal", "worker", "ssh", "start", "api"] {
        assert!(report[subject].is_object(), "{subject} is missing: {report}");
    }
    let figures = report["figures"].as_array().unwrap();
    assert!(figures.len() > 10, "{report}");
    for figure in figures {
        assert!(figure["measured"].as_f64().is_some_and(|measured| measured > 0.0), "{figure}");
    }
    for followed in report["api"]["events"].as_array().unwrap() {
        let count = |field: &str| followed[field].as_u64().unwrap();
        assert_eq!((count("missing"), count("repeated")), (0, 0), "{followed}");
        assert!(count("events") > 50 && count("returns") > 0, "{followed}");
        assert_eq!(count("delivered"), count("events") * count("followers"), "{followed}");
    }
    for size in report["schedule"]["sizes"].as_array().unwrap() {
        let ratio = |field: &str| size[field].as_f64().unwrap();
        // Nothing beats a bound, and the closer one is no lower.
        assert!(
            ratio("meanRatioToNodes") >= 1.0 && ratio("meanRatio") >= ratio("meanRatioToNodes"),
            "{size}"
        );
    }
    for run in report["worker"]["runs"].as_array().unwrap() {
        assert!(run["tasksPerSecond"].as_f64().is_some_and(|rate| rate > 0.0), "{run}");
    }
    for recovery in report["start"]["recoveries"].as_array().unwrap() {
        let ms = |field: &str| recovery[field].as_f64().unwrap();
        assert!(ms("firstTaskMs") > 0.0 && ms("allMs") >= ms("firstTaskMs"), "{recovery}");
    }
    over_ssh(&report["ssh"]);
}

/// Everything, or why not: a machine without an SSH server, or where nobody may mount, is no failure.
fn over_ssh(ssh: &Value) {
    if let Some(reason) = ssh["leftOut"].as_str() {
        assert!(reason.contains("sshd") || reason.contains("SSH") || reason.contains("root"), "{reason}");
        return;
    }
    assert!(ssh["tasksPerSecond"].as_f64().unwrap() > 0.0, "{ssh}");
    assert_eq!(ssh["idle"]["sessions"], 4, "{ssh}");
    assert!(ssh["libraries"][0]["roundTripsPerSecond"].as_f64().unwrap() > 0.0, "{ssh}");
    let peers = ssh["peers"].as_array().unwrap();
    assert!(peers.iter().any(|peer| peer["name"] == "OpenSSH" && peer["tasksPerSecond"].is_f64()), "{ssh}");
    for peer in peers {
        assert!(peer["tasksPerSecond"].is_f64() != peer["leftOut"].is_string(), "{peer}");
    }
}
