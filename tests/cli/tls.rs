//! Servers behind TLS: whom the client believes.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::pki_types::PrivateKeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use crate::terminal::{Terminal, ran};

/// An authority: its certificate, and itself.
fn authority() -> (String, Issuer<'static, KeyPair>) {
    let key = KeyPair::generate().unwrap();
    let mut parameters = CertificateParams::new([]).unwrap();
    parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let certificate = parameters.self_signed(&key).unwrap().pem();
    (certificate, Issuer::new(parameters, key))
}

/// A server for this host that an authority vouches for, which says of everything that there is none.
fn serve(authority: &Issuer<'static, KeyPair>) -> SocketAddr {
    let key = KeyPair::generate().unwrap();
    let parameters = CertificateParams::new(["127.0.0.1".to_owned()]).unwrap();
    let certificate = parameters.signed_by(&key, authority).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let key = PrivateKeyDer::Pkcs8(key.serialize_der().into());
    let config = config.with_no_client_auth().with_single_cert(vec![certificate.der().clone()], key).unwrap();
    let config = Arc::new(config);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    // Ends with the test's process.
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let mut stream = StreamOwned::new(ServerConnection::new(Arc::clone(&config)).unwrap(), stream);
            // A client that does not believe us leaves.
            if stream.read(&mut [0; 4096]).is_ok_and(|length| length > 0) {
                let _ =
                    stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\n[]");
                stream.conn.send_close_notify();
                let _ = stream.flush();
            }
        }
    });
    address
}

#[test]
fn a_server_is_believed_when_the_authority_that_was_named_vouches_for_it() {
    let terminal = Terminal::new();
    let (certificate, issuer) = authority();
    let (other, _) = authority();
    let server = format!("https://{}", serve(&issuer));
    let types = |line: &str| ran(terminal.command().args(line.split(' ')), "");
    terminal.file("ca.pem", &certificate);
    terminal.file("other.pem", &other);
    assert_eq!(
        types(&format!("service list --server {server} --ca-file ca.pem -o json")).json(),
        serde_json::json!([])
    );
    types(&format!("service list --server {server} --ca-file other.pem")).fails(1, "--ca-file");
    types(&format!("service list --server {server}")).fails(1, "not to be trusted");
    types(&format!("context set prod --server {server} --ca-file ca.pem")).ok();
    assert_eq!(types("service list -o name").ok(), "");
}
