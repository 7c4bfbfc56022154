//! Plugins that are programs, through the server: those of the book make a cluster; bad ones stop the start.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::lab::{Client, Server, apply, wait_for};

pub const LIMIT: Duration = Duration::from_secs(60);
/// Marks a process that is to be looked for.
const SLEEP: &str = "86311";

/// A folder that every user may read.
pub struct Place(TempDir);

impl Place {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
        Self(folder)
    }

    /// A folder that every user may write to.
    pub fn open(&self, name: &str) -> PathBuf {
        let path = self.0.path().join(name);
        fs::create_dir(&path).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o777)).unwrap();
        path
    }

    /// The plugins of the book.
    fn examples(&self) -> PathBuf {
        let plugins = self.0.path().join("plugins");
        for name in ["host-list", "scrape-targets"] {
            let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/examples/plugins").join(name);
            fs::create_dir_all(plugins.join(name)).unwrap();
            for file in fs::read_dir(from).unwrap().map(|file| file.unwrap().path()) {
                fs::copy(&file, plugins.join(name).join(file.file_name().unwrap())).unwrap();
            }
        }
        plugins
    }

    /// Provider `acme`, carried out by a script.
    pub fn script(&self, script: &str) -> PathBuf {
        let plugins = self.0.path().join("plugins");
        fs::create_dir_all(plugins.join("acme")).unwrap();
        fs::write(plugins.join("acme/run"), script).unwrap();
        fs::set_permissions(plugins.join("acme/run"), fs::Permissions::from_mode(0o755)).unwrap();
        let descriptor = json!({"name": "acme", "providertypes": ["acme"], "process": {"executable": "run"},
            "acme": {"name": "acme", "resourceTypes": {"books": {"format": "archive"}, "notes": {"format": "file"}}}});
        fs::write(plugins.join("acme/acme.json"), descriptor.to_string()).unwrap();
        plugins
    }
}

pub fn setting(plugins: &Path) -> String {
    format!("plugins.dir={}", plugins.display())
}

/// A template `farm` of one service with these actions, on a provider.
pub fn describe(admin: &Client, provider: &Value, actions: &Value) {
    let name = provider["name"].as_str().unwrap();
    let on = |value: Value| json!({ name: value });
    apply(
        admin,
        &json!([
            provider,
            {"kind": "hardwaretype", "name": "small", "providermap": on(json!({"flavor": "any"}))},
            {"kind": "imagetype", "name": "plain", "providermap": on(json!({"image": "any", "sshuser": "root"}))},
            {"kind": "service", "name": "web", "dependencies": {"provides": [], "conflicts": []},
                "provisioner": {"actions": actions}},
            {"kind": "clustertemplate", "name": "farm",
                "defaults": {"services": ["web"], "provider": name, "hardwaretype": "small", "imagetype": "plain"},
                "compatibility": {"hardwaretypes": ["small"], "imagetypes": ["plain"], "services": ["web"]},
                "administration": {"leaseduration": {"initial": 0, "max": 0, "step": 0}}},
        ]),
    );
}

pub fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn a_provider_in_python_and_an_automator_in_shell_make_a_cluster() {
    let place = Place::new();
    let (state, targets) = (place.open("state"), place.open("targets"));
    let server = Server::start(&[setting(&place.examples())]);
    let admin = server.admin();
    assert_eq!(admin.get("/v2/plugins/providertypes/host-list").ok()["label"], "List of hosts");
    let shown = admin.get("/v2/plugins/automatortypes/scrape-targets").ok();
    assert_eq!(shown["parameters"]["admin"]["required"], json!([["folder", "port"]]));
    let fields = json!({"hosts": "192.0.2.10 192.0.2.11 192.0.2.12", "state": state, "port": "0"});
    let provider =
        json!({"kind": "provider", "name": "hosts", "providertype": "host-list", "provisioner": fields});
    let action = json!({"type": "scrape-targets", "fields": {"folder": targets, "port": "9100"}});
    describe(&admin, &provider, &json!({"start": action, "stop": action}));

    let id = admin.create(&json!({"name": "farm", "clusterTemplate": "farm", "numMachines": 2}));
    let cluster = admin.active(&id, LIMIT);
    let lent = names(&state);
    assert!(lent.len() == 2 && lent.iter().all(|host| host.starts_with("192.0.2.1")), "{lent:?}");
    let found = names(&targets);
    assert!(found.len() == 2 && found.iter().all(|file| file.ends_with("-web.json")), "{found:?}");
    for node in cluster["nodes"].as_array().unwrap() {
        let file = targets.join(format!("{}-web.json", node["id"].as_str().unwrap()));
        let target: Value = serde_json::from_slice(&fs::read(file).unwrap()).unwrap();
        let address = node["properties"]["ipaddresses"]["access_v4"].as_str().unwrap();
        assert_eq!(target[0]["targets"], json!([format!("{address}:9100")]));
    }
    let logs = admin.get(&format!("/v2/clusters/{id}/logs")).ok().to_string();
    assert!(logs.contains("is lent to") && logs.contains("nothing to prepare"), "{logs}");

    // Four machines of three: what could not be made is told in the plugin's own words.
    let more = admin.create(&json!({"name": "more", "clusterTemplate": "farm", "numMachines": 2}));
    assert_ne!(admin.settled(&more, LIMIT), "active");
    assert!(admin.cluster(&more).to_string().contains("Plugin host-list failed: all 3 machines are lent"));
    admin.delete_cluster(&id, LIMIT);
    if admin.settled(&more, LIMIT) != "terminated" {
        admin.delete_cluster(&more, LIMIT);
    }
    assert_eq!(names(&state), [""; 0], "every machine is free again");
    assert_eq!(names(&server.data_dir().join("plugin-runs")), [""; 0]);
}

#[test]
fn a_run_that_a_kill_cut_off_is_ended_and_done_again_with_the_same_key() {
    let place = Place::new();
    let notes = place.open("notes");
    let script = format!(
        "#!/bin/sh\norder=$(cat)\nask() {{ printf '%s' \"$order\" | jq -r \"$1\"; }}\n\
        ask '[.taskName, .idempotenceKey] | join(\" \")' >> {notes}/calls\n\
        if [ \"$(ask .taskName)\" = CREATE ] && [ ! -e {notes}/once ]; then touch {notes}/once; sleep {SLEEP}; fi\n\
        echo '{{\"result\": {{\"ipaddresses\": {{\"access_v4\": \"192.0.2.1\"}}, \"result\": {{\"providerid\": \"m\"}}}}}}'\n",
        notes = notes.display()
    );
    let mut server = Server::start(&[setting(&place.script(&script))]);
    let provider = json!({"kind": "provider", "name": "acme", "providertype": "acme", "provisioner": {}});
    describe(&server.admin(), &provider, &json!({}));
    let id = server.admin().create(&json!({"name": "farm", "clusterTemplate": "farm", "numMachines": 1}));
    wait_for("the first run", LIMIT, || notes.join("once").exists().then_some(()));
    server.kill();
    assert!(sleeping(SLEEP) > 0, "it lives on without its server");
    server.run();
    assert_eq!(sleeping(SLEEP), 0, "and ends when the next one starts");
    server.admin().active(&id, LIMIT);
    let calls = fs::read_to_string(notes.join("calls")).unwrap();
    let creates: Vec<&str> = calls.lines().filter(|line| line.starts_with("CREATE ")).collect();
    assert!(creates.len() == 2 && creates[0] == creates[1], "{calls}");
}

/// How many processes sleep so long.
fn sleeping(long: &str) -> usize {
    let lines = fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .filter_map(|process| fs::read(process.path().join("cmdline")).ok());
    lines.filter(|line| line.split(|byte| *byte == 0).any(|argument| argument == long.as_bytes())).count()
}

#[test]
fn a_run_ends_with_an_orderly_stop_of_its_server() {
    const LONG: &str = "86312";
    let place = Place::new();
    let script = format!("#!/bin/sh\ncat > /dev/null\nsleep {LONG}\n");
    let mut server = Server::start(&[setting(&place.script(&script))]);
    let provider = json!({"kind": "provider", "name": "acme", "providertype": "acme", "provisioner": {}});
    describe(&server.admin(), &provider, &json!({}));
    server.admin().create(&json!({"name": "farm", "clusterTemplate": "farm", "numMachines": 1}));
    wait_for("the run", LIMIT, || (sleeping(LONG) > 0).then_some(()));
    server.stop();
    assert_eq!(sleeping(LONG), 0);
    assert_eq!(names(&server.data_dir().join("plugin-runs")), [""; 0]);
}

#[test]
fn a_bad_descriptor_or_setting_stops_the_start() {
    let place = Place::new();
    let plugins = place.script("#!/bin/sh\n");
    fs::set_permissions(plugins.join("acme/run"), fs::Permissions::from_mode(0o644)).unwrap();
    let said = Server::refused(&[setting(&plugins)]);
    assert!(
        said.contains("acme/acme.json: process.executable: \"run\" cannot be run; chmod 755 it"),
        "{said}"
    );
    assert!(Server::refused(&["plugins.dir=/no/such/folder".into()]).contains("/no/such/folder"));
    fs::set_permissions(plugins.join("acme/run"), fs::Permissions::from_mode(0o755)).unwrap();
    let text = fs::read_to_string(plugins.join("acme/acme.json")).unwrap();
    fs::write(plugins.join("acme/acme.json"), text.replace("\"acme\"", "\"local\"")).unwrap();
    let said = Server::refused(&[setting(&plugins)]);
    assert!(said.contains("\"local\" is the name of a plugin that comes with the program"), "{said}");
    let said = Server::refused(&["resources.store=s3".into()]);
    assert!(said.contains("resources.bucket"), "{said}");
}

#[test]
fn uploads_are_bounded_and_archives_looked_through() {
    let place = Place::new();
    let plugins = place.script("#!/bin/sh\n");
    let server = Server::start(&[
        setting(&plugins),
        "resources.max_upload_mb=1".into(),
        "resources.max_entries=3".into(),
    ]);
    let admin = server.admin();
    let post = |kind: &str, bytes: &[u8]| {
        admin.post_bytes(&format!("/v2/plugins/providertypes/acme/{kind}/one"), bytes)
    };
    let large = post("notes", &vec![b'x'; (1 << 20) + 1]);
    assert_eq!(
        (large.status, &large.body["field"], &large.body["value"]),
        (413, &json!("size"), &json!("1048577"))
    );
    assert!(large.body["remedy"].as_str().unwrap().contains("resources.max_upload_mb"), "{}", large.body);
    assert_eq!(unannounced(&server, 3 << 20), 413);
    for (bytes, words) in [
        (b"no archive".to_vec(), "no readable gzip'ed tar"),
        (archive(&["../evil"]), "leads out of its folder"),
        (archive(&["/etc/evil"]), "is absolute"),
        (archive(&["a", "b", "c", "d"]), "one too many: 3 are allowed"),
    ] {
        let refused = post("books", &bytes);
        assert_eq!((refused.status, &refused.body["field"]), (400, &json!("archive")), "{}", refused.body);
        assert!(refused.body["detail"].as_str().unwrap().contains(words), "{words}: {}", refused.body);
        assert!(!refused.body["remedy"].as_str().unwrap().is_empty());
    }
    assert_eq!(post("books", &archive(&["one/a", "one/b"])).ok()["version"], 1, "no number was used up");
    assert_eq!(post("notes", b"no archive").status, 200);
    assert_eq!(names(&server.data_dir().join("resources/.drafts")), [""; 0]);
}

#[test]
fn uploads_that_were_broken_off_are_swept_at_the_start() {
    let mut server = Server::start(&[]);
    let drafts = server.data_dir().join("resources/.drafts");
    server.kill();
    fs::create_dir_all(&drafts).unwrap();
    fs::write(drafts.join(".tmpAbCdEf"), "half of it").unwrap();
    server.run();
    assert_eq!(names(&drafts), [""; 0]);
}

/// Uploads so many bytes without saying so before; gives the answer's status.
fn unannounced(server: &Server, bytes: usize) -> u16 {
    let token = fs::read_to_string(server.data_dir().join("admin.token")).unwrap();
    let mut stream = TcpStream::connect(server.base().trim_start_matches("http://")).unwrap();
    let head = format!(
        "POST /v2/plugins/providertypes/acme/notes/one HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {}\r\n\
        Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n",
        token.trim()
    );
    stream.write_all(head.as_bytes()).unwrap();
    let chunk = [b"10000\r\n".as_slice(), &[b'x'; 0x10000], b"\r\n"].concat();
    for _ in 0..bytes / 0x10000 {
        // It may have answered and closed already.
        if stream.write_all(&chunk).is_err() {
            break;
        }
    }
    let _ = stream.write_all(b"0\r\n\r\n");
    let mut answer = [0; 12];
    stream.read_exact(&mut answer).unwrap();
    std::str::from_utf8(&answer[9..]).unwrap().parse().unwrap()
}

/// A gzip'ed tar of empty files, whatever their names.
fn archive(names: &[&str]) -> Vec<u8> {
    let mut builder =
        tar::Builder::new(flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast()));
    for name in names {
        let mut header = tar::Header::new_gnu();
        header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
        header.set_size(0);
        header.set_cksum();
        builder.append(&header, std::io::empty()).unwrap();
    }
    builder.into_inner().unwrap().finish().unwrap()
}
