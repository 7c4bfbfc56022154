//! `cooperage man`: the manual, made from the help.

use std::path::PathBuf;

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
    let mut command = args::command();
    command.build();
    if let Some(folder) = &args.dir {
        let failed = |fault| Failure::file("write the manual to", folder, fault);
        std::fs::create_dir_all(folder).map_err(failed)?;
        clap_mangen::generate_to(command, folder).map_err(failed)?;
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
    let mut page = Vec::new();
    Man::new(found.clone())
        .render(&mut page)
        .map_err(|fault| Failure::Server(format!("cannot write the page: {fault}")))?;
    screen.line(String::from_utf8_lossy(&page).trim_end());
    Ok(())
}
