//! Durable executions: whatever breaks, the command runs exactly once and its output is whole.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

use cooperage_plugins::ssh::{
    Backend, Command, Execution, ExitStatus, Finished, PoolLimits, RUNS_KEPT, SshError, SshPool, TAIL_LIMIT,
    execute, transport,
};
use cooperage_plugins::{Output, Stream};
use tokio_util::sync::CancellationToken;

use crate::proxy::Proxy;
use crate::sshd::Sshd;
use crate::until;

/// How a machine is reached, and what it has.
#[derive(Clone, Copy)]
struct Way {
    backend: Backend,
    /// Without it the shell does everything.
    perl: bool,
}

impl Way {
    fn server(self) -> Sshd {
        if !self.perl {
            return Sshd::start_without("perl");
        }
        let server = Sshd::start();
        // The first directory is the shell's to make.
        server.make_runs();
        server
    }

    fn pool(self) -> SshPool {
        SshPool::new(transport(self.backend).unwrap(), PoolLimits::default())
    }
}

/// Makes one test per way out of each `async fn name(way: Way)`.
macro_rules! over_every_way {
    ($($name:ident)*) => {
        over_every_way! { @way russh Russh true $($name)* }
        over_every_way! { @way russh_without_perl Russh false $($name)* }
        #[cfg(feature = "wezterm")]
        over_every_way! { @way wezterm Wezterm true $($name)* }
    };
    (@way $way:ident $backend:ident $perl:literal $($name:ident)*) => {
        mod $way {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() {
                let way = super::Way { backend: cooperage_plugins::ssh::Backend::$backend, perl: $perl };
                crate::bounded(super::$name(way)).await;
            })*
        }
    };
}

over_every_way! {
    an_execution_reports_all_it_printed
    asked_again_it_is_not_run_again
    long_output_comes_live_and_whole
    after_a_crash_of_the_client_it_is_taken_up
    lost_connections_lose_and_repeat_nothing
    two_executions_on_one_machine_never_overlap
    the_same_execution_asked_twice_at_once_runs_once
    a_daemon_left_behind_neither_delays_nor_blocks
    a_cancel_ends_all_its_processes
    one_that_waits_can_be_cancelled
    a_cancel_outlives_a_lost_connection
    one_that_takes_too_long_is_ended
    one_that_was_killed_is_not_run_again
    one_that_kills_itself_has_that_for_a_result
    a_program_is_prepared_by_the_shell_that_is_there
    a_directory_that_cannot_be_made_is_explained
    old_directories_make_room
}

/// Notes lines, and lets a test act when one comes.
#[derive(Default)]
struct Noted(Mutex<Vec<(Stream, String)>>);

impl Output for Noted {
    fn line(&self, stream: Stream, text: &str) {
        self.0.lock().unwrap().push((stream, text.to_owned()));
    }
}

impl Noted {
    fn of(&self, wanted: Stream) -> Vec<String> {
        let lines = self.0.lock().unwrap();
        lines.iter().filter(|(stream, _)| *stream == wanted).map(|(_, text)| text.clone()).collect()
    }
}

fn execution(server: &Sshd, key: &str, command: &str) -> Execution {
    Execution {
        key: key.into(),
        command: command.into(),
        files: Vec::new(),
        // With the time a cancel may take it is less than a test may: what never ends is told as such.
        limit: Duration::from_secs(30),
        root: server.path("runs").display().to_string(),
    }
}

async fn run(pool: &SshPool, server: &Sshd, execution: &Execution) -> Result<Finished, SshError> {
    execute(pool, &server.target(), execution, &(), &CancellationToken::new()).await
}

fn lines_of(path: &Path) -> usize {
    fs::read_to_string(path).unwrap_or_default().lines().count()
}

/// Whether a process runs: nobody may have looked for the end of one that does not.
pub fn alive(process: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{}/stat", process.trim())).unwrap_or_default();
    !stat.is_empty() && !stat.contains(") Z ")
}

/// A place where commands wait until the test says go, and where they count their runs.
struct Gate {
    counter: PathBuf,
    go: PathBuf,
}

impl Gate {
    fn new(server: &Sshd, name: &str) -> Self {
        Self { counter: server.path(&format!("{name}.count")), go: server.path(&format!("{name}.go")) }
    }

    /// A command that counts its run, waits, and then does `after`. It does not outlive the folder of a test that failed: without
    /// the programs there it would wait without a pause.
    fn command(&self, before: &str, after: &str) -> String {
        let (counter, go) = (self.counter.display(), self.go.display());
        format!(
            "echo run >>{counter}\n{before}\n\
             until [ -e {go} ] || ! [ -e {counter} ]; do sleep 0.02; done\n{after}\n"
        )
    }

    fn runs(&self) -> usize {
        lines_of(&self.counter)
    }

    fn open(&self) {
        fs::write(&self.go, "").unwrap();
    }
}

async fn an_execution_reports_all_it_printed(way: Way) {
    let (server, pool, noted) = (way.server(), way.pool(), Noted::default());
    let asked = execution(
        &server,
        "0-1-2-1",
        "cat task.json; cat blob | wc -c; ./program 'a b'; echo bad >&2; exit 7",
    )
    .with_file("task.json", "{\"it's\": \"$HOME\"}\n")
    .with_file("blob", vec![0, 255, 10])
    .with_program("program", "#!/bin/sh\necho \"program: $1\"");
    let done = execute(&pool, &server.target(), &asked, &noted, &CancellationToken::new()).await.unwrap();
    assert_eq!(done.status, ExitStatus(7));
    assert_eq!(done.stdout_tail, "{\"it's\": \"$HOME\"}\n3\nprogram: a b\n");
    assert_eq!(done.stderr_tail, "bad\n");
    assert_eq!(noted.of(Stream::Stdout), ["{\"it's\": \"$HOME\"}", "3", "program: a b"]);
    assert_eq!(noted.of(Stream::Stderr), ["bad"]);
}

async fn asked_again_it_is_not_run_again(way: Way) {
    let (server, pool) = (way.server(), way.pool());
    let counter = server.path("counter");
    let asked = execution(&server, "again", &format!("echo run >>{}; echo out; exit 4", counter.display()));
    let first = run(&pool, &server, &asked).await.unwrap();
    let second = run(&pool, &server, &asked).await.unwrap();
    assert_eq!(first, second);
    assert_eq!((second.status.0, second.stdout_tail.as_str()), (4, "out\n"));
    assert_eq!(lines_of(&counter), 1);
}

async fn long_output_comes_live_and_whole(way: Way) {
    let (server, pool, noted) = (way.server(), way.pool(), Noted::default());
    let gate = Gate::new(&server, "live");
    let after = "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); echo line $i; done; printf last; echo err >&2";
    let asked = execution(&server, "live", &gate.command("echo early", after));
    let (target, never) = (server.target(), CancellationToken::new());
    let watcher = async {
        until("the first line comes while it runs", || noted.of(Stream::Stdout) == ["early"]).await;
        gate.open();
    };
    let (done, ()) = tokio::join!(execute(&pool, &target, &asked, &noted, &never), watcher);
    let done = done.unwrap();
    let expected: Vec<String> = ["early".to_owned()]
        .into_iter()
        .chain((1..=20000).map(|i| format!("line {i}")))
        .chain(["last".into()])
        .collect();
    assert!(noted.of(Stream::Stdout) == expected);
    assert_eq!(noted.of(Stream::Stderr), ["err"]);
    assert!(done.stdout_tail.len() == TAIL_LIMIT && done.stdout_tail.ends_with("line 20000\nlast"));
}

async fn after_a_crash_of_the_client_it_is_taken_up(way: Way) {
    let server = way.server();
    let gate = Gate::new(&server, "crash");
    let asked =
        execution(&server, "crash", &gate.command("echo before; echo warn >&2", "echo after; exit 5"));
    let crash = async {
        let pool = way.pool();
        run(&pool, &server, &asked).await.map(|_| ())
    };
    tokio::select! {
        ended = crash => panic!("it ended before the crash: {ended:?}"),
        () = until("it runs", || gate.runs() == 1) => {}
    }
    until("nothing is left of the client", || server.connections() == 0).await;
    let (pool, noted) = (way.pool(), Noted::default());
    let (target, never) = (server.target(), CancellationToken::new());
    let watcher = async {
        until("it is followed from its start", || noted.of(Stream::Stdout) == ["before"]).await;
        gate.open();
    };
    let (done, ()) = tokio::join!(execute(&pool, &target, &asked, &noted, &never), watcher);
    let done = done.unwrap();
    assert_eq!(
        (done.status.0, done.stdout_tail.as_str(), done.stderr_tail.as_str()),
        (5, "before\nafter\n", "warn\n")
    );
    assert_eq!(gate.runs(), 1);
}

async fn lost_connections_lose_and_repeat_nothing(way: Way) {
    let (server, pool, noted) = (way.server(), way.pool(), Noted::default());
    let proxy = Proxy::to(&server.target(), Duration::ZERO).await;
    let gate = Gate::new(&server, "lost");
    let printing = "i=0; while [ $i -lt 3000 ]; do i=$((i+1)); echo line $i; done";
    let asked = execution(&server, "lost", &gate.command(printing, "echo end"));
    let (target, never) = (proxy.target(&server.target()), CancellationToken::new());
    let breaker = async {
        for cuts in 1..=3 {
            until("it is followed", || proxy.connections() == cuts && gate.runs() == 1).await;
            if cuts == 2 {
                until("all is here", || noted.of(Stream::Stdout).len() == 3000).await;
            }
            proxy.cut();
        }
        until("it is followed again", || proxy.connections() == 4).await;
        gate.open();
    };
    let (done, ()) = tokio::join!(execute(&pool, &target, &asked, &noted, &never), breaker);
    assert!(done.unwrap().status.success());
    let expected: Vec<String> = (1..=3000).map(|i| format!("line {i}")).chain(["end".into()]).collect();
    assert!(noted.of(Stream::Stdout) == expected);
    assert_eq!(gate.runs(), 1);
}

async fn two_executions_on_one_machine_never_overlap(way: Way) {
    let (server, first, second) = (way.server(), way.pool(), way.pool());
    let inside = server.path("inside");
    let command = format!("mkdir {0} || exit 99; sleep 0.05; rmdir {0}", inside.display());
    let all = (0..6).map(|n| {
        let (asked, pool) =
            (execution(&server, &format!("one-{n}"), &command), if n % 2 == 0 { &first } else { &second });
        let server = &server;
        async move { run(pool, server, &asked).await.unwrap().status }
    });
    assert_eq!(futures::future::join_all(all).await, [ExitStatus(0); 6]);
}

async fn the_same_execution_asked_twice_at_once_runs_once(way: Way) {
    let (server, first, second) = (way.server(), way.pool(), way.pool());
    let gate = Gate::new(&server, "twice");
    let asked = execution(&server, "twice", &gate.command("echo begun", "echo end"));
    let both = async { tokio::join!(run(&first, &server, &asked), run(&second, &server, &asked)) };
    let opener = async {
        until("both are there", || server.connections() == 2 && gate.runs() > 0).await;
        gate.open();
    };
    let ((one, two), ()) = tokio::join!(both, opener);
    assert_eq!(one.unwrap().stdout_tail, "begun\nend\n");
    assert_eq!(two.unwrap().stdout_tail, "begun\nend\n");
    assert_eq!(gate.runs(), 1);
}

async fn a_daemon_left_behind_neither_delays_nor_blocks(way: Way) {
    let (server, pool) = (way.server(), way.pool());
    let done = run(&pool, &server, &execution(&server, "daemon", "sleep 1000 & echo $!")).await.unwrap();
    let daemon = done.stdout_tail.trim().to_owned();
    assert!(alive(&daemon));
    let next = run(&pool, &server, &execution(&server, "next", &format!("kill {daemon}"))).await.unwrap();
    assert!(next.status.success());
}

async fn a_cancel_ends_all_its_processes(way: Way) {
    let (server, pool) = (way.server(), way.pool());
    let gate = Gate::new(&server, "cancel");
    let (child, stubborn) = (server.path("child"), server.path("stubborn"));
    let before = format!(
        "(trap '' TERM; while :; do sleep 0.05; done) & echo $! >{}; sleep 1000 & echo $! >{}",
        stubborn.display(),
        child.display()
    );
    let asked = execution(&server, "cancel", &gate.command(&before, "echo never"));
    let (target, cancel) = (server.target(), CancellationToken::new());
    let canceller = async {
        until("its processes run", || lines_of(&child) == 1).await;
        cancel.cancel();
    };
    let (outcome, ()) = tokio::join!(execute(&pool, &target, &asked, &(), &cancel), canceller);
    assert_eq!(outcome, Err(SshError::Cancelled { address: target.address() }));
    for noted in [child, stubborn] {
        let process = fs::read_to_string(noted).unwrap();
        until("it is gone", || !alive(&process)).await;
    }
    let recorded = run(&pool, &server, &asked).await.unwrap();
    assert_eq!(recorded.status.signal(), Some("TERM"));
    assert_eq!(gate.runs(), 1);
}

async fn one_that_waits_can_be_cancelled(way: Way) {
    cancel_one_that_waits(way, false).await;
}

async fn a_cancel_outlives_a_lost_connection(way: Way) {
    cancel_one_that_waits(way, true).await;
}

/// Cancels an execution that waits for another one; if wanted, the connection breaks on which the machine is to be told.
async fn cancel_one_that_waits(way: Way, loses: bool) {
    let (server, pool) = (way.server(), way.pool());
    let proxy = Proxy::to(&server.target(), Duration::ZERO).await;
    let (first, second) = (Gate::new(&server, "first"), Gate::new(&server, "second"));
    let (target, cancel) = (proxy.target(&server.target()), CancellationToken::new());
    let holding = execution(&server, "holds", &first.command("", ""));
    let waiting = execution(&server, "waits", &second.command("", ""));
    // What fails while something else is waited for must say so at once.
    let held = async { assert!(run(&pool, &server, &holding).await.unwrap().status.success()) };
    let cancelled = async {
        let outcome = execute(&pool, &target, &waiting, &(), &cancel).await;
        assert!(matches!(outcome, Err(SshError::Cancelled { .. })), "{outcome:?}");
        assert!(server.path("runs/waits/cancelled").exists(), "the machine was not told");
        first.open();
    };
    let canceller = async {
        let prepared = server.path("runs/waits/prepared");
        until("the second waits", || lines_of(&prepared) == 1).await;
        let before = proxy.connections();
        cancel.cancel();
        if loses {
            until("the machine is being told", || proxy.connections() > before).await;
            proxy.cut();
        }
    };
    tokio::join!(held, async {
        until("the first runs", || first.runs() == 1).await;
        tokio::join!(cancelled, canceller);
    });
    let recorded = run(&pool, &server, &waiting).await.unwrap();
    assert_eq!(recorded.status.signal(), Some("TERM"));
    assert_eq!(second.runs(), 0);
}

async fn one_that_takes_too_long_is_ended(way: Way) {
    let (server, pool) = (way.server(), way.pool());
    let noted = server.path("pid");
    let command = format!("echo $$ >{}; sleep 1000", noted.display());
    let asked = Execution { limit: Duration::from_millis(700), ..execution(&server, "long", &command) };
    let outcome = run(&pool, &server, &asked).await;
    assert!(matches!(outcome, Err(SshError::TimedOut { .. })), "{outcome:?}");
    assert!(!alive(&fs::read_to_string(noted).unwrap()));
}

async fn one_that_was_killed_is_not_run_again(way: Way) {
    let (server, pool) = (way.server(), way.pool());
    let gate = Gate::new(&server, "killed");
    // It kills the process that would write its result, and then its own group.
    let command = format!("echo run >>{}; kill -KILL $PPID; kill -KILL 0", gate.counter.display());
    let asked = execution(&server, "killed", &command);
    for _ in 0..2 {
        let outcome = run(&pool, &server, &asked).await;
        assert!(matches!(outcome, Err(SshError::Interrupted { .. })), "{outcome:?}");
    }
    assert_eq!(gate.runs(), 1);
}

async fn one_that_kills_itself_has_that_for_a_result(way: Way) {
    let (server, pool) = (way.server(), way.pool());
    let done = run(&pool, &server, &execution(&server, "suicide", "echo last; kill -KILL 0")).await.unwrap();
    assert_eq!((done.status.signal(), done.stdout_tail.as_str()), (Some("KILL"), "last\n"));
}

async fn a_program_is_prepared_by_the_shell_that_is_there(way: Way) {
    let (server, pool) = (way.server(), way.pool());
    let leads = "#!/bin/sh\nread -r line </proc/$$/stat; set -- ${line##*) } \"$1\"; echo \"$(($3 == $$)) $HERE $PWD\"";
    let command = Command::Program {
        prepare: "HERE='a b'\nexport HERE\n".into(),
        words: "./lead 'x y'".into(),
        shortcut: None,
    };
    // The first one makes the directory of all, by which the second one is made in another way.
    for key in ["first", "second"] {
        let asked =
            Execution { command: command.clone(), ..execution(&server, key, "") }.with_program("lead", leads);
        let done = run(&pool, &server, &asked).await.unwrap();
        let expected = format!("1 a b {}\n", server.path(&format!("runs/{key}")).display());
        assert_eq!((done.status.0, done.stdout_tail, done.stderr_tail), (0, expected, String::new()));
        let folder = server.path(&format!("runs/{key}"));
        assert_eq!(fs::metadata(folder.join("lead")).unwrap().permissions().mode() & 0o777, 0o700);
        assert_eq!(fs::metadata(server.path("runs")).unwrap().permissions().mode() & 0o777, 0o700);
        assert_eq!(fs::metadata(folder.join("command")).unwrap().permissions().mode() & 0o077, 0);
    }
}

async fn a_directory_that_cannot_be_made_is_explained(way: Way) {
    let (server, pool) = (way.server(), way.pool());
    let asked = Execution { root: "/proc/no".into(), ..execution(&server, "nowhere", "true") };
    let fault = run(&pool, &server, &asked).await.unwrap_err();
    assert!(matches!(fault, SshError::CannotRun { .. }) && fault.to_string().contains("/proc/no"), "{fault}");
    let bad = run(&pool, &server, &execution(&server, "../up", "true")).await;
    assert_eq!(bad, Err(SshError::BadName { name: "../up".into() }));
}

async fn old_directories_make_room(way: Way) {
    let (server, pool) = (way.server(), way.pool());
    for n in 0..=RUNS_KEPT {
        assert!(
            run(&pool, &server, &execution(&server, &format!("n-{n}"), "true"))
                .await
                .unwrap()
                .status
                .success()
        );
    }
    let left = fs::read_dir(server.path("runs")).unwrap().flatten().filter(|e| e.path().is_dir()).count();
    assert_eq!(left, RUNS_KEPT / 2);
    assert!(server.path(&format!("runs/n-{RUNS_KEPT}/rc")).exists());
}
