//! Machines with Perl: executions start no process but their own, and whatever becomes of the executor nothing is lost.

use std::fs;
use std::time::Duration;

use cooperage_plugins::ssh::{
    Backend, Command, Execution, Finished, PoolLimits, Shortcut, SshError, SshPool, execute, transport,
};
use tokio_util::sync::CancellationToken;

use crate::durable::alive;
use crate::sshd::Sshd;
use crate::{over_every_backend, until};

over_every_backend! {
    a_program_needs_no_shell_where_preparation_would_change_nothing
    where_it_does_everything_there_is_no_shell
    what_follows_a_killed_executor_is_done_by_the_shell
    an_executor_that_was_followed_from_elsewhere_ends
    a_cancel_spares_nothing_that_an_executor_began
}

/// Prints who started it, its umask, whether it leads its group, and more.
const PROBE: &str = "#!/bin/sh\nread -r by </proc/$PPID/comm; read -r line </proc/$$/stat; set -- ${line##*) } \"$@\"\n\
                     leads=$(($3 == $$)); shift 50; echo \"$by $leads $(umask) $HERE $PWD $*\"\n";

struct Machine {
    server: Sshd,
    pool: SshPool,
}

impl Machine {
    fn new(backend: Backend) -> Self {
        let server = Sshd::start();
        server.make_runs();
        Self { server, pool: Self::pool(backend) }
    }

    fn pool(backend: Backend) -> SshPool {
        SshPool::new(transport(backend).unwrap(), PoolLimits::default())
    }

    fn execution(&self, key: &str, command: impl Into<Command>) -> Execution {
        Execution {
            key: key.into(),
            command: command.into(),
            files: Vec::new(),
            limit: Duration::from_secs(50),
            root: self.server.path("runs").display().to_string(),
        }
    }

    async fn run(&self, execution: &Execution) -> Result<Finished, SshError> {
        execute(&self.pool, &self.server.target(), execution, &(), &CancellationToken::new()).await
    }

    /// What a command prints.
    async fn says(&self, key: &str, command: &str) -> String {
        self.run(&self.execution(key, command)).await.unwrap().stdout_tail.trim().to_owned()
    }

    /// Who sees to executions now.
    async fn starter(&self, key: &str) -> String {
        self.says(key, "cat /proc/$PPID/comm").await
    }
}

async fn a_program_needs_no_shell_where_preparation_would_change_nothing(backend: Backend) {
    let machine = Machine::new(backend);
    let known = machine.server.path("known");
    fs::write(&known, "before\nnames\nafter\n").unwrap();
    for (key, holds) in [("held", "names\n"), ("missing", "other\n")] {
        let shortcut = Shortcut {
            file: known.display().to_string(),
            holds: holds.into(),
            environment: vec![("HERE".into(), "a  b=c".into())],
            words: vec!["./probe".into(), "x  y".into()],
        };
        let prepare = format!("echo prepared >>{}\numask 022\nexport HERE='a  b=c'\n", known.display());
        let (words, shortcut) = ("./probe 'x  y'".to_owned(), Some(shortcut));
        let command = Command::Program { prepare, words, shortcut };
        let asked = machine.execution(key, command).with_program("probe", PROBE);
        let done = machine.run(&asked).await.unwrap();
        let folder = machine.server.path(&format!("runs/{key}"));
        let expected = format!("perl 1 0022 a  b=c {} x  y\n", folder.display());
        assert_eq!((done.status.0, done.stdout_tail, done.stderr_tail), (0, expected, String::new()));
        assert_eq!(fs::read_to_string(&known).unwrap().contains("prepared"), key == "missing");
    }
    let missing = Shortcut { words: vec!["./nothing".into()], ..Shortcut::default() };
    let words = "./nothing".to_owned();
    let command = Command::Program { prepare: String::new(), words, shortcut: Some(missing) };
    let done = machine.run(&machine.execution("nothing", command)).await.unwrap();
    assert_eq!(done.status.0, 127);
    assert!(done.stderr_tail.contains("./nothing"), "{done:?}");
}

async fn where_it_does_everything_there_is_no_shell(backend: Backend) {
    let machine = Machine::new(backend);
    // What the connection's own process has started: the executor, and nothing else.
    let count = "read -r _ _ _ session _ </proc/$PPID/stat\n\
                 set -- $(cat /proc/$session/task/$session/children); echo $#";
    assert_eq!(machine.says("first", count).await, "1");
    assert_eq!(machine.says("second", count).await, "1");
}

async fn what_follows_a_killed_executor_is_done_by_the_shell(backend: Backend) {
    let machine = Machine::new(backend);
    assert_eq!(machine.starter("before").await, "perl");
    let killer = machine.execution("killer", "kill -KILL $PPID; kill -KILL 0");
    let killed = machine.run(&killer).await;
    assert!(matches!(killed, Err(SshError::Interrupted { .. })), "{killed:?}");
    assert_eq!(machine.starter("after").await, "sh");
    assert_eq!(machine.server.connections(), 1);
}

async fn an_executor_that_was_followed_from_elsewhere_ends(backend: Backend) {
    let machine = Machine::new(backend);
    let other = Machine::pool(backend);
    let (begun, go) = (machine.server.path("begun"), machine.server.path("go"));
    let command = format!(
        "echo $PPID >{}; until [ -e {} ]; do sleep 0.02; done; echo end",
        begun.display(),
        go.display()
    );
    let asked = machine.execution("shared", command.as_str());
    let (target, never) = (machine.server.target(), CancellationToken::new());
    let followed = machine.server.path("runs/shared/followed");
    let second = async {
        until("it runs", || begun.exists()).await;
        let opener = async {
            until("it is followed", || followed.exists()).await;
            fs::write(&go, "").unwrap();
        };
        tokio::join!(execute(&other, &target, &asked, &(), &never), opener).0
    };
    let (first, second) = tokio::join!(machine.run(&asked), second);
    assert_eq!((first.unwrap().stdout_tail, second.unwrap().stdout_tail), ("end\n".into(), "end\n".into()));
    let before = fs::read_to_string(&begun).unwrap();
    let after = machine.says("next", "cat /proc/$PPID/comm; echo $PPID").await;
    assert!(after.starts_with("perl\n") && !after.ends_with(before.trim()), "{after} {before}");
}

async fn a_cancel_spares_nothing_that_an_executor_began(backend: Backend) {
    let machine = Machine::new(backend);
    assert_eq!(machine.starter("before").await, "perl");
    let (noted, cancel) = (machine.server.path("pids"), CancellationToken::new());
    let command = format!("sleep 1000 & echo $! $PPID >{0}.new; mv {0}.new {0}; sleep 1001", noted.display());
    let asked = machine.execution("given-up", command.as_str());
    let canceller = async {
        until("it runs", || noted.exists()).await;
        cancel.cancel();
    };
    let target = machine.server.target();
    let (outcome, ()) = tokio::join!(execute(&machine.pool, &target, &asked, &(), &cancel), canceller);
    assert_eq!(outcome, Err(SshError::Cancelled { address: target.address() }));
    for process in fs::read_to_string(noted).unwrap().split_whitespace() {
        until("its process and its executor are gone", || !alive(process)).await;
    }
    assert_eq!(machine.run(&asked).await.unwrap().status.signal(), Some("TERM"));
    assert_eq!(machine.starter("after").await, "perl");
}
