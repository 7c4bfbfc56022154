//! One execution on a simulated machine: a process of its own, found again by task and attempt.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use cooperage_domain::id::NodeId;
use cooperage_domain::task::TaskOrder;
use tokio::process::{Child, Command};

use super::scenario::Scenario;
use crate::context::{Context, TaskFault};
use crate::output::Stream;

/// What carries an execution out.
const RUNNER: &str = include_str!("runner.sh");
/// What the runner says of a machine that is not there.
const NO_MACHINE: i64 = 90;

/// The directory of a node's machine.
pub(super) fn machine(directory: &Path, node: &NodeId) -> PathBuf {
    directory.join("machines").join(node.as_str())
}

/// Carries the task out, or follows it if it is under way, or takes its result if it has ended.
///
/// # Errors
/// When it is to fail, its machine is not there, or it was cancelled.
pub(super) async fn execute(directory: &Path, task: &Context) -> Result<(), TaskFault> {
    let run = directory.join("runs").join(format!("{}-{}", task.order.task_id, task.order.attempt));
    let mut runner = start(directory, &run, &task.order).map_err(|fault| broken(&run, &fault))?;
    tokio::select! {
        ended = runner.wait() => drop(ended.map_err(|fault| broken(&run, &fault))?),
        () = task.cancel.cancelled() => {
            end(&run, runner.id()).await.map_err(|fault| broken(&run, &fault))?;
            return Err(TaskFault::new(format!("Execution {} was cancelled.", run.display())));
        }
    }
    let result = std::fs::read_to_string(run.join("rc")).map_err(|fault| broken(&run, &fault))?;
    let order = &task.order;
    match result.trim().parse::<i64>() {
        Ok(0) => {
            task.output.line(Stream::Stdout, &format!("{} on {} is done", order.task_name, order.node_id));
            Ok(())
        }
        Ok(status) => {
            let stderr = match status {
                NO_MACHINE => format!("node {} has no machine", order.node_id),
                _ => format!("attempt {} was told to fail", order.attempt),
            };
            task.output.line(Stream::Stderr, &stderr);
            let message = format!("{} on {} ended with {status}.", order.task_name, order.node_id);
            Err(TaskFault { status, ..TaskFault::new(message) }.with_output("", stderr))
        }
        Err(fault) => Err(broken(&run, &io::Error::other(fault))),
    }
}

fn start(directory: &Path, run: &Path, order: &TaskOrder) -> io::Result<Child> {
    let scenario = Scenario::read(directory)?;
    for path in [run, &directory.join("machines"), &directory.join("locks")] {
        std::fs::create_dir_all(path)?;
    }
    let service = order.config.service.as_ref().map_or("-", |service| service.name.as_str());
    // What a script would be given, for tests to look at.
    let inputs = order.config.service.as_ref().map(|service| &service.inputs);
    if let Some(inputs) = inputs.filter(|inputs| !inputs.is_empty()) {
        std::fs::write(run.join("inputs"), serde_json::to_vec(inputs)?)?;
    }
    let what = format!("{} {} {} {} {service}", order.node_id, order.task_name, order.task_id, order.attempt);
    Command::new("sh")
        .args(["-c", RUNNER, "simulated"])
        .args([run, &machine(directory, &order.node_id)])
        .args([directory.join("locks").join(order.node_id.as_str()), directory.join("log")])
        .arg(scenario.duration(order).as_secs_f64().to_string())
        .arg(scenario.code(order).to_string())
        .args([order.task_name.as_str(), &what])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        // A group of its own: what ends the server's group does not end it, and a cancel ends all of it.
        .process_group(0)
        .spawn()
}

/// Ends the process group that runs the execution; `own` is the one started last, which may not have begun.
async fn end(run: &Path, own: Option<u32>) -> io::Result<()> {
    let process = match std::fs::read_to_string(run.join("started")) {
        Ok(process) => process.trim().to_owned(),
        Err(_) => own.map(|process| process.to_string()).unwrap_or_default(),
    };
    let group = format!("-{process}");
    Command::new("kill").args(["-TERM", "--", &group]).stderr(Stdio::null()).status().await.map(drop)
}

fn broken(run: &Path, fault: &io::Error) -> TaskFault {
    TaskFault::new(format!("The simulated execution {} broke off: {fault}.", run.display()))
}
