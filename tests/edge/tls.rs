//! TLS on both ports, and of the calls to provisioners.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use reqwest::{Certificate, Identity};
use serde_json::json;

use crate::caller::Caller;
use crate::lab::{Server, http, wait_for};
use crate::papers::{Authority, Paper};

const LIMIT: Duration = Duration::from_secs(20);

fn settings(section: &str, paper: &Paper, client_ca: Option<&Path>) -> Vec<String> {
    let mut settings = vec![
        format!("tls.{section}.certificate={}", paper.certificate.display()),
        format!("tls.{section}.key={}", paper.key.display()),
    ];
    settings.extend(client_ca.map(|path| format!("tls.{section}.client_ca={}", path.display())));
    settings
}

/// A caller that trusts a CA, and may have a certificate.
fn caller(server: &Server, port: u16, ca: &Authority, paper: Option<&Paper>) -> Caller {
    let trusted = Certificate::from_pem(ca.pem().as_bytes()).unwrap();
    let mut builder = http().tls_certs_only([trusted]);
    if let Some(paper) = paper {
        let pem = [&paper.certificate, &paper.key].map(|path| std::fs::read(path).unwrap()).concat();
        builder = builder.identity(Identity::from_pem(&pem).unwrap());
    }
    let token = std::fs::read_to_string(server.data_dir().join("admin.token")).unwrap();
    Caller::new(&format!("https://127.0.0.1:{port}"), token.trim(), builder)
}

#[test]
fn a_port_with_a_certificate_speaks_tls_to_who_trusts_it_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let (ours, other) = (Authority::new("ours"), Authority::new("other"));
    let paper = ours.issue(folder.path(), "server");
    let server = Server::start(&settings("user", &paper, None));
    let [user, tasks] = server.ports();
    caller(&server, user, &ours, None).get("/v2/clusters").is(200);
    let fault = caller(&server, user, &other, None).try_ask("GET", "/status", &[], "").unwrap_err();
    assert!(fault.contains("UnknownIssuer"), "{fault}");
    assert!(Caller::admin(&server).try_ask("GET", "/status", &[], "").is_err(), "plain HTTP");
    // The other port has settings of its own.
    Caller::new(&format!("http://127.0.0.1:{tasks}"), "", http()).get("/v2/ready").is(200);
    assert!(server.logged().contains("others may read a private key"), "{}", server.logged());
}

#[test]
fn only_certificates_of_the_client_ca_open_the_port_for_provisioners() {
    let folder = tempfile::tempdir().unwrap();
    let (ours, clients, other) = (Authority::new("ours"), Authority::new("clients"), Authority::new("other"));
    let ca = clients.file(folder.path(), "clients.pem");
    let server = Server::start(&settings("tasks", &ours.issue(folder.path(), "server"), Some(&ca)));
    let [_, tasks] = server.ports();
    let papers = [
        ("good", Some(clients.issue(folder.path(), "good")), true),
        ("expired", Some(clients.issue_expired(folder.path(), "expired")), false),
        ("of another CA", Some(other.issue(folder.path(), "wrong")), false),
        ("none", None, false),
    ];
    for (what, paper, good) in papers {
        let asked = caller(&server, tasks, &ours, paper.as_ref()).try_ask("GET", "/v2/ready", &[], "");
        assert_eq!(asked.is_ok_and(|told| told.status == 200), good, "{what}");
    }
    // The port for people does not care.
    Caller::admin(&server).get("/v2/clusters").is(200);
}

#[test]
fn new_certificates_are_used_without_a_restart_and_wrong_ones_are_not() {
    let folder = tempfile::tempdir().unwrap();
    let (first, second) = (Authority::new("first"), Authority::new("second"));
    let paper = first.issue(folder.path(), "server");
    let clients = Authority::new("clients");
    let ca = clients.file(folder.path(), "clients.pem");
    let mut set = settings("user", &paper, None);
    set.extend(settings("tasks", &paper, Some(&ca)));
    let server = Server::start(&set);
    let [user, tasks] = server.ports();
    let trusts = |ca: &Authority| caller(&server, user, ca, None).try_ask("GET", "/status", &[], "").is_ok();
    assert!(trusts(&first) && !trusts(&second));

    // Half a renewal: the old pair stays, and the fault is told.
    std::fs::write(&paper.key, "no key").unwrap();
    wait_for("the fault", LIMIT, || server.logged().contains("holds no private key").then_some(()));
    assert!(trusts(&first));

    second.issue(folder.path(), "server");
    wait_for("the new certificate", LIMIT, || trusts(&second).then_some(()));
    assert!(!trusts(&first));

    // Another CA of clients counts at once after a hang-up.
    let old = clients.issue(folder.path(), "old");
    caller(&server, tasks, &second, Some(&old)).get("/v2/ready").is(200);
    let others = Authority::new("other clients");
    others.file(folder.path(), "clients.pem");
    server.signal("HUP");
    let is_in =
        |paper| caller(&server, tasks, &second, Some(paper)).try_ask("GET", "/v2/ready", &[], "").is_ok();
    wait_for("the new CA", LIMIT, || (!is_in(&old)).then_some(()));
    assert!(is_in(&others.issue(folder.path(), "new")));
}

#[test]
fn a_file_that_cannot_be_used_is_named_with_its_setting() {
    let folder = tempfile::tempdir().unwrap();
    let ours = Authority::new("ours");
    let (one, two) = (ours.issue(folder.path(), "one"), ours.issue(folder.path(), "two"));
    let garbage = folder.path().join("garbage");
    std::fs::write(&garbage, "garbage").unwrap();
    let set = |certificate: &Path, key: &Path, more: &[&str]| {
        let mut set = vec![
            format!("tls.tasks.certificate={}", certificate.display()),
            format!("tls.tasks.key={}", key.display()),
        ];
        set.extend(more.iter().map(|text| (*text).to_owned()));
        Server::refused(&set)
    };
    let missing = folder.path().join("missing");
    let nowhere = Path::new("");
    let ca = format!("tls.tasks.client_ca={}", garbage.display());
    for (said, words) in [
        (set(&missing, &one.key, &[]), ["tls.tasks.certificate", "missing", "cannot be read"]),
        (set(&garbage, &one.key, &[]), ["tls.tasks.certificate", "garbage", "holds no certificate"]),
        (set(&one.certificate, nowhere, &[]), ["tls.tasks.key", "\"\"", "is missing"]),
        (set(&one.certificate, &garbage, &[]), ["tls.tasks.key", "garbage", "holds no private key"]),
        (set(&one.certificate, &two.key, &[]), ["tls.tasks.key", "two.key", "is not the key of"]),
        (set(&one.certificate, &one.key, &[&ca]), ["tls.tasks.client_ca", "garbage", "holds no certificate"]),
        (set(nowhere, &one.key, &[]), ["tls.tasks.key", "one.key", "is of no use without"]),
    ] {
        assert!(words.iter().all(|word| said.contains(word)), "{words:?} {said}");
    }
}

#[test]
fn the_command_line_connects_with_a_ca_and_a_certificate_and_says_what_is_missing() {
    let folder = tempfile::tempdir().unwrap();
    let ours = Authority::new("ours");
    let ca = ours.file(folder.path(), "ca.pem");
    let server = Server::start(&settings("user", &ours.issue(folder.path(), "server"), Some(&ca)));
    let mine = ours.issue(folder.path(), "mine");
    let url = format!("https://127.0.0.1:{}", server.ports()[0]);
    let token = server.data_dir().join("admin.token");
    let run = |more: &[(&str, &Path)]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cooperage"));
        command.args(["cluster", "list", "--server", &url]).arg("--token-file").arg(&token);
        for (option, path) in more {
            command.arg(option).arg(path);
        }
        let done = command.output().unwrap();
        (done.status.success(), String::from_utf8_lossy(&done.stderr).into_owned())
    };
    let whole: [(&str, &Path); 3] =
        [("--ca-file", &ca), ("--client-certificate", &mine.certificate), ("--client-key", &mine.key)];
    let (good, said) = run(&whole);
    assert!(good, "{said}");
    for (given, word) in [
        (&whole[1..], "--ca-file"),
        (&whole[..1], "--client-certificate"),
        (&whole[..2], "name both"),
        (&[("--ca-file", mine.key.as_path())][..], "holds no certificate"),
    ] {
        let (good, said) = run(given);
        assert!(!good && said.contains(word), "{word}: {said}");
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_cooperage"));
    let done = command
        .args(["cluster", "list", "--server", &url])
        .arg("--token-file")
        .arg(&token)
        .env("COOPERAGE_CA_FILE", &ca)
        .env("COOPERAGE_CLIENT_CERTIFICATE", &mine.certificate)
        .env("COOPERAGE_CLIENT_KEY", &mine.key)
        .status()
        .unwrap();
    assert!(done.success(), "from the environment");
}

#[test]
fn a_host_without_cas_can_use_plain_http_and_is_told_what_tls_needs() {
    let server = Server::start(&[]);
    let empty = tempfile::tempdir().unwrap();
    let run = |url: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cooperage"));
        command
            .args(["status", "--server", url])
            .arg("--token-file")
            .arg(server.data_dir().join("admin.token"));
        command.env("SSL_CERT_FILE", empty.path().join("none")).env("SSL_CERT_DIR", empty.path());
        let done = command.output().unwrap();
        (done.status.success(), String::from_utf8_lossy(&done.stderr).into_owned())
    };
    let (good, said) = run(&server.base());
    assert!(good, "{said}");
    let (good, said) = run("https://127.0.0.1:1");
    assert!(!good && said.contains("--ca-file"), "{said}");
}

#[test]
fn provisioners_are_called_with_tls_and_see_who_calls() {
    let folder = tempfile::tempdir().unwrap();
    let (theirs, ours) = (Authority::new("theirs"), Authority::new("ours"));
    let their_paper = theirs.issue(folder.path(), "provisioner");
    let our_paper = ours.issue(folder.path(), "server");
    let calls = Arc::new(AtomicUsize::new(0));
    let port = provisioner(&their_paper, &ours, Arc::clone(&calls));
    let server = Server::start(&[
        format!("tls.provisioners.ca={}", theirs.file(folder.path(), "theirs.pem").display()),
        format!("tls.provisioners.certificate={}", our_paper.certificate.display()),
        format!("tls.provisioners.key={}", our_paper.key.display()),
        "workers.local=0".to_owned(),
    ]);
    let registration = json!({"id": "p1", "host": "127.0.0.1", "port": port, "capacityTotal": 10});
    let inside = Caller::new(&format!("http://127.0.0.1:{}", server.ports()[1]), "", http());
    inside.put("/v2/provisioners/p1", &[], &registration).is(200);
    let admin = Caller::admin(&server);
    admin
        .put("/v2/tenants/superadmin", &[], &json!({"tenant": {"name": "superadmin", "workers": 2}}))
        .is(200);
    wait_for("the call", LIMIT, || (calls.load(Ordering::Relaxed) > 0).then_some(()));
    let assigned = admin.get("/v2/provisioners/p1").is(200).json();
    assert_eq!(assigned["assignments"]["superadmin"], 2, "{assigned}");
}

/// A provisioner that only answers callers with a certificate, and counts them.
fn provisioner(paper: &Paper, clients: &Authority, calls: Arc<AtomicUsize>) -> u16 {
    use rustls::pki_types::pem::PemObject;
    use rustls::pki_types::{CertificateDer, PrivateKeyDer};
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut roots = rustls::RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(clients.pem().as_bytes()).unwrap()).unwrap();
    let verifier = rustls::server::WebPkiClientVerifier::builder(Arc::new(roots)).build().unwrap();
    let config = rustls::ServerConfig::builder()
        .with_client_cert_verifier(verifier)
        .with_single_cert(
            vec![CertificateDer::from_pem_file(&paper.certificate).unwrap()],
            PrivateKeyDer::from_pem_file(&paper.key).unwrap(),
        )
        .unwrap();
    let (sender, receiver) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        actix_rt::System::new().block_on(async move {
            let server = actix_web::HttpServer::new(move || {
                let calls = Arc::clone(&calls);
                actix_web::App::new().default_service(actix_web::web::to(move || {
                    calls.fetch_add(1, Ordering::Relaxed);
                    async { actix_web::HttpResponse::Ok().finish() }
                }))
            });
            let server = server.workers(1).disable_signals();
            let server = server.bind_rustls_0_23("127.0.0.1:0", config).unwrap();
            sender.send(server.addrs()[0].port()).unwrap();
            server.run().await.unwrap();
        });
    });
    receiver.recv().unwrap()
}
