//! Files to and from a good machine.

use std::os::unix::fs::PermissionsExt as _;

use cooperage_plugins::ssh::{Backend, SshError};

use crate::sshd::Sshd;
use crate::{connect, over_every_backend};

over_every_backend! {
    files_arrive_byte_by_byte_with_their_mode
    a_file_that_cannot_be_written_says_why
    a_file_that_is_not_there_says_so
}

async fn files_arrive_byte_by_byte_with_their_mode(backend: Backend) {
    let server = Sshd::start();
    let connection = connect(backend, &server.target()).await.unwrap();
    for (size, mode) in [(0, 0o600), (1, 0o644), (100_000, 0o755), (3_000_001, 0o600)] {
        let content: Vec<u8> =
            (0..size as u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
        let path = server.path("a file with 'quotes'");
        connection.upload(path.to_str().unwrap(), &content, mode).await.unwrap();
        assert!(std::fs::read(&path).unwrap() == content, "{size} bytes");
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, mode);
        assert!(connection.download(path.to_str().unwrap()).await.unwrap() == content, "{size} bytes back");
    }
    let names = std::fs::read_dir(server.dir.path()).unwrap().flatten().map(|e| e.file_name());
    assert_eq!(names.filter(|name| name.to_string_lossy().contains("part")).count(), 0);
}

async fn a_file_that_cannot_be_written_says_why(backend: Backend) {
    let server = Sshd::start();
    let connection = connect(backend, &server.target()).await.unwrap();
    let fault = connection.upload("/no/such/directory/file", b"x", 0o600).await.unwrap_err();
    assert!(matches!(&fault, SshError::RemoteFile { .. }), "{fault:?}");
    let text = fault.to_string();
    assert!(text.contains("/no/such/directory/file") && text.contains("directory"), "{text}");
}

async fn a_file_that_is_not_there_says_so(backend: Backend) {
    let server = Sshd::start();
    let connection = connect(backend, &server.target()).await.unwrap();
    let fault = connection.download("/no/such/file").await.unwrap_err().to_string();
    assert!(fault.contains("No such file"), "{fault}");
}
