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
    for subject in ["schedule", "solver", "worker", "start"] {
        assert!(report[subject].is_object(), "{subject} is missing: {report}");
    }
    let figures = report["figures"].as_array().unwrap();
    assert!(figures.len() > 10, "{report}");
    for figure in figures {
        assert!(figure["measured"].as_f64().is_some_and(|measured| measured > 0.0), "{figure}");
    }
    for run in report["worker"]["runs"].as_array().unwrap() {
        assert!(run["tasksPerSecond"].as_f64().is_some_and(|rate| rate > 0.0), "{run}");
    }
    for recovery in report["start"]["recoveries"].as_array().unwrap() {
        let ms = |field: &str| recovery[field].as_f64().unwrap();
        assert!(ms("firstTaskMs") > 0.0 && ms("allMs") >= ms("firstTaskMs"), "{recovery}");
    }
    for size in report["schedule"]["sizes"].as_array().unwrap() {
        let ratio = |field: &str| size[field].as_f64().unwrap();
        // Nothing beats a bound, and the closer one is no lower.
        assert!(
            ratio("meanRatioToNodes") >= 1.0 && ratio("meanRatio") >= ratio("meanRatioToNodes"),
            "{size}"
        );
    }
}
