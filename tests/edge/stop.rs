//! How a server ends: what was begun is answered, nothing new is begun.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use crate::caller::Caller;
use crate::lab::{Server, wait_for};

const LIMIT: Duration = Duration::from_secs(20);

/// A request whose body is still to come, up to its last byte.
fn half_sent(server: &Server) -> TcpStream {
    let token = std::fs::read_to_string(server.data_dir().join("admin.token")).unwrap();
    let mut stream = TcpStream::connect(("127.0.0.1", server.ports()[0])).unwrap();
    stream.set_read_timeout(Some(LIMIT)).unwrap();
    let head = format!(
        "PUT /v2/profile HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {}\r\nContent-Length: 9\r\n\r\n",
        token.trim()
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(b"{\"a\": 1 ").unwrap();
    stream
}

#[test]
fn open_requests_are_answered_and_the_process_ends_well() {
    for signal in ["TERM", "INT"] {
        let mut server = Server::start(&["http.stop_seconds=15".to_owned()]);
        let mut open = half_sent(&server);
        // A connection that is only kept holds nothing up.
        let _kept = TcpStream::connect(("127.0.0.1", server.ports()[0])).unwrap();
        std::thread::sleep(Duration::from_millis(200));
        server.signal(signal);
        wait_for("the end of listening", LIMIT, || {
            TcpStream::connect(("127.0.0.1", server.ports()[0])).err().map(drop)
        });
        let begun = Instant::now();
        open.write_all(b"}").unwrap();
        let mut answer = String::new();
        open.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        assert!(answer.to_lowercase().contains("connection: close"), "{answer}");
        assert!(server.ended().success());
        assert!(begun.elapsed() < Duration::from_secs(10), "it waited for nothing: {:?}", begun.elapsed());
        server.run();
        assert_eq!(Caller::admin(&server).get("/v2/profile").is(200).json()["a"], 1);
    }
}

#[test]
fn who_does_not_send_the_rest_is_waited_for_up_to_the_limit() {
    let mut server = Server::start(&["http.stop_seconds=1".to_owned()]);
    let _open = half_sent(&server);
    std::thread::sleep(Duration::from_millis(200));
    let begun = Instant::now();
    server.signal("TERM");
    assert!(server.ended().success());
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
}

#[test]
fn a_server_is_ready_until_it_is_told_to_stop() {
    let mut server = Server::start(&[]);
    let admin = Caller::admin(&server);
    let ready = admin.ask("GET", "/v2/ready", &[("Authorization", "none")], "").is(200);
    assert_eq!(ready.json()["status"], "ready");
    // An open request keeps a connection on which the server can still be asked.
    let mut kept = half_sent(&server);
    std::thread::sleep(Duration::from_millis(200));
    server.signal("TERM");
    wait_for("the signal", LIMIT, || server.logged().contains("stopping").then_some(()));
    // The rest of the body, and a second request behind it.
    kept.write_all(b"}GET /v2/ready HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
    let mut answers = String::new();
    kept.read_to_string(&mut answers).unwrap();
    assert!(answers.starts_with("HTTP/1.1 200"), "{answers}");
    assert!(!answers.contains("ready\""), "{answers}");
    assert!(server.ended().success());
}
