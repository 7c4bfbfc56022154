//! Every command with its arguments and options, from the definition that reads them.

use std::fmt::Write;

use clap::{Arg, Command};

use super::{assert_page, cell};
use crate::cli::{args, exit_code};

const INTRODUCTION: &str = "# Commands

Every command with its options. [The command line](../command-line.md) explains what they have in common; `cooperage COMMAND --help` and
`cooperage man COMMAND` say the same as this page.

";

#[test]
fn the_book_has_every_command() {
    let mut command = args::command().term_width(100);
    command.build();
    let mut page = INTRODUCTION.to_owned();
    page.push_str("## Options of all commands\n\n");
    page.push_str(&table(command.get_arguments().filter(|arg| arg.is_global_set())));
    page.push_str("\n## Exit codes\n\n| code | means |\n|---|---|\n");
    for (code, meaning) in exit_code::MEANINGS {
        let _ = writeln!(page, "| {code} | {meaning} |");
    }
    for inner in command.get_subcommands_mut() {
        section(inner, 2, &mut page);
    }
    assert_page("commands", &page);
}

/// A command, and all below it.
fn section(command: &mut Command, level: usize, page: &mut String) {
    if command.is_hide_set() || command.get_name() == "help" {
        return;
    }
    let usage = command.render_usage().to_string();
    let about = command.get_long_about().or(command.get_about()).map(ToString::to_string).unwrap_or_default();
    let name = command.get_bin_name().unwrap_or_else(|| command.get_name());
    let _ = write!(page, "\n{} {name}\n\n{}.\n", "#".repeat(level), prose(about.trim_end_matches('.')));
    let aliases: Vec<String> = command.get_visible_aliases().map(|alias| format!("`{alias}`")).collect();
    if !aliases.is_empty() {
        let _ = write!(page, "\nAlso: {}.\n", aliases.join(", "));
    }
    let own = table(command.get_arguments().filter(|arg| !arg.is_global_set()));
    let is_group = command.get_subcommands().next().is_some();
    if !is_group {
        let _ = write!(page, "\n```text\n{}\n```\n", usage.trim_start_matches("Usage: ").trim());
    }
    if !own.is_empty() {
        let _ = write!(page, "\n{own}");
    }
    if let Some(after) = command.get_after_help().map(ToString::to_string) {
        let _ = write!(page, "\n```text\n{}\n```\n", after.trim());
    }
    for inner in command.get_subcommands_mut() {
        section(inner, level + 1, page);
    }
}

/// Arguments and options; empty when there are none.
fn table<'a>(arguments: impl Iterator<Item = &'a Arg>) -> String {
    let rows: String = arguments
        .filter(|arg| !arg.is_hide_set() && !["help", "version"].contains(&arg.get_id().as_str()))
        .map(row)
        .collect();
    if rows.is_empty() { rows } else { format!("| argument or option | what it is |\n|---|---|\n{rows}") }
}

fn row(arg: &Arg) -> String {
    let help = arg.get_long_help().or(arg.get_help()).map(ToString::to_string).unwrap_or_default();
    let mut meaning = cell(&prose(&help));
    let choices: Vec<String> = arg
        .get_possible_values()
        .iter()
        .filter(|value| !value.is_hide_set() && arg.get_action().takes_values())
        .map(|value| match value.get_help() {
            Some(help) => format!("`{}` ({})", value.get_name(), cell(&prose(&help.to_string()))),
            None => format!("`{}`", value.get_name()),
        })
        .collect();
    if !choices.is_empty() {
        let _ = write!(meaning, "; one of {}", choices.join(", "));
    }
    let usual: Vec<String> = arg
        .get_default_values()
        .iter()
        .filter(|value| !value.is_empty() && arg.get_action().takes_values())
        .map(|value| format!("`{}`", value.to_string_lossy()))
        .collect();
    if !usual.is_empty() {
        let _ = write!(meaning, "; {} unless said otherwise", usual.join(" "));
    }
    let aliases: Vec<String> =
        arg.get_visible_aliases().unwrap_or_default().iter().map(|alias| format!("`--{alias}`")).collect();
    if !aliases.is_empty() {
        let _ = write!(meaning, "; also {}", aliases.join(", "));
    }
    format!("| `{}` | {meaning} |\n", cell(&shape(arg)))
}

/// How it is typed: `-n, --size <SIZE>`.
fn shape(arg: &Arg) -> String {
    if arg.is_positional() {
        return arg.to_string();
    }
    let value = arg.to_string();
    match arg.get_short() {
        Some(short) if arg.get_long().is_some() => format!("-{short}, {value}"),
        _ => value,
    }
}

/// Help as Markdown: what looks like markup is none.
fn prose(text: &str) -> String {
    text.replace('<', "\\<").replace('*', "\\*").replace('_', "\\_")
}
