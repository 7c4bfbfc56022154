//! Plugin resources in a bucket, from the upload to their use by a plugin.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use crate::lab::{Client, Server, wait_for};
use crate::plugins::{LIMIT, Place, describe, names, setting};

/// A service that speaks S3, gone when dropped.
struct Service {
    process: Child,
    endpoint: String,
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Service {
    /// `moto_server`, with the bucket `coop`; `None` where it is not installed.
    fn start() -> Option<Self> {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port().to_string();
        let mut command = Command::new("moto_server");
        command.args(["-H", "127.0.0.1", "-p", &port]).stdout(Stdio::null()).stderr(Stdio::null());
        let service = Self { process: command.spawn().ok()?, endpoint: format!("http://127.0.0.1:{port}") };
        let client = Client::with_headers(&service.endpoint, &[]);
        wait_for("the service", LIMIT, || {
            client.try_ask("PUT", "/coop", Vec::new()).filter(|made| made.status == 200)
        });
        Some(service)
    }
}

#[test]
fn a_resource_in_a_bucket_reaches_the_plugin_that_uses_it() {
    let Some(service) = Service::start() else {
        println!("\n*** SKIPPED: no moto_server on the PATH; pip install 'moto[server]' ***\n");
        return;
    };
    let place = Place::new();
    let script = "#!/bin/sh\ncat > /dev/null\nprintf '{\"log\": \"note: %s\"}\\n' \"$(cat notes/one)\"\n\
        echo '{\"result\": {\"ipaddresses\": {\"access_v4\": \"192.0.2.1\"}, \"result\": {\"providerid\": \"m\"}}}'\n";
    let keys = place.open("keys").join("s3");
    fs::write(&keys, "AWS_ACCESS_KEY_ID=test\nAWS_SECRET_ACCESS_KEY=s3cr3t\n").unwrap();
    fs::set_permissions(&keys, fs::Permissions::from_mode(0o600)).unwrap();
    let mut server = Server::start(&[
        setting(&place.script(script)),
        "resources.store=s3".into(),
        "resources.bucket=coop".into(),
        format!("resources.endpoint={}", service.endpoint),
        format!("resources.credentials={}", keys.display()),
    ]);
    let admin = server.admin();
    let one = "/v2/plugins/providertypes/acme/notes/one";
    admin.post_bytes(one, b"kept far away").ok();
    admin.post(&format!("{one}/versions/1/stage"), &Value::Null).ok();
    admin.post("/v2/plugins/sync", &Value::Null).ok();
    server.stop();
    server.run();
    let admin = server.admin();
    let provider = json!({"kind": "provider", "name": "acme", "providertype": "acme", "provisioner": {}});
    describe(&admin, &provider, &json!({}));
    let id = admin.create(&json!({"name": "farm", "clusterTemplate": "farm", "numMachines": 1}));
    admin.active(&id, Duration::from_secs(90));
    let logs = admin.get(&format!("/v2/clusters/{id}/logs")).ok().to_string();
    assert!(logs.contains("note: kept far away"), "{logs}");
    assert_eq!(names(&server.data_dir().join("resources")), [".drafts"], "nothing is kept here");
    assert_eq!(names(&server.data_dir().join("resources/.drafts")), [""; 0]);
    let log = fs::read_to_string(server.folder().join("server.log")).unwrap();
    assert!(!log.contains("s3cr3t"), "{log}");
}
