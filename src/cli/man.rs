//! `cooperage man`: the manual, made from the help.

use std::path::{Path, PathBuf};

use clap::{Args, ValueHint};
use clap_mangen::Man;

use super::args;
use super::failure::Failure;
use super::screen::Screen;

/// Which page.
#[derive(Debug, Clone, Args)]
pub struct ManArgs {
    /// A command, such as `cluster create`; without it, the program
    #[arg(value_name = "COMMAND", conflicts_with = "dir")]
    pub command: Vec<String>,
    /// Folder to write all pages to
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub dir: Option<PathBuf>,
}

/// Prints a page, or writes all.
///
/// # Errors
/// When there is no such command, or the folder cannot be written to.
pub fn run(args: &ManArgs, screen: &Screen) -> Result<(), Failure> {
    let mut command = without_help(args::command());
    command.build();
    if let Some(folder) = &args.dir {
        let failed = |fault| Failure::file("write the manual to", folder, fault);
        std::fs::create_dir_all(folder).map_err(failed)?;
        write_below(&command, folder).map_err(failed)?;
        screen.note(&format!("the manual is in {}", folder.display()));
        return Ok(());
    }
    let mut found = &command;
    for word in &args.command {
        found = found.find_subcommand(word).ok_or_else(|| {
            let known: Vec<&str> = found.get_subcommands().map(clap::Command::get_name).collect();
            Failure::unknown(
                format!("{} has no command {word:?}", found.get_name()),
                if known.is_empty() {
                    "leave it out".to_owned()
                } else {
                    format!("use one of: {}", known.join(", "))
                },
            )
        })?;
    }
    let mut text = Vec::new();
    page(found)
        .render(&mut text)
        .map_err(|fault| Failure::Server(format!("cannot write the page: {fault}")))?;
    screen.line(String::from_utf8_lossy(&text).trim_end());
    Ok(())
}

/// The commands that only show help have no pages.
fn without_help(command: clap::Command) -> clap::Command {
    command.disable_help_subcommand(true).mut_subcommands(without_help)
}

fn page(command: &clap::Command) -> Man {
    let source = concat!("cooperage ", env!("CARGO_PKG_VERSION"));
    Man::new(command.clone()).source(source).manual("Cooperage")
}

/// Writes the page of a command, and of all below it.
fn write_below(command: &clap::Command, folder: &Path) -> std::io::Result<()> {
    page(command).generate_to(folder)?;
    command.get_subcommands().try_for_each(|inner| write_below(inner, folder))
}
