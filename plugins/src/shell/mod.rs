//! Automator `shell`: services brought up by scripts over SSH.
//!
//! A service's action names a script (`script`, a plugin resource of kind `scripts`) and its arguments (`args`). The script
//! is put into a directory of its own on the machine, beside `task.json` (the whole order) and `params.sh` (facts and
//! configuration as shell variables), and runs there as
//!
//! ```sh
//! . ./params.sh; exec setsid ./SCRIPT ARGS
//! ```
//!
//! or, where that comes to the same, without a shell before it (`shortcut.rs`).
//!
//! Its exit status is the result. Before every script the names of the cluster's nodes are put into `/etc/hosts`.

mod hosts;
mod params;
mod shortcut;

use std::time::Duration;

use async_trait::async_trait;
use cooperage_domain::entity::{
    AutomatorType, Base, FieldSchema, ParameterSet, Parameters, PluginType, ResourceFormat, ResourceType,
    ServiceAction,
};
use cooperage_domain::error_kind::ErrorKind;
use cooperage_domain::task::TaskReport;

use crate::automator::Automator;
use crate::context::{Context, TaskFault};
use crate::resources::{PluginResources, ResourceKey, Side};
use crate::ssh::{Command, Execution, Finished, RunFile, SshPool, Target, execute, quoted, run_once};

/// Name of the automator type.
pub const AUTOMATOR_TYPE: &str = "shell";
/// Kind of its plugin resources.
pub const SCRIPTS: &str = "scripts";

/// Puts the cluster's names into `/etc/hosts`.
const HOSTS_SCRIPT: &str = include_str!("hosts.sh");
/// What makes words more than one command.
const CONNECTIVES: [char; 4] = [';', '&', '|', '\n'];
/// Bounds an execution in case nobody else does; the job's own time limit is shorter.
const LIMIT: Duration = Duration::from_secs(24 * 60 * 60);

/// How long a probe may take unless its field `timeout` says otherwise, and at most, in seconds.
const PROBE_SECONDS: u64 = 10;
const MOST_PROBE_SECONDS: u64 = 60;
/// What a command ended with that `timeout` ended.
const OVER_TIME: [u8; 2] = [124, 137];

/// Brings services up by scripts over SSH.
pub struct ShellAutomator {
    pool: SshPool,
    resources: PluginResources,
}

impl ShellAutomator {
    /// Reaches machines through `pool`, and takes scripts from `resources`.
    #[must_use]
    pub const fn new(pool: SshPool, resources: PluginResources) -> Self {
        Self { pool, resources }
    }

    async fn script(&self, task: &Context, name: &str) -> Result<Vec<u8>, TaskFault> {
        let key = ResourceKey {
            tenant: task.tenant.clone(),
            side: Side::Automator,
            plugin: AUTOMATOR_TYPE.to_owned(),
            kind: SCRIPTS.to_owned(),
            name: name.to_owned(),
        };
        let resources = self.resources.clone();
        let read = tokio::task::spawn_blocking(move || resources.read_active(&key)).await;
        read.map_err(|fault| TaskFault::new(fault.to_string()))?
            .map_err(|fault| TaskFault::new(fault.to_string()))
    }

    async fn execute(&self, task: &Context, execution: Execution) -> Result<Finished, TaskFault> {
        let target = Target::from_order(&task.order)?;
        execute(&self.pool, &target, &execution, &*task.output, &task.cancel).await.map_err(TaskFault::from)
    }
}

#[async_trait]
impl Automator for ShellAutomator {
    fn descriptor(&self) -> AutomatorType {
        AutomatorType(descriptor())
    }

    async fn bootstrap(&self, task: &Context) -> Result<TaskReport, TaskFault> {
        let names = hosts::render(&task.order.config);
        let command = program(&names, "", "true", Vec::new());
        let mut execution = Execution::of_task(&task.order, command, LIMIT).with_file("hosts", names);
        // One bootstrap task is carried out by every automator of the node, each with an execution of its own.
        execution.key = format!("{}-{AUTOMATOR_TYPE}", execution.key);
        let finished = self.execute(task, execution).await?;
        report("the bootstrap", finished)
    }

    async fn act(&self, action: ServiceAction, task: &Context) -> Result<TaskReport, TaskFault> {
        let (script, args) = script_of(task, &format!("{action:?}").to_lowercase())?;
        let order = serde_json::to_vec(&task.order).map_err(|fault| TaskFault::new(fault.to_string()))?;
        // The arguments are words of the operator's own shell line: quotes in them mean what they mean in a shell.
        let (names, words) = (hosts::render(&task.order.config), format!("./{script} {args}"));
        let command = match args.contains(CONNECTIVES) {
            false => program(&names, ". ./params.sh\n", &words, params::environment(&task.order)),
            true => Command::Script(format!("{}. ./params.sh\nexec {words}\n", preamble(&names))),
        };
        let execution = Execution::of_task(&task.order, command, LIMIT)
            .with_file("task.json", order)
            .with_file("hosts", names)
            .with_file("params.sh", params::render(&task.order))
            .with_program(script, self.script(task, script).await?);
        let finished = self.execute(task, execution).await?;
        report(&format!("{script} {args}"), finished)
    }

    /// The script runs beside `params.sh` only, leaves nothing behind, and its output stays out of the log of tasks.
    async fn probe(&self, task: &Context) -> Result<TaskReport, TaskFault> {
        let (script, args) = script_of(task, "probe")?;
        let target = Target::from_order(&task.order)?;
        let file =
            |name: &str, content: Vec<u8>, executable| RunFile { name: name.to_owned(), content, executable };
        let files = [
            file("params.sh", params::render(&task.order).into_bytes(), false),
            file(script, self.script(task, script).await?, true),
        ];
        let command = format!(". ./params.sh\nexec ./{script} {args}");
        let limit = Duration::from_secs(probe_seconds(task));
        let (output, cancel) = (&*task.output, &task.cancel);
        let finished = run_once(&self.pool, &target, (&command, &files), limit, output, cancel).await;
        let Finished { status, stdout_tail: stdout, stderr_tail: mut stderr } =
            finished.map_err(TaskFault::from)?;
        if OVER_TIME.contains(&status.0) {
            stderr.push_str(&format!("\n{script} was ended: it took longer than {} s\n", limit.as_secs()));
        }
        Ok(TaskReport { status: i64::from(status.0), stdout, stderr, ..TaskReport::default() })
    }
}

/// What every execution begins with. Its own directory is for one user alone; what scripts write is not.
fn preamble(names: &str) -> String {
    format!("set -e\nnames={}\n{HOSTS_SCRIPT}umask 022\n", quoted(names))
}

/// A program that finds `names` in `/etc/hosts`, and `environment`, which `read` makes in a shell.
fn program(names: &str, read: &str, words: &str, environment: Vec<(String, String)>) -> Command {
    let shortcut = shortcut::shortcut(words, names, environment);
    Command::Program { prepare: preamble(names) + read, words: words.to_owned(), shortcut }
}

/// The script of an action and its arguments.
fn script_of<'a>(task: &'a Context, action: &str) -> Result<(&'a str, &'a str), TaskFault> {
    let service = task.order.config.service.as_ref();
    let field =
        |name: &str| service.and_then(|service| service.action.fields.get(name)).map_or("", String::as_str);
    match field("script") {
        "" => {
            let name = service.map_or("", |service| &service.name);
            Err(TaskFault::nothing_made(format!(
                "service {name:?}: provisioner.actions.{action}.fields.script is missing; name a script"
            ))
            .of_kind(ErrorKind::Permanent))
        }
        script => Ok((script, field("args"))),
    }
}

/// How long a probe may take.
fn probe_seconds(task: &Context) -> u64 {
    let service = task.order.config.service.as_ref();
    let given = service.and_then(|service| service.action.fields.get("timeout")?.trim().parse().ok());
    given.unwrap_or(PROBE_SECONDS).clamp(1, MOST_PROBE_SECONDS)
}

fn report(what: &str, finished: Finished) -> Result<TaskReport, TaskFault> {
    if finished.status.success() {
        return Ok(TaskReport::success());
    }
    let fault = TaskFault {
        status: i64::from(finished.status.0),
        ..TaskFault::new(format!("{} ended with {}.", what.trim(), finished.status))
            .of_kind(ErrorKind::Script)
    };
    // Codes from 200 to 299 say that nothing was made, which a script cannot know of its machine.
    let fault = if (200..300).contains(&fault.status) { TaskFault { status: 1, ..fault } } else { fault };
    Err(fault.with_output(finished.stdout_tail, finished.stderr_tail))
}

fn descriptor() -> PluginType {
    let field = |label: &str, tip: &str| FieldSchema {
        label: label.to_owned(),
        kind: "text".to_owned(),
        tip: tip.to_owned(),
        options: None,
        default: None,
        overridable: false,
        sensitive: false,
    };
    let fields = [
        ("script".to_owned(), field("Script", "Name of a script, a plugin resource of kind scripts")),
        ("args".to_owned(), field("Arguments", "Words for the script, as in a shell")),
        ("timeout".to_owned(), field("Time limit", "Seconds a probe may take: 10 unless said, 60 at most")),
    ];
    let scripts = ResourceType { format: ResourceFormat::File, permissions: Some("0755".to_owned()) };
    PluginType {
        base: Base {
            name: AUTOMATOR_TYPE.to_owned(),
            label: Some("Shell".to_owned()),
            description: Some("Brings services up by scripts over SSH".to_owned()),
            ..Base::default()
        },
        parameters: Parameters {
            admin: ParameterSet {
                fields: fields.into(),
                required: vec![std::iter::once("script".to_owned()).collect()],
            },
            user: ParameterSet::default(),
        },
        resource_types: std::iter::once((SCRIPTS.to_owned(), scripts)).collect(),
    }
}
