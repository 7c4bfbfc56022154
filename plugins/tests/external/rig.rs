//! A host with plugins of a test's own.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use cooperage_domain::health::Finding;
use cooperage_domain::task::{TaskOrder, TaskReport};
use cooperage_plugins::external::{
    Account, ExternalAutomator, ExternalProvider, PluginHost, ProcessLimits, declared,
};
use cooperage_plugins::resources::{Active, ArchiveLimits, PluginResources, ResourceKey, Side};
use cooperage_plugins::{Context, Output, PluginSet, Stream};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use slog::{Discard, Logger, o};
use tokio_util::sync::CancellationToken;

/// Longest line in these tests.
pub const LINE: usize = 4096;

/// What was printed.
#[derive(Default)]
pub struct Noted(Mutex<Vec<(Stream, String)>>);

impl Output for Noted {
    fn line(&self, stream: Stream, text: &str) {
        self.0.lock().unwrap().push((stream, text.to_owned()));
    }
}

impl Noted {
    pub fn of(&self, stream: Stream) -> Vec<String> {
        self.0.lock().unwrap().iter().filter(|(of, _)| *of == stream).map(|(_, text)| text.clone()).collect()
    }
}

/// Folders of a host: plugins, and what the server keeps.
pub struct Rig {
    folder: tempfile::TempDir,
    pub resources: PluginResources,
    pub cancel: CancellationToken,
    pub noted: Arc<Noted>,
}

impl Rig {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        // Programs run as somebody else, who must be let in; what the server keeps is for the server alone.
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
        for (name, mode) in [("plugins", 0o755), ("data", 0o700), ("open", 0o777)] {
            fs::create_dir(folder.path().join(name)).unwrap();
            fs::set_permissions(folder.path().join(name), fs::Permissions::from_mode(mode)).unwrap();
        }
        let resources = PluginResources::local(&folder.path().join("data/resources"));
        Self { folder, resources, cancel: CancellationToken::new(), noted: Arc::new(Noted::default()) }
    }

    /// A folder that everybody may write to.
    pub fn open(&self) -> PathBuf {
        self.folder.path().join("open")
    }

    pub fn runs(&self) -> PathBuf {
        self.folder.path().join("data/runs")
    }

    /// A plugin of the book.
    pub fn with_example(self, name: &str) -> Self {
        let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/examples/plugins").join(name);
        let to = self.folder.path().join("plugins").join(name);
        fs::create_dir(&to).unwrap();
        for file in fs::read_dir(from).unwrap().map(|file| file.unwrap().path()) {
            fs::copy(&file, to.join(file.file_name().unwrap())).unwrap();
        }
        self
    }

    /// Provider and automator `acme`, carried out by a script.
    pub fn with_script(self, script: &str) -> Self {
        self.with_program(script, false)
    }

    /// The same, of a descriptor that says it can be asked how things are.
    pub fn with_prober(self, script: &str) -> Self {
        self.with_program(script, true)
    }

    fn with_program(self, script: &str, probe: bool) -> Self {
        let folder = self.folder.path().join("plugins/acme");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("run"), script).unwrap();
        fs::set_permissions(folder.join("run"), fs::Permissions::from_mode(0o755)).unwrap();
        let descriptor = json!({
            "name": "acme", "providertypes": ["acme"], "automatortypes": [],
            "process": {"executable": "run", "environment": ["CARGO_PKG_NAME"], "probe": probe},
            "acme": {"name": "acme", "parameters": {"admin": {"fields": {"token": {"label": "T", "type": "password"}}}},
                "resourceTypes": {"keys": {"format": "file", "permissions": "0600"}, "tools": {"format": "file", "permissions": "755"},
                    "books": {"format": "archive"}}}});
        fs::write(folder.join("acme.json"), descriptor.to_string()).unwrap();
        self
    }

    /// A resource in use.
    pub fn upload(&self, side: Side, plugin: &str, kind: &str, name: &str, bytes: &[u8]) -> ResourceKey {
        let (tenant, plugin) = ("superadmin".to_owned(), plugin.to_owned());
        let key = ResourceKey { tenant, side, plugin, kind: kind.to_owned(), name: name.to_owned() };
        let draft = self.resources.drafts().unwrap().join("draft");
        fs::write(&draft, bytes).unwrap();
        self.resources.place(&key, 1, &draft).unwrap();
        let sha256 = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        self.resources.activate(&key, Some(&Active { version: 1, sha256 })).unwrap();
        key
    }

    /// Where the bytes of its first version lie.
    pub fn bytes_of(&self, key: &ResourceKey) -> PathBuf {
        let folder = self.folder.path().join("data/resources");
        folder
            .join(&key.tenant)
            .join(key.side.as_str())
            .join(&key.plugin)
            .join(&key.kind)
            .join(&key.name)
            .join("1")
    }

    fn plugins(&self, memory_mb: u64) -> PluginSet {
        let host = Arc::new(PluginHost {
            runs: self.runs(),
            identity: self.folder.path().join("data/identity"),
            account: Account::for_plugins("nobody").unwrap(),
            limits: ProcessLimits { memory_mb, open_files: 64, line_bytes: LINE },
            archives: ArchiveLimits::default(),
            resources: self.resources.clone(),
            log: Logger::root(Discard, o!()),
        });
        let found = declared(&self.folder.path().join("plugins")).unwrap();
        found.into_iter().fold(PluginSet::default(), |set, one| match one.side {
            Side::Provider => set.with_provider(Arc::new(ExternalProvider::new(Arc::clone(&host), one))),
            Side::Automator => set.with_automator(Arc::new(ExternalAutomator::new(Arc::clone(&host), one))),
        })
    }

    pub async fn execute(&self, order: TaskOrder) -> TaskReport {
        self.execute_within(order, 512).await
    }

    pub async fn probe(&self, order: TaskOrder) -> Finding {
        let output = Arc::clone(&self.noted);
        let context = Context { tenant: "superadmin".into(), order, output, cancel: self.cancel.clone() };
        self.plugins(512).probe(&context).await
    }

    /// With so much memory.
    pub async fn execute_within(&self, order: TaskOrder, memory_mb: u64) -> TaskReport {
        let output = Arc::clone(&self.noted);
        let context = Context { tenant: "superadmin".into(), order, output, cancel: self.cancel.clone() };
        let report = self.plugins(memory_mb).execute(context).await;
        let left = fs::read_dir(self.runs()).unwrap().count();
        assert_eq!(left, 0, "the folder of a run is left");
        report
    }
}

/// An order for a node, with more in its configuration.
pub fn order(task: &str, node: &str, plugin: &str, provisioner: &Value, more: &Value) -> TaskOrder {
    let mut config = json!({
        "provider": {"name": "p", "providertype": plugin, "provisioner": provisioner}, "sshuser": "root",
        "automators": [plugin], "nodenum": 1000,
    });
    config.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap_or_else(Map::new));
    serde_json::from_value(json!({
        "taskId": "00000001-002-003", "jobId": "00000001-002", "clusterId": "00000001", "taskName": task,
        "nodeId": node, "attempt": 1, "config": config,
    }))
    .unwrap()
}

/// A create for provider `acme`.
pub fn create() -> TaskOrder {
    order("CREATE", "node-1", "acme", &json!({"token": "hunter2-secret"}), &json!({}))
}
