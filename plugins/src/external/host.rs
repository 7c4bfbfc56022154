//! What all programs of this server share, and one run from its start to its end.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use cooperage_domain::task::TaskReport;
use slog::{Logger, warn};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};
use tokio::task::spawn_blocking;

use super::account::Account;
use super::descriptor::Declared;
use super::masks::{Masked, Masks};
use super::order;
use super::process::{GRACE, Group, Start, ending};
use super::protocol::{Line, LineFault, Lines, Report};
use super::verdict::{Ending, broken_off, verdict};
use super::workspace::{Furniture, Workspace};
use crate::context::{Context, TaskFault};
use crate::local::keys::load_or_make_identity;
use crate::output::{Output, Stream};
use crate::resources::{ArchiveLimits, PluginResources, Side};
use crate::ssh::{Lines as OutputLines, Sink, TAIL_LIMIT, Tail};

/// How long the streams of a program that has ended may stay open, because something it started holds them.
const DRAIN: Duration = Duration::from_secs(1);
/// How much is read at once, in bytes.
const CHUNK: usize = 16 * 1024;
/// Bytes in a MB of the settings.
const MB: u64 = 1 << 20;

/// How much a run may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProcessLimits {
    /// Most memory each of its processes may ask for, in MB; 0: no limit.
    pub memory_mb: u64,
    /// Most files each of its processes may have open.
    pub open_files: u64,
    /// Longest line of its standard output, in bytes.
    pub line_bytes: usize,
}

/// What all programs of this server share.
pub struct PluginHost {
    /// Folder of the records of runs.
    pub runs: PathBuf,
    /// The private key that the server logs in to machines with.
    pub identity: PathBuf,
    /// Whom programs run as; ourselves without.
    pub account: Option<Account>,
    /// How much a run may use.
    pub limits: ProcessLimits,
    /// How much an archive among the resources may hold.
    pub archives: ArchiveLimits,
    /// Plugin resources.
    pub resources: PluginResources,
    /// Where to log.
    pub log: Logger,
}

/// All that a run needs, on disk and in memory.
struct Prepared {
    workspace: Workspace,
    input: Vec<u8>,
}

/// What a program said until its streams were closed.
struct Said {
    report: Option<Report>,
    stdout: Tail,
}

impl PluginHost {
    /// Carries a task out.
    pub(super) async fn carry_out(
        self: &Arc<Self>,
        declared: &Declared,
        task: &Context,
    ) -> Result<TaskReport, TaskFault> {
        let name = &declared.plugin_type.base.name;
        let masks = Masks::of(declared.side, &declared.plugin_type, &task.order);
        let (host, what, order) = (Arc::clone(self), declared.clone(), task.clone());
        let prepared = spawn_blocking(move || host.prepare(&what, &order)).await;
        let prepared = prepared.map_err(|fault| fault.to_string()).and_then(|prepared| prepared);
        // Never that nothing was made: the same order may have been carried out before a crash.
        let Prepared { workspace, input } =
            prepared.map_err(|fault| broken_off(name, format!("it was not started: {fault}")))?;
        let result = if task.cancel.is_cancelled() {
            Err(broken_off(name, "it was not started: nobody wants its result any more"))
        } else {
            self.run(declared, &workspace, input, task, &masks).await
        };
        let cleaned = spawn_blocking(move || drop(workspace)).await;
        if let Err(fault) = cleaned {
            warn!(self.log, "the folder of a plugin's run is left"; "plugin" => name, "fault" => fault.to_string());
        }
        result.map_err(|fault| TaskFault {
            message: masks.over(&fault.message),
            stdout: masks.over(&fault.stdout),
            stderr: masks.over(&fault.stderr),
            ..fault
        })
    }

    /// Waits for the disk.
    fn prepare(&self, declared: &Declared, task: &Context) -> Result<Prepared, String> {
        let account = self.account.as_ref();
        let workspace = Workspace::make(&self.runs).map_err(|fault| fault.to_string())?;
        let furniture = Furniture {
            resources: &self.resources,
            tenant: &task.tenant,
            side: declared.side,
            plugin_type: &declared.plugin_type,
            limits: self.archives,
        };
        workspace.furnish(&furniture, account)?;
        let (mut server_key, mut identity) = (None, None);
        if declared.side == Side::Provider {
            let key = load_or_make_identity(&self.identity).map_err(|fault| fault.to_string())?;
            server_key = Some(key.public_key().to_openssh().map_err(|fault| fault.to_string())?);
        } else if order::uses_identity(&task.order, &self.identity) {
            identity = Some(workspace.lend(&self.identity, account).map_err(|fault| fault.to_string())?);
        }
        let name = &declared.plugin_type.base.name;
        let input = order::written(name, &task.order, server_key.as_deref(), identity.as_deref());
        account.map_or(Ok(()), |account| workspace.hand_over(account)).map_err(|fault| fault.to_string())?;
        Ok(Prepared { workspace, input: format!("{input}\n").into_bytes() })
    }

    async fn run(
        &self,
        declared: &Declared,
        workspace: &Workspace,
        input: Vec<u8>,
        task: &Context,
        masks: &Masks,
    ) -> Result<TaskReport, TaskFault> {
        let name = &declared.plugin_type.base.name;
        let (work, home) = (workspace.work(), workspace.home());
        let mut group = self.start(declared, &work, &home).map_err(|fault| {
            let user = self.account.as_ref().map_or("the server's user", |account| account.name.as_str());
            let remedy = "it and the folders above it must be open to that user, and its first line must name a program";
            broken_off(name, format!("{} cannot be run as {user}: {fault}; {remedy}", declared.program.display()))
        })?;
        let output = Masked { output: &*task.output, masks };
        let mut errors = OutputLines::new(&output);
        let ask_to_end = group.asker();
        let talked = {
            let talk = self.talk(&mut group, input, &output, &mut errors);
            tokio::pin!(talk);
            tokio::select! {
                biased;
                () = task.cancel.cancelled() => {
                    // It is listened to until its end: what it writes while it tidies up must have somewhere to go.
                    ask_to_end();
                    let _ = tokio::time::timeout(GRACE, &mut talk).await;
                    None
                }
                talked = &mut talk => Some(talked),
            }
        };
        let stderr = errors.finish().stderr.text();
        let (ending, said) = match talked {
            None => {
                group.kill().await;
                let reason = "stopped: nobody wants its result any more; it may have left something";
                return Err(broken_off(name, reason).with_output("", stderr));
            }
            Some(Err(fault)) => {
                group.end().await;
                return Err(broken_off(name, fault).with_output("", stderr));
            }
            Some(Ok(ended)) => ended,
        };
        group.kill().await;
        verdict(name, ending, said.report).map_err(|fault| fault.with_output(said.stdout.text(), stderr))
    }

    fn start(&self, declared: &Declared, work: &Path, home: &Path) -> std::io::Result<Group> {
        let passed = |name: &String| Some((name.clone(), std::env::var_os(name)?));
        let environment: Vec<(String, OsString)> = declared.environment.iter().filter_map(passed).collect();
        let memory = declared.memory_mb.unwrap_or(self.limits.memory_mb);
        Group::start(&Start {
            program: &declared.program,
            folder: work,
            home,
            environment: &environment,
            memory: (memory > 0).then(|| memory.saturating_mul(MB)),
            open_files: self.limits.open_files,
            account: self.account.as_ref(),
        })
    }

    /// Gives a program its order and listens to it until it has ended.
    async fn talk(
        &self,
        group: &mut Group,
        input: Vec<u8>,
        output: &dyn Output,
        errors: &mut OutputLines<'_>,
    ) -> Result<(Ending, Said), TalkFault> {
        let child = &mut group.child;
        let streams = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(stdin), Some(stdout), Some(stderr)) = streams else { return Err(TalkFault::NoStreams) };
        let streams = async {
            let listened =
                async { listen(stdout, self.limits.line_bytes, output).await.map_err(TalkFault::Line) };
            let others = async {
                tokio::join!(feed(stdin, &input), note(stderr, errors));
                Ok(())
            };
            let (said, ()) = tokio::try_join!(listened, others)?;
            Ok(said)
        };
        tokio::pin!(streams);
        let early = tokio::select! {
            said = &mut streams => Some(said?),
            status = group.child.wait() => { status.map_err(TalkFault::Wait)?; None }
        };
        let said = match early {
            Some(said) => said,
            // What it started may hold its streams open for ever.
            None => match tokio::time::timeout(DRAIN, &mut streams).await {
                Ok(said) => said?,
                Err(_) => {
                    group.kill().await;
                    tokio::time::timeout(DRAIN, &mut streams).await.map_err(|_| TalkFault::HeldOpen)??
                }
            },
        };
        let status = group.child.wait().await.map_err(TalkFault::Wait)?;
        Ok((ending(status), said))
    }
}

/// Why a conversation broke off.
#[derive(Debug, thiserror::Error)]
enum TalkFault {
    #[error(transparent)]
    Line(LineFault),
    #[error("it cannot be waited for: {0}")]
    Wait(std::io::Error),
    #[error("it has no streams")]
    NoStreams,
    #[error("it has ended, and something it started holds its standard output open")]
    HeldOpen,
}

/// One that ends without reading its order says in its own way why.
async fn feed(mut stdin: ChildStdin, input: &[u8]) {
    let _ = stdin.write_all(input).await;
}

async fn listen(mut stdout: ChildStdout, limit: usize, output: &dyn Output) -> Result<Said, LineFault> {
    let mut tail = Tail::new(TAIL_LIMIT);
    let mut say = |line| match line {
        Line::Log(text) => {
            tail.push(text.as_bytes());
            tail.push(b"\n");
            output.line(Stream::Stdout, &text);
        }
        Line::Progress(text) => output.line(Stream::Progress, &text),
    };
    let mut lines = Lines::new(limit);
    let mut chunk = vec![0; CHUNK];
    // A stream that cannot be read is at its end.
    while let Ok(read @ 1..) = stdout.read(&mut chunk).await {
        lines.push(&chunk[..read], &mut say)?;
    }
    let report = lines.finish(&mut say)?;
    Ok(Said { report, stdout: tail })
}

async fn note(mut stderr: ChildStderr, errors: &mut OutputLines<'_>) {
    let mut chunk = vec![0; CHUNK];
    while let Ok(read @ 1..) = stderr.read(&mut chunk).await {
        errors.bytes(Stream::Stderr, &chunk[..read]);
    }
}
