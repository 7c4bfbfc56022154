//! `cooperage completion`: a script that lets a shell ask this program what could come next.

use clap::ValueEnum;
use clap_complete::CompleteEnv;
use clap_complete::env::{Bash, Elvish, EnvCompleter, Fish, Powershell, Zsh};

use super::args;
use super::failure::Failure;
use super::screen::Screen;

/// By this variable the script tells the program that it is asked what could come next, and by which shell.
const VARIABLE: &str = "COOPERAGE_COMPLETE";
/// The program, as the script calls it.
const PROGRAM: &str = "cooperage";

/// Shells there are scripts for.
#[derive(Debug, Clone, Copy, ValueEnum)]
#[allow(missing_docs, reason = "their names say it")]
pub enum Shell {
    Bash,
    Elvish,
    Fish,
    Powershell,
    Zsh,
}

/// Answers a shell that asks what could come next, and ends the program; does nothing for everybody else.
pub fn answer() {
    CompleteEnv::with_factory(args::command).var(VARIABLE).bin(PROGRAM).complete();
}

/// Prints the script.
///
/// # Errors
/// When it cannot be written.
pub fn print(shell: Shell, screen: &Screen) -> Result<(), Failure> {
    let completer: &dyn EnvCompleter = match shell {
        Shell::Bash => &Bash,
        Shell::Elvish => &Elvish,
        Shell::Fish => &Fish,
        Shell::Powershell => &Powershell,
        Shell::Zsh => &Zsh,
    };
    let mut script = Vec::new();
    completer
        .write_registration(VARIABLE, PROGRAM, PROGRAM, PROGRAM, &mut script)
        .map_err(|fault| Failure::Server(format!("cannot write the script: {fault}")))?;
    screen.line(String::from_utf8_lossy(&script).trim_end());
    Ok(())
}
