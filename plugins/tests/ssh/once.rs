//! Commands that are run once, leave nothing behind, and end in time: probes.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use cooperage_plugins::ssh::{
    Backend, Finished, PoolLimits, RunFile, SshError, SshPool, run_once, transport,
};
use tokio_util::sync::CancellationToken;

use crate::sshd::Sshd;
use crate::{over_every_backend, until};

over_every_backend! {
    it_says_how_it_ended_and_leaves_nothing
    one_that_takes_too_long_is_ended_and_told_from_a_machine_that_is_away
    a_cancel_ends_it_at_once_and_the_next_one_runs
}

const LIMIT: Duration = Duration::from_secs(5);

struct Once {
    server: Sshd,
    pool: SshPool,
    cancel: CancellationToken,
}

impl Once {
    fn new(backend: Backend) -> Self {
        let pool = SshPool::new(transport(backend).unwrap(), PoolLimits::default());
        Self { server: Sshd::start(), pool, cancel: CancellationToken::new() }
    }

    async fn run(&self, command: &str, files: &[RunFile], limit: Duration) -> Result<Finished, SshError> {
        run_once(&self.pool, &self.server.target(), (command, files), limit, &(), &self.cancel).await
    }
}

async fn it_says_how_it_ended_and_leaves_nothing(backend: Backend) {
    let once = Once::new(backend);
    let file = |name: &str, content: &str, executable| RunFile {
        name: name.to_owned(),
        content: content.as_bytes().to_vec(),
        executable,
    };
    let files = [
        file("params.sh", "export COLOUR='deep blue'\n", false),
        file("look", "#!/bin/sh\necho \"$COLOUR $1\"\npwd\nstat -c %a .\nexit 3\n", true),
    ];
    for _ in 0..2 {
        let finished = once.run(". ./params.sh\nexec ./look 'a  b'", &files, LIMIT).await.unwrap();
        let said: Vec<&str> = finished.stdout_tail.lines().collect();
        assert_eq!((finished.status.0, said[0], said[2]), (3, "deep blue a  b", "700"), "{finished:?}");
        assert!(!PathBuf::from(said[1]).exists(), "its folder is left");
    }
    assert_eq!(once.server.connections(), 1, "the second one takes the connection of the first");
    assert!(once.run("true", &[], LIMIT).await.unwrap().status.success());
    let odd = [file("a b; reboot", "", false)];
    assert!(matches!(once.run("true", &odd, LIMIT).await, Err(SshError::BadName { .. })));
}

async fn one_that_takes_too_long_is_ended_and_told_from_a_machine_that_is_away(backend: Backend) {
    let once = Once::new(backend);
    let begun = Instant::now();
    let finished = once.run("echo begun; sleep 30", &[], Duration::from_secs(1)).await.unwrap();
    assert_eq!((finished.status.0, finished.stdout_tail.as_str()), (124, "begun\n"));
    assert!(begun.elapsed() < Duration::from_secs(4), "{:?}", begun.elapsed());
    let mut away = once.server.target();
    away.port = crate::sshd::free_port();
    let fault = run_once(&once.pool, &away, ("true", &[]), LIMIT, &(), &once.cancel).await.unwrap_err();
    assert!(matches!(fault, SshError::Refused { .. }), "{fault}");
}

async fn a_cancel_ends_it_at_once_and_the_next_one_runs(backend: Backend) {
    let once = Once::new(backend);
    let mark = once.server.path("mark");
    let command = format!("touch {}; sleep 30", mark.display());
    let cancel = async {
        until("it runs", || mark.exists()).await;
        once.cancel.cancel();
        Instant::now()
    };
    let (ended, since) = tokio::join!(once.run(&command, &[], LIMIT), cancel);
    assert!(matches!(ended, Err(SshError::Cancelled { .. })), "{ended:?}");
    assert!(since.elapsed() < Duration::from_secs(2), "{:?}", since.elapsed());
    let once = Once { cancel: CancellationToken::new(), ..once };
    assert!(once.run("true", &[], LIMIT).await.unwrap().status.success());
}
