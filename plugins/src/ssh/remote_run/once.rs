//! Short commands that change nothing, such as probes: run in a folder that goes with them, and not found again.

use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::execution::check_names;
use super::{Finished, RunFile, script};
use crate::output::Output;
use crate::ssh::capture::{Captured, Lines};
use crate::ssh::error::SshError;
use crate::ssh::pool::SshPool;
use crate::ssh::quote::quoted;
use crate::ssh::target::Target;

/// How much longer than its limit a command may take on its way here and back.
const ON_THE_WAY: Duration = Duration::from_secs(5);
/// How long a command that is over its limit may take to end by itself, in seconds.
const GRACE: u64 = 2;

/// Runs a command once, in a folder of its own that holds `files` and is gone afterwards. What it prints goes to `output`.
/// It takes no lock: whoever calls sees to it that nothing else is under way. A command that takes longer than `limit` is
/// ended on the machine, with status 124 or 137.
///
/// # Errors
/// When the machine cannot be reached or does not answer, or after a cancel: then the command may have run or not. When
/// the name of a file is none.
pub async fn run_once(
    pool: &SshPool,
    target: &Target,
    (command, files): (&str, &[RunFile]),
    limit: Duration,
    output: &dyn Output,
    cancel: &CancellationToken,
) -> Result<Finished, SshError> {
    check_names(files.iter().map(|file| file.name.as_str()))?;
    let address = target.address();
    let mut lines = Lines::new(output);
    let script = in_own_folder(command, files, limit);
    let run = async {
        let connection = pool.lease(target).await?;
        let run = connection.run(&script, None, &mut lines, cancel);
        tokio::time::timeout(limit + ON_THE_WAY, run).await.unwrap_or_else(|_| {
            Err(SshError::TimedOut { address: target.address(), what: "a probe".to_owned(), limit })
        })
    };
    let status = tokio::select! {
        status = run => status?,
        () = cancel.cancelled() => return Err(SshError::Cancelled { address }),
    };
    let Captured { stdout, stderr } = lines.finish();
    Ok(Finished { status, stdout_tail: stdout.text(), stderr_tail: stderr.text() })
}

/// The folder is for the login user alone, since what is in it may be secret.
fn in_own_folder(command: &str, files: &[RunFile], limit: Duration) -> String {
    let put: String = files.iter().map(|file| format!("{} || exit 125\n", script::put(file))).collect();
    let seconds = limit.as_secs().max(1);
    format!(
        "folder=$(mktemp -d) || exit 125\ntrap 'cd /; rm -rf \"$folder\"' EXIT\ncd \"$folder\" || exit 125\n\
         {put}timeout -k {GRACE} {seconds} sh -c {}\n",
        quoted(command)
    )
}
