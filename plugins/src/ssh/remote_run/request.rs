//! What the executor of a machine (`executor.pl`) is asked.

use std::fmt::Write as _;

use super::execution::{Command, Execution};
use super::script::RUNS_KEPT;

/// Umask of a script that has a shell of its own, which sets another one itself.
const FOR_ONE_USER: &str = "077";
/// Umask of a program that is started without a shell before it.
const FOR_ALL: &str = "022";

/// An execution as the executor reads it: a line with the lengths of all fields, then the fields.
pub(super) fn request(execution: &Execution) -> Vec<u8> {
    let keep = RUNS_KEPT.to_string();
    let (file, holds, umask, environment, words) = match &execution.command {
        Command::Script(_) => ("", "", FOR_ONE_USER, Vec::new(), vec!["sh", "./main"]),
        Command::Program { shortcut: Some(shortcut), .. } => {
            let assign = |(name, value): &(String, String)| format!("{name}={value}");
            let environment = shortcut.environment.iter().map(assign).collect();
            let words = shortcut.words.iter().map(String::as_str).collect();
            (shortcut.file.as_str(), shortcut.holds.as_str(), FOR_ALL, environment, words)
        }
        Command::Program { shortcut: None, .. } => ("", "", FOR_ONE_USER, Vec::new(), Vec::new()),
    };
    let counts = [environment.len().to_string(), words.len().to_string()];
    let texts = [&execution.root, &execution.key, keep.as_str(), file, holds, umask, &counts[0], &counts[1]];
    let mut fields: Vec<&[u8]> = texts.map(str::as_bytes).to_vec();
    fields.extend(environment.iter().map(String::as_bytes));
    fields.extend(words.iter().map(|word| word.as_bytes()));
    let command_files = execution.command_files();
    for file in execution.files.iter().chain(&command_files) {
        let mode: &[u8] = if file.executable { b"700" } else { b"" };
        fields.extend([file.name.as_bytes(), mode, &file.content]);
    }
    let mut line = String::new();
    for field in &fields {
        // Writing to a String cannot fail.
        let _ = write!(line, "{} ", field.len());
    }
    line.push('\n');
    let mut request = line.into_bytes();
    request.extend(fields.concat());
    request
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::execution::Shortcut;
    use super::*;

    /// The fields, as the executor takes them apart.
    fn fields(request: &[u8]) -> Vec<String> {
        let end = request.iter().position(|byte| *byte == b'\n').unwrap();
        let mut rest = &request[end + 1..];
        let lengths = std::str::from_utf8(&request[..end]).unwrap().split_whitespace();
        let fields = lengths
            .map(|length| {
                let (field, after) = rest.split_at(length.parse().unwrap());
                rest = after;
                String::from_utf8(field.to_vec()).unwrap()
            })
            .collect();
        assert!(rest.is_empty());
        fields
    }

    fn asked(command: Command) -> Vec<String> {
        let (key, root) = ("k-1".to_owned(), "/runs".to_owned());
        let execution = Execution { key, command, files: Vec::new(), limit: Duration::ZERO, root };
        fields(&request(&execution.with_program("go", "a\nb").with_file("empty", "")))
    }

    #[test]
    fn a_request_says_how_long_everything_is() {
        let shortcut = Shortcut {
            file: "/etc/hosts".into(),
            holds: "names\n".into(),
            environment: vec![("A".into(), "it's = 1".into())],
            words: vec!["./go".into(), "x y".into()],
        };
        let (prepare, words) = ("set -e\n".to_owned(), "./go 'x y'".to_owned());
        let program = asked(Command::Program { prepare, words, shortcut: Some(shortcut) });
        let head = ["/runs", "k-1", "32", "/etc/hosts", "names\n", "022", "1", "2"];
        let tail = ["A=it's = 1", "./go", "x y", "go", "700", "a\nb", "empty", "", "", "command", ""];
        assert_eq!(program[..8], head);
        assert_eq!(program[8..19], tail);
        assert_eq!(program[19..], ["set -e\nexec setsid ./go 'x y'\n"]);
    }

    #[test]
    fn a_script_has_a_shell_of_its_own_and_a_program_may_need_one() {
        let script = asked("true".into());
        assert_eq!(script[3..10], ["", "", "077", "0", "2", "sh", "./main"]);
        let program = Command::Program { prepare: String::new(), words: "a | b".into(), shortcut: None };
        assert_eq!(asked(program)[3..8], ["", "", "077", "0", "0"]);
    }
}
