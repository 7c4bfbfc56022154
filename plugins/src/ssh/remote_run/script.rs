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

/// What a shell on a machine must know before it is asked for executions: each connection's is told once.
pub(in crate::ssh) static LIBRARY: LazyLock<String> = LazyLock::new(|| {
    let parts = [
        include_str!("state.sh"),
        include_str!("runner.sh"),
        include_str!("ask.sh"),
        include_str!("cancel.sh"),
    ];
    parts.map(without_comments).concat()
});
/// What an executor is told when it is started.
pub(in crate::ssh) static EXECUTOR: LazyLock<String> =
    LazyLock::new(|| without_comments(include_str!("executor.pl")));
static NUDGE: LazyLock<String> = LazyLock::new(|| without_comments(include_str!("nudge.sh")));

/// Starts or takes up an execution and shows its output from the given bytes on.
pub(super) fn ask(execution: &Execution, nonce: &str, (out_at, err_at): (u64, u64)) -> String {
    let mut script = head(execution, nonce);
    let program = execution.files.iter().find(|file| file.executable);
    let name = program.map_or("", |program| &program.name);
    let _ = writeln!(script, "out_at={out_at} err_at={err_at} keep={RUNS_KEPT} program={name}");
    if let Some(program) = program {
        let _ = writeln!(script, "program() {{ {}; }}", show(program));
    }
    script.push_str("put_files() {\n:");
    for file in execution.files.iter().filter(|file| Some(*file) != program) {
        let _ = write!(script, " &&\n{}", put(file));
    }
    for file in execution.command_files() {
        let _ = write!(script, " &&\n{}", put(&file));
    }
    script.push_str("\n}\nask\n");
    script
}

/// Tells whoever asks under `nonce` on the same connection that the execution lasts.
pub(super) fn nudge(execution: &Execution, nonce: &str) -> String {
    format!("{}\n{}", head(execution, nonce), *NUDGE)
}

/// Ends an execution.
pub(super) fn cancel(execution: &Execution, nonce: &str) -> String {
    format!("{}grace={GRACE_TENTHS}\ncancel\n", head(execution, nonce))
}

fn head(execution: &Execution, nonce: &str) -> String {
    format!("root={} key={} nonce={nonce} ", quoted(&execution.root), quoted(&execution.key))
}

/// Writes a file.
pub(super) fn put(file: &RunFile) -> String {
    let mut line = format!("{} >{}", show(file), file.name);
    if file.executable {
        let _ = write!(line, " && chmod 700 {}", file.name);
    }
    line
}

/// Prints a file. Texts need no process; only what no shell can hold is decoded by one.
fn show(file: &RunFile) -> String {
    match std::str::from_utf8(&file.content) {
        Ok(text) if !text.contains('\0') => format!("printf %s {}", quoted(text)),
        _ => format!("printf %s {} | base64 -d", quoted(&STANDARD.encode(&file.content))),
    }
}

/// Comments are for readers here, not for the machine; so is what stands before a line. No text in the scripts has two lines.
fn without_comments(script: &str) -> String {
    let kept = script.lines().map(str::trim_start).filter(|line| !line.starts_with('#') && !line.is_empty());
    kept.fold(String::new(), |script, line| script + line + "\n")
}
