//! The programs that machines are given for durable executions.

use std::fmt::Write as _;
use std::sync::LazyLock;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::execution::{Execution, RunFile};
use crate::ssh::quote::quoted;

/// How many directories of executions a machine keeps before the older half goes.
pub const RUNS_KEPT: usize = 32;
/// Tenths of a second that a cancelled execution has to end by itself.
const GRACE_TENTHS: u32 = 30;

static STATE: LazyLock<String> = LazyLock::new(|| without_comments(include_str!("state.sh")));
static ASK: LazyLock<String> = LazyLock::new(|| without_comments(include_str!("ask.sh")));
static CANCEL: LazyLock<String> = LazyLock::new(|| without_comments(include_str!("cancel.sh")));
static RUNNER: LazyLock<String> = LazyLock::new(|| quoted(&without_comments(include_str!("runner.sh"))));

/// Starts or takes up an execution and shows its output from the given bytes on.
pub(super) fn ask(execution: &Execution, nonce: &str, (out_at, err_at): (u64, u64)) -> String {
    let mut script = head(execution, nonce);
    let _ = write!(script, "out_at={out_at} err_at={err_at} keep={RUNS_KEPT} runner={}\n{}", *RUNNER, *STATE);
    script.push_str("put_files() {\n:");
    let command = RunFile {
        name: "command".into(),
        content: execution.command.clone().into_bytes(),
        executable: false,
    };
    for file in execution.files.iter().chain([&command]) {
        let _ = write!(script, " &&\n{}", put(file));
    }
    script.push_str("\n}\n");
    script.push_str(&ASK);
    script
}

/// Ends an execution.
pub(super) fn cancel(execution: &Execution, nonce: &str) -> String {
    format!("{}grace={GRACE_TENTHS}\n{}{}", head(execution, nonce), *STATE, *CANCEL)
}

fn head(execution: &Execution, nonce: &str) -> String {
    format!("root={} key={} nonce={nonce} ", quoted(&execution.root), quoted(&execution.key))
}

/// Writes a file. Texts need no process; only what no shell can hold is decoded by one.
pub(super) fn put(file: &RunFile) -> String {
    let mut line = match std::str::from_utf8(&file.content) {
        Ok(text) if !text.contains('\0') => format!("printf %s {} >{}", quoted(text), file.name),
        _ => format!("printf %s {} | base64 -d >{}", quoted(&STANDARD.encode(&file.content)), file.name),
    };
    if file.executable {
        let _ = write!(line, " && chmod 700 {}", file.name);
    }
    line
}

/// Comments are for readers here, not for the machine.
fn without_comments(script: &str) -> String {
    let kept = script.lines().filter(|line| !line.trim_start().starts_with('#') && !line.trim().is_empty());
    kept.fold(String::new(), |script, line| script + line + "\n")
}
