//! Resources in buckets: one in memory, and one behind a real service where there is one.

use std::io::{Read, Write};

use cooperage_plugins::resources::{Active, ResourceKey, Side};
use object_store::memory::InMemory;
use sha2::{Digest, Sha256};

use super::*;

fn key(tenant: &str, name: &str) -> ResourceKey {
    let (plugin, kind) = ("shell".to_owned(), "scripts".to_owned());
    ResourceKey { tenant: tenant.to_owned(), side: Side::Automator, plugin, kind, name: name.to_owned() }
}

fn place(resources: &PluginResources, key: &ResourceKey, version: u64, bytes: &[u8]) -> Active {
    let mut draft = tempfile::NamedTempFile::new_in(resources.drafts().unwrap()).unwrap();
    draft.write_all(bytes).unwrap();
    let (_, path) = draft.keep().unwrap();
    resources.place(key, version, &path).unwrap();
    assert!(!path.exists(), "the draft is gone");
    Active { version, sha256: Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect() }
}

/// What every store must do, through the eyes of those who use it.
fn serves_as_a_store(resources: &PluginResources) {
    let (one, two) = (key("a", "web.sh"), key("a", "db.sh"));
    assert_eq!(resources.active(&one).unwrap(), None);
    let first = place(resources, &one, 1, b"first");
    // More than one part of an upload.
    let large = vec![7; 23 << 20];
    let second = place(resources, &two, 12, &large);
    resources.activate(&one, Some(&first)).unwrap();
    resources.activate(&two, Some(&second)).unwrap();
    assert_eq!(resources.read_active(&one).unwrap(), b"first");
    let mut bytes = Vec::new();
    resources.open(&two, 12, &second.sha256).unwrap().unwrap().read_to_end(&mut bytes).unwrap();
    assert!(bytes == large);
    assert_eq!(resources.in_use("a", Side::Automator, "shell").unwrap(), [two.clone(), one.clone()]);
    assert!(matches!(resources.open(&one, 1, &second.sha256), Err(ResourceError::Corrupt { .. })));
    assert!(resources.open(&one, 2, &first.sha256).unwrap().is_none());

    resources.copy_tenant("a", "ab").unwrap();
    assert_eq!(resources.read_active(&key("ab", "web.sh")).unwrap(), b"first");
    resources.remove_tenant("a").unwrap();
    assert_eq!(resources.active(&one).unwrap(), None);
    assert_eq!(
        resources.read_active(&key("ab", "web.sh")).unwrap(),
        b"first",
        "its name only begins like the other's"
    );
    let copy = key("ab", "web.sh");
    resources.activate(&copy, None).unwrap();
    resources.remove(&copy, 1).unwrap();
    resources.remove(&copy, 1).unwrap();
    assert!(resources.open(&copy, 1, &first.sha256).unwrap().is_none());
    resources.remove_tenant("ab").unwrap();
}

#[test]
fn a_bucket_in_memory_serves_as_a_store() {
    let folder = tempfile::tempdir().unwrap();
    let runtime = Runtime::new().unwrap();
    let bucket =
        Bucket::new(Arc::new(InMemory::new()), "/some/prefix/", folder.path(), runtime.handle().clone());
    bucket.look().unwrap();
    serves_as_a_store(&PluginResources::new(Arc::new(bucket), folder.path()));
}

#[test]
fn a_file_of_credentials_is_for_its_owner_alone_and_never_shown() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("s3");
    let write = |text: &str, mode| {
        std::fs::write(&file, text).unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    write("AWS_ACCESS_KEY_ID=AKIA\nAWS_SECRET_ACCESS_KEY = s3cr3t=\n\n", 0o600);
    let found = credentials(&file).unwrap();
    assert_eq!(found.iter().map(|(_, value)| value.as_str()).collect::<Vec<_>>(), ["AKIA", "s3cr3t="]);
    for (text, mode, words) in [
        ("AWS_SECRET_ACCESS_KEY=s3cr3t", 0o644, "can be read by others"),
        ("s3cr3t", 0o600, "a line 1 that is none of its own"),
        ("AWS_ACCESS_KEY=s3cr3t", 0o600, "a line 1 that is none of its own"),
    ] {
        write(text, mode);
        let fault = credentials(&file).unwrap_err().to_string();
        assert!(
            fault.contains(words) && fault.contains("resources.credentials") && !fault.contains("s3cr3t"),
            "{fault}"
        );
    }
}

/// A service that speaks S3 (`moto_server`, from the Python package `moto[server]`), gone when dropped.
struct Service {
    process: std::process::Child,
    endpoint: String,
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Service {
    /// Starts one with the bucket `coop`; `None` where the program is not installed.
    fn start(runtime: &Runtime) -> Option<Self> {
        let port =
            std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port().to_string();
        let mut command = std::process::Command::new("moto_server");
        command.args(["-H", "127.0.0.1", "-p", &port]).stdout(std::process::Stdio::null());
        let process = command.stderr(std::process::Stdio::null()).spawn().ok()?;
        let service = Self { process, endpoint: format!("http://127.0.0.1:{port}") };
        // As `main` does it; tests come here by themselves.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::Client::builder().no_proxy().tls_certs_only([]).build().unwrap();
        for _ in 0..600 {
            let made = runtime.block_on(client.put(format!("{}/coop", service.endpoint)).send());
            if made.is_ok_and(|answer| answer.status().is_success()) {
                return Some(service);
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        panic!("moto_server does not answer at {}", service.endpoint);
    }
}

#[test]
fn a_service_that_speaks_s3_serves_as_a_store() {
    let folder = tempfile::tempdir().unwrap();
    let runtime = Runtime::new().unwrap();
    let Some(service) = Service::start(&runtime) else {
        eprintln!(
            "\n*** SKIPPED: no moto_server on the PATH, so nothing was tested against a service that speaks S3; \
            pip install 'moto[server]' ***\n"
        );
        return;
    };
    let keys = folder.path().join("keys");
    std::fs::write(&keys, "AWS_ACCESS_KEY_ID=test\nAWS_SECRET_ACCESS_KEY=s3cr3t\n").unwrap();
    std::fs::set_permissions(&keys, std::fs::Permissions::from_mode(0o600)).unwrap();
    let with = |bucket: &str| {
        let set = [
            "resources.store=s3".to_owned(),
            format!("resources.bucket={bucket}"),
            format!("resources.endpoint={}", service.endpoint),
            format!("resources.credentials={}", keys.display()),
        ];
        let settings = Settings::load(Some(Path::new("etc/cooperage.toml")), &set).unwrap();
        open(&settings, &folder.path().join("resources"), &runtime)
    };
    let resources = with("coop").unwrap();
    serves_as_a_store(&resources);
    assert!(!format!("{resources:?}").contains("s3cr3t"));
    let fault = with("nowhere").unwrap_err().to_string();
    assert!(
        fault.contains("resources.bucket") && fault.contains("nowhere") && !fault.contains("s3cr3t"),
        "{fault}"
    );
}
