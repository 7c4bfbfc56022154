//! Peers that are not who they should be, or behave badly.

use std::net::Ipv4Addr;
use std::time::Duration;

use cooperage_plugins::ssh::{Backend, SshError, Target, scan, transport};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::proxy::Proxy;
use crate::sshd::{Sshd, free_port};
use crate::{CONNECT_LIMIT, connect, over_every_backend, run, until};

over_every_backend! {
    a_wrong_host_key_is_refused_before_anything_is_sent
    a_wrong_login_key_is_refused
    an_identity_that_is_not_there_is_named
    a_closed_port_is_refused
    a_silent_peer_is_given_up
    a_peer_that_hangs_up_is_not_ssh
    a_login_that_breaks_says_nothing_about_the_key
    a_peer_that_dies_in_the_middle_is_a_lost_connection
    a_slow_peer_is_served
}

async fn a_wrong_host_key_is_refused_before_anything_is_sent(backend: Backend) {
    let server = Sshd::start();
    let stranger = std::fs::read_to_string(server.path("stranger.pub")).unwrap();
    let target = Target { host_key: stranger.parse().unwrap(), ..server.target() };
    let fault = connect(backend, &target).await.err();
    let expected = target.host_key.fingerprint();
    let found = server.host_key().fingerprint();
    assert_eq!(fault, Some(SshError::HostKeyChanged { address: target.address(), expected, found }));
}

async fn a_wrong_login_key_is_refused(backend: Backend) {
    let server = Sshd::start();
    let target = Target { identity_file: server.path("stranger"), ..server.target() };
    let fault = connect(backend, &target).await.err();
    assert!(matches!(fault, Some(SshError::AuthenticationRefused { .. })), "{fault:?}");
}

async fn an_identity_that_is_not_there_is_named(backend: Backend) {
    let server = Sshd::start();
    let target = Target { identity_file: "/no/such/key".into(), ..server.target() };
    let fault = connect(backend, &target).await.err();
    assert!(matches!(fault, Some(SshError::IdentityFile { .. })), "{fault:?}");
}

async fn a_closed_port_is_refused(backend: Backend) {
    let server = Sshd::start();
    let target = Target { port: free_port(), ..server.target() };
    let fault = connect(backend, &target).await.err();
    assert_eq!(fault, Some(SshError::Refused { address: target.address() }));
}

async fn a_silent_peer_is_given_up(backend: Backend) {
    let server = Sshd::start();
    let silent = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let target = Target { port: silent.local_addr().unwrap().port(), ..server.target() };
    let limit = Duration::from_millis(300);
    let fault = transport(backend).unwrap().connect(&target, limit).await.err();
    assert!(matches!(fault, Some(SshError::TimedOut { .. })), "{fault:?}");
    let fault = scan(&target.host, target.port, limit).await.err();
    assert!(matches!(fault, Some(SshError::TimedOut { .. })), "{fault:?}");
}

async fn a_peer_that_hangs_up_is_not_ssh(backend: Backend) {
    let server = Sshd::start();
    let rude = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let target = Target { port: rude.local_addr().unwrap().port(), ..server.target() };
    let hang_up = async {
        drop(rude.accept().await.unwrap());
    };
    let (fault, ()) = tokio::join!(connect(backend, &target), hang_up);
    assert!(matches!(fault.as_ref().err(), Some(SshError::Handshake { .. })), "{:?}", fault.err());
}

async fn a_login_that_breaks_says_nothing_about_the_key(backend: Backend) {
    let server = Sshd::start();
    let mut broken = 0;
    for bytes in (1..100_000).step_by(97) {
        let proxy = Proxy::that_breaks_after(&server.target(), bytes).await;
        match connect(backend, &proxy.target(&server.target())).await {
            Ok(_) => break,
            Err(fault) => assert!(fault.is_transient(), "after {bytes} bytes: {fault:?}"),
        }
        broken += 1;
    }
    assert!(broken > 5, "a login says more than that");
}

async fn a_peer_that_dies_in_the_middle_is_a_lost_connection(backend: Backend) {
    let server = Sshd::start();
    let connection = connect(backend, &server.target()).await.unwrap();
    let begun = server.path("begun");
    let script = format!(": >{}; sleep 3", begun.display());
    let killer = async {
        until("the command runs", || begun.exists()).await;
        server.cut_connections();
    };
    let never = CancellationToken::new();
    let mut nowhere = ();
    let (outcome, ()) = tokio::join!(connection.run(&script, None, &mut nowhere, &never), killer);
    assert!(matches!(outcome, Err(SshError::ConnectionLost { .. })), "{outcome:?}");
    assert!(!connection.is_alive());
}

async fn a_slow_peer_is_served(backend: Backend) {
    let server = Sshd::start();
    let proxy = Proxy::to(&server.target(), Duration::from_millis(2)).await;
    let connection = connect(backend, &proxy.target(&server.target())).await.unwrap();
    let content = vec![b'x'; 200_000];
    let path = server.path("slow");
    connection.upload(path.to_str().unwrap(), &content, 0o600).await.unwrap();
    assert_eq!(connection.download(path.to_str().unwrap()).await.unwrap(), content);
    assert_eq!(run(&*connection, "echo done").await.1, "done\n");
}

#[tokio::test]
async fn a_scan_finds_the_key_that_a_login_then_expects() {
    let server = Sshd::start();
    assert_eq!(scan("127.0.0.1", server.port, CONNECT_LIMIT).await, Ok(server.host_key()));
}
