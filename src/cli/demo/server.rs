//! The demo's server: found, started, waited for and stopped.
//!
//! Its process is found by what it was started with, not by a number in a file: a number may be stale, and a demo that was
//! killed right after it started a server wrote none.

use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use tokio::time::{Instant, sleep};

use super::place::Place;
use super::ports::DemoSettings;
use crate::cli::client::Client;
use crate::cli::connection::Connection;
use crate::cli::failure::Failure;
use crate::cli::screen::Screen;

/// How long a server may take until it answers: it may have to recover many clusters.
const START_LIMIT: Duration = Duration::from_secs(60);
/// How long it may take to stop by itself.
const STOP_LIMIT: Duration = Duration::from_secs(30);
const PAUSE: Duration = Duration::from_millis(100);
/// Lines of its log that are shown when it does not start.
const LOG_LINES: usize = 15;

/// The server: running and answering. Starts one if there is none.
pub(super) async fn ensure(
    place: &Place,
    offset: u16,
    screen: &Screen,
) -> Result<(DemoSettings, Client), Failure> {
    if let (Some(pid), Some(settings)) = (find(place), DemoSettings::read(place)) {
        screen.note(&format!("  process {} runs already at {}", pid.as_raw_nonzero(), settings.url()));
        if let Ok(client) = wait_until_healthy(place, &settings).await {
            return Ok((settings, client));
        }
        screen.note("  it does not answer: starting it again");
        stop(place).await?;
    }
    let settings = DemoSettings::choose(place, offset)?;
    start(place)?;
    let client = wait_until_healthy(place, &settings).await?;
    screen.note(&format!("  listens at {}, logs to {}", settings.url(), place.log().display()));
    Ok((settings, client))
}

/// The process of the demo's server.
pub(super) fn find(place: &Place) -> Option<Pid> {
    let settings = place.settings();
    let processes = std::fs::read_dir("/proc").ok()?.filter_map(Result::ok);
    let pids = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    pids.filter(|pid| is_server(Path::new(&format!("/proc/{pid}")), &settings)).find_map(Pid::from_raw)
}

/// Whether a process is `cooperage serve --config SETTINGS`.
fn is_server(process: &Path, settings: &Path) -> bool {
    let program = std::fs::read_link(process.join("exe")).unwrap_or_default();
    let name = program.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    // The kernel says so of a program that was built anew since.
    let ours = name.trim_end_matches(" (deleted)").starts_with("cooperage");
    let line = std::fs::read(process.join("cmdline")).unwrap_or_default();
    let words: Vec<&[u8]> = line.split(|byte| *byte == 0).collect();
    let has = |wanted: &[u8]| words.contains(&wanted);
    ours && has(b"serve") && has(settings.as_os_str().as_encoded_bytes())
}

fn start(place: &Place) -> Result<(), Failure> {
    let program = std::env::current_exe()
        .map_err(|source| Failure::file("find", Path::new("/proc/self/exe"), source))?;
    let log = std::fs::OpenOptions::new().create(true).append(true).open(place.log());
    let log = log.map_err(|source| Failure::file("write", &place.log(), source))?;
    let errors = log.try_clone().map_err(|source| Failure::file("write", &place.log(), source))?;
    let mut command = Command::new(&program);
    command.arg("serve").arg("--config").arg(place.settings());
    // Settings of another server in our environment are none of the demo's.
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("COOPERAGE_"))
    {
        command.env_remove(name);
    }
    // A group of its own: Ctrl-C in the terminal ends the demo, not the server.
    command.current_dir("/").stdin(Stdio::null()).stdout(log).stderr(errors).process_group(0);
    let child = command.spawn().map_err(|source| Failure::file("start", &program, source))?;
    place.write(&place.pid(), &format!("{}\n", child.id()))
}

async fn wait_until_healthy(place: &Place, settings: &DemoSettings) -> Result<Client, Failure> {
    let deadline = Instant::now() + START_LIMIT;
    loop {
        match try_to_ask(place, settings).await {
            Ok(client) => return Ok(client),
            Err(fault) if Instant::now() > deadline || find(place).is_none() => {
                return Err(Failure::refused(
                    format!("the server does not answer ({fault}); its log ends with:\n{}", log_end(place)),
                    format!("see {}", place.log().display()),
                ));
            }
            Err(_) => sleep(PAUSE).await,
        }
    }
}

/// A client that was just let in.
async fn try_to_ask(place: &Place, settings: &DemoSettings) -> Result<Client, Failure> {
    let token = std::fs::read_to_string(place.token());
    let token = token.map_err(|source| Failure::file("read the token in", &place.token(), source))?;
    let url = settings.url();
    let remedy = "remove demo.toml";
    let server = url.parse().map_err(|_| Failure::refused(format!("{url:?} is no address"), remedy))?;
    let client = Client::new(Connection {
        server,
        token: Some(token.trim().to_owned()),
        user: None,
        tenant: None,
        ca: None,
        identity: None,
    })?;
    let _: serde_json::Value = client.get("/v2/clusters").await?;
    Ok(client)
}

fn log_end(place: &Place) -> String {
    let text = std::fs::read_to_string(place.log()).unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    let end = lines.iter().skip(lines.len().saturating_sub(LOG_LINES));
    end.map(|line| format!("    {line}")).collect::<Vec<_>>().join("\n")
}

/// Stops the server, by force if it does not go by itself. Nothing to do when it does not run.
pub(super) async fn stop(place: &Place) -> Result<(), Failure> {
    for signal in [Signal::TERM, Signal::KILL] {
        let Some(pid) = find(place) else { break };
        // It may be gone by now.
        let _ = kill_process(pid, signal);
        let deadline = Instant::now() + STOP_LIMIT;
        while find(place) == Some(pid) && Instant::now() < deadline {
            sleep(PAUSE).await;
        }
    }
    match find(place) {
        None => Ok(()),
        Some(pid) => Err(Failure::refused(
            format!("process {} of the server does not end", pid.as_raw_nonzero()),
            "see what it waits for: cat /proc/PID/stack",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(exe: &str, words: &[&str]) -> tempfile::TempDir {
        let process = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(exe, process.path().join("exe")).unwrap();
        std::fs::write(process.path().join("cmdline"), words.join("\0") + "\0").unwrap();
        process
    }

    #[test]
    fn only_a_server_with_these_settings_is_ours() {
        let settings = Path::new("/d/demo.toml");
        let cases = [
            ("/usr/bin/cooperage", vec!["cooperage", "serve", "--config", "/d/demo.toml"], true),
            ("/t/cooperage (deleted)", vec!["/t/cooperage", "serve", "--config", "/d/demo.toml"], true),
            ("/usr/bin/cooperage", vec!["cooperage", "serve", "--config", "/d2/demo.toml"], false),
            ("/usr/bin/cooperage", vec!["cooperage", "config", "show", "--config", "/d/demo.toml"], false),
            ("/usr/bin/vi", vec!["vi", "serve", "/d/demo.toml"], false),
        ];
        for (exe, words, expected) in cases {
            assert_eq!(is_server(process(exe, &words).path(), settings), expected, "{exe} {words:?}");
        }
    }

    #[tokio::test]
    async fn without_a_server_there_is_nothing_to_stop() {
        let root = tempfile::tempdir().unwrap();
        stop(&Place::at(root.path()).unwrap()).await.unwrap();
    }
}
