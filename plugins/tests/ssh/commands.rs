//! Commands on a good machine.

use cooperage_plugins::Stream;
use cooperage_plugins::ssh::{Backend, Captured, ExitStatus, Sink, SshError};
use tokio_util::sync::CancellationToken;

use crate::sshd::Sshd;
use crate::{connect, over_every_backend, run, until};

over_every_backend! {
    exit_codes_are_numbers
    streams_are_separate
    nothing_stays_from_one_command_to_the_next
    much_output_comes_whole
    input_arrives_whole
    bad_text_does_no_harm
    a_process_left_behind_does_not_delay_the_end
    commands_on_many_connections_run_side_by_side
    a_cancelled_command_leaves_no_process
    a_forgotten_command_makes_the_connection_unusable
    a_shell_that_ends_is_a_lost_connection
    closing_ends_the_connection
}

async fn exit_codes_are_numbers(backend: Backend) {
    let server = Sshd::start();
    let connection = connect(backend, &server.target()).await.unwrap();
    for (script, code) in [("true", 0), ("exit 3", 3), ("exit 255", 255), ("no-such-program", 127), ("if", 2)]
    {
        assert_eq!(run(&*connection, script).await.0, ExitStatus(code), "{script}");
    }
    let (status, ..) = run(&*connection, "sh -c 'kill -KILL $$'").await;
    assert_eq!(status.signal(), Some("KILL"));
}

async fn streams_are_separate(backend: Backend) {
    let server = Sshd::start();
    let connection = connect(backend, &server.target()).await.unwrap();
    let (status, stdout, stderr) = run(&*connection, "echo \"it's out\"; echo err >&2; printf end").await;
    assert_eq!((status.0, stdout.as_str(), stderr.as_str()), (0, "it's out\nend", "err\n"));
}

async fn nothing_stays_from_one_command_to_the_next(backend: Backend) {
    let server = Sshd::start();
    let connection = connect(backend, &server.target()).await.unwrap();
    run(&*connection, "cd /; set -e; left=behind; exec >/dev/null; false").await;
    let (_, stdout, _) = run(&*connection, "echo \"<$left>$(pwd)\"; false; cat; echo on").await;
    assert!(stdout.starts_with("<>/") && stdout != "<>/\non\n" && stdout.ends_with("on\n"), "{stdout}");
}

async fn much_output_comes_whole(backend: Backend) {
    #[derive(Default)]
    struct Sums {
        stdout: (usize, u64),
        stderr: usize,
        largest: usize,
    }
    impl Sink for Sums {
        fn bytes(&mut self, stream: Stream, bytes: &[u8]) {
            self.largest = self.largest.max(bytes.len());
            if stream == Stream::Stderr {
                self.stderr += bytes.len();
            } else {
                self.stdout.0 += bytes.len();
                self.stdout.1 += bytes.iter().map(|byte| u64::from(*byte)).sum::<u64>();
            }
        }
    }
    const SIZE: usize = 10_000_000;
    let server = Sshd::start();
    let connection = connect(backend, &server.target()).await.unwrap();
    let mut sums = Sums::default();
    let script = "head -c 10000000 /dev/zero | tr '\\0' a; head -c 10000000 /dev/zero >&2; exit 9";
    let status = connection.run(script, None, &mut sums, &CancellationToken::new()).await.unwrap();
    assert_eq!(status, ExitStatus(9));
    assert_eq!(sums.stdout, (SIZE, SIZE as u64 * u64::from(b'a')));
    assert_eq!(sums.stderr, SIZE);
    assert!(sums.largest < 1 << 20, "pieces stay small, not {}", sums.largest);
}

async fn input_arrives_whole(backend: Backend) {
    let server = Sshd::start();
    let connection = connect(backend, &server.target()).await.unwrap();
    let input: Vec<u8> = (0..3_000_000_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    let never = CancellationToken::new();
    let mut said = Captured::default();
    connection.run("wc -c\n# a second line", Some(&input), &mut said, &never).await.unwrap();
    assert_eq!(said.stdout.text().trim(), input.len().to_string());
    // A script that reads nothing of it does not disturb the next one.
    connection.run("true", Some(&input), &mut said, &never).await.unwrap();
    assert_eq!(run(&*connection, "echo next").await.1, "next\n");
}

async fn bad_text_does_no_harm(backend: Backend) {
    let server = Sshd::start();
    let connection = connect(backend, &server.target()).await.unwrap();
    let (status, stdout, _) = run(&*connection, r"printf 'a\377\000\036b'").await;
    assert!(status.success());
    assert_eq!(stdout, "a\u{fffd}\0\u{1e}b");
}

async fn a_process_left_behind_does_not_delay_the_end(backend: Backend) {
    let server = Sshd::start();
    let connection = connect(backend, &server.target()).await.unwrap();
    let (_, stdout, _) = run(&*connection, "sleep 1000 & echo $!").await;
    let (_, next, _) = run(&*connection, &format!("kill {}; echo killed", stdout.trim())).await;
    assert_eq!(next, "killed\n");
}

async fn commands_on_many_connections_run_side_by_side(backend: Backend) {
    const COUNT: usize = 8;
    let server = Sshd::start();
    let target = server.target();
    // Each command waits for all the others.
    let script = format!(
        ": >{0}/here.$(cat /proc/sys/kernel/random/uuid); \
         until [ $(ls {0} | grep -c here) -ge {COUNT} ]; do sleep 0.01; done; echo all",
        server.dir.path().display()
    );
    let all = (0..COUNT).map(|_| async {
        let connection = connect(backend, &target).await.unwrap();
        assert_eq!(run(&*connection, &script).await.1, "all\n");
    });
    futures::future::join_all(all).await;
}

async fn a_cancelled_command_leaves_no_process(backend: Backend) {
    let server = Sshd::start();
    let connection = connect(backend, &server.target()).await.unwrap();
    let noted = server.path("pids");
    let script = format!("sleep 1000 & echo $! >{0}.new; mv {0}.new {0}; sleep 1001", noted.display());
    let cancel = CancellationToken::new();
    let canceller = async {
        until("the command runs", || noted.exists()).await;
        cancel.cancel();
    };
    let mut nowhere = ();
    let (outcome, ()) = tokio::join!(connection.run(&script, None, &mut nowhere, &cancel), canceller);
    assert!(matches!(outcome, Err(SshError::Cancelled { .. })), "{outcome:?}");
    let process = std::fs::read_to_string(&noted).unwrap();
    until("its process is gone", || !std::path::Path::new(&format!("/proc/{}", process.trim())).exists())
        .await;
    assert!(!connection.is_alive());
}

async fn a_forgotten_command_makes_the_connection_unusable(backend: Backend) {
    let server = Sshd::start();
    let connection = connect(backend, &server.target()).await.unwrap();
    let never = CancellationToken::new();
    let mut nowhere = ();
    {
        let forgotten = connection.run("while echo; do sleep 0.05; done", None, &mut nowhere, &never);
        tokio::pin!(forgotten);
        assert!(futures::poll!(&mut forgotten).is_pending());
    }
    assert!(!connection.is_alive());
    let refused = connection.run("true", None, &mut (), &never).await;
    assert!(matches!(refused, Err(SshError::ConnectionLost { .. })), "{refused:?}");
}

async fn a_shell_that_ends_is_a_lost_connection(backend: Backend) {
    let server = Sshd::start();
    let connection = connect(backend, &server.target()).await.unwrap();
    let lost = connection.run("kill -KILL $$", None, &mut (), &CancellationToken::new()).await;
    assert!(matches!(lost, Err(SshError::ConnectionLost { .. })), "{lost:?}");
}

async fn closing_ends_the_connection(backend: Backend) {
    let server = Sshd::start();
    let closed = connect(backend, &server.target()).await.unwrap();
    let dropped = connect(backend, &server.target()).await.unwrap();
    assert_eq!(server.connections(), 2);
    closed.close().await;
    assert!(!closed.is_alive());
    drop(dropped);
    until("the server sees both go", || server.connections() == 0).await;
}
