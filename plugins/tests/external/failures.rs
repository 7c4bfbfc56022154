//! Programs that do not keep to what was agreed: each is a failure that names the plugin and says what happened.

use std::time::{Duration, Instant};

use cooperage_plugins::Stream;

use crate::rig::{LINE, Rig, create, order};

#[tokio::test]
async fn every_way_to_fail_is_told_by_name() {
    let long = format!("#!/bin/sh\nhead -c {} /dev/zero | tr '\\0' x; sleep 60\n", LINE * 3);
    let endless = "#!/bin/sh\ncat /dev/zero\n";
    for (script, words) in [
        ("#!/bin/sh\necho oops >&2; exit 3\n", "Plugin acme ended with exit status 3 and without a result"),
        ("#!/bin/sh\nexit 0\n", "Plugin acme ended without a result"),
        ("#!/bin/sh\nkill -SEGV $$\n", "Plugin acme ended with signal 11"),
        ("#!/bin/sh\necho Hello; sleep 60\n", "Plugin acme: line 1 of its standard output is no JSON object"),
        (
            "#!/bin/sh\necho '{\"result\": {}}'; exit 1\n",
            "Plugin acme reported success and ended with exit status 1",
        ),
        (
            "#!/bin/sh\necho '{\"result\": {}}'; echo '{\"result\": {}}'\n",
            "line 2 of its standard output is a second result",
        ),
        (long.as_str(), "Plugin acme: line 1 of its standard output is longer than 4096 bytes"),
        (endless, "longer than 4096 bytes"),
        ("#!/no/such/program\n", "cannot be run as"),
    ] {
        let rig = Rig::new().with_script(script);
        let begun = Instant::now();
        let report = rig.execute(create()).await;
        assert!(report.status != 0 && report.stderr.contains(words), "{words}: {report:?}");
        assert!(begun.elapsed() < Duration::from_secs(20), "{words}: {:?}", begun.elapsed());
        let progress = rig.noted.of(Stream::Progress);
        assert!(progress.iter().any(|line| line.contains(words)), "{words}: {progress:?}");
    }
}

#[tokio::test]
async fn what_it_prints_as_errors_comes_with_its_failure() {
    let rig = Rig::new()
        .with_script("#!/bin/sh\necho '{\"log\": \"did this\"}'; echo 'no such zone' >&2; exit 3\n");
    let report = rig.execute(create()).await;
    assert_eq!(report.status, 1, "an exit status says nothing of what was made");
    assert!(report.stderr.starts_with("no such zone\n") && report.stdout == "did this\n", "{report:?}");
    assert_eq!(rig.noted.of(Stream::Stderr), ["no such zone"]);
    assert_eq!(rig.noted.of(Stream::Stdout), ["did this"]);
}

#[tokio::test]
async fn one_that_does_not_read_its_order_does_not_hold_us_up() {
    let rig =
        Rig::new().with_script("#!/bin/sh\necho '{\"result\": {\"result\": {\"providerid\": \"m\"}}}'\n");
    let large = serde_json::json!({"cluster": {"text": "x".repeat(2_000_000)}});
    let report = rig.execute(order("CREATE", "n", "acme", &serde_json::json!({}), &large)).await;
    assert_eq!((report.status, &report.result["providerid"]), (0, &"m".into()), "{report:?}");
}

#[tokio::test]
async fn secrets_it_was_given_do_not_come_back() {
    let leak = "#!/bin/sh\ncat >&2; echo '{\"log\": \"token hunter2-secret\"}'\n\
        echo '{\"result\": {\"status\": 7, \"message\": \"hunter2-secret was refused\"}}'\n";
    let rig = Rig::new().with_script(leak);
    let report = rig.execute(create()).await;
    assert!(report.stderr.contains("******** was refused"), "{report:?}");
    assert!(!format!("{report:?}").contains("hunter2"), "{report:?}");
    for stream in [Stream::Stdout, Stream::Stderr, Stream::Progress] {
        let lines = rig.noted.of(stream);
        assert!(!lines.is_empty() && !lines.iter().any(|line| line.contains("hunter2")), "{lines:?}");
    }
}
