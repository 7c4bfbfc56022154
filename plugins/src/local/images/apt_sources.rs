//! The host's own apt sources: where an image is made from, since that mirror is known to be reachable.

use std::path::Path;

use super::super::fault::{At, LocalError};

/// Where to look when the host has no source for a release.
const FALLBACK: &str = "http://deb.debian.org/debian";
const DIRECTORY: &str = "/etc/apt";

/// The host's sources for a release, its updates and its security fixes, as lines of a `sources.list`.
pub(super) fn of_host(suite: &str) -> Result<Vec<String>, LocalError> {
    let mut sources = Vec::new();
    for path in files(Path::new(DIRECTORY))? {
        let text = std::fs::read_to_string(&path).at("read", &path)?;
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("list") => sources.extend(text.lines().filter_map(read_line)),
            Some("sources") => sources.extend(text.split("\n\n").filter_map(read_stanza)),
            _ => {}
        }
    }
    Ok(lines_for(suite, &sources))
}

fn files(directory: &Path) -> Result<Vec<std::path::PathBuf>, LocalError> {
    let mut files = vec![directory.join("sources.list")];
    let parts = directory.join("sources.list.d");
    if let Ok(entries) = std::fs::read_dir(&parts) {
        for entry in entries {
            files.push(entry.at("list", &parts)?.path());
        }
    }
    files.retain(|path| path.exists());
    files.sort();
    Ok(files)
}

/// One entry, of either form.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Source {
    mirrors: Vec<String>,
    suites: Vec<String>,
    components: Vec<String>,
}

/// Reads `deb [options] MIRROR SUITE COMPONENT…`.
fn read_line(line: &str) -> Option<Source> {
    let line = line.split('#').next()?.trim();
    let rest = line.strip_prefix("deb")?.trim_start_matches([' ', '\t']);
    let rest = match rest.strip_prefix('[') {
        Some(options) => options.split_once(']')?.1,
        None => rest,
    };
    let mut words = rest.split_whitespace().map(str::to_owned);
    let (mirror, suite) = (words.next()?, words.next()?);
    mirror.contains(':').then(|| Source {
        mirrors: vec![mirror],
        suites: vec![suite],
        components: words.collect(),
    })
}

/// Reads a paragraph with `Types`, `URIs`, `Suites` and `Components`.
fn read_stanza(stanza: &str) -> Option<Source> {
    let lines = || stanza.lines().filter(|line| !line.starts_with('#'));
    let field = |name: &str| -> Vec<String> {
        let value = lines().find_map(|line| {
            let (key, value) = line.split_once(':')?;
            key.eq_ignore_ascii_case(name).then_some(value)
        });
        value.unwrap_or_default().split_whitespace().map(str::to_owned).collect()
    };
    let disabled = field("Enabled").first().is_some_and(|value| value.eq_ignore_ascii_case("no"));
    let binary = field("Types").iter().any(|kind| kind == "deb");
    let source = Source { mirrors: field("URIs"), suites: field("Suites"), components: field("Components") };
    (binary && !disabled && !source.mirrors.is_empty()).then_some(source)
}

/// The lines for one release, of the main component only.
fn lines_for(suite: &str, sources: &[Source]) -> Vec<String> {
    let wanted = [suite.to_owned(), format!("{suite}-updates"), format!("{suite}-security")];
    let mut lines: Vec<String> = Vec::new();
    for source in sources.iter().filter(|source| source.components.iter().any(|part| part == "main")) {
        for mirror in &source.mirrors {
            for found in source.suites.iter().filter(|found| wanted.contains(found)) {
                let line = format!("deb {mirror} {found} main");
                if !lines.contains(&line) {
                    lines.push(line);
                }
            }
        }
    }
    let whole = lines.iter().any(|line| line.ends_with(&format!(" {suite} main")));
    if !whole {
        lines.insert(0, format!("deb {FALLBACK} {suite} main"));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    const STANZAS: &str = "Types: deb\n# http://snapshot.example/debian\nURIs: http://mirror/debian\n\
        Suites: bookworm bookworm-updates\nComponents: main contrib\n\n\
        Types: deb\nURIs: http://mirror/debian-security\nSuites: bookworm-security\nComponents: main\n\n\
        Types: deb\nEnabled: no\nURIs: http://off/debian\nSuites: bookworm\nComponents: main\n\n\
        Types: deb\nURIs: https://deb.nodesource.com/node_20.x\nSuites: nodistro\nComponents: main\n";
    const LINES: &str = "# deb http://off/debian bookworm main\n\
        deb [arch=amd64 signed-by=/k.gpg] http://mirror/debian bookworm main non-free # ours\n\
        deb-src http://mirror/debian bookworm main\n\
        deb https://packages.cloud.google.com/apt cloud-sdk-bookworm main\n";

    #[test]
    fn paragraphs_are_read() {
        let sources: Vec<_> = STANZAS.split("\n\n").filter_map(read_stanza).collect();
        assert_eq!(
            lines_for("bookworm", &sources),
            [
                "deb http://mirror/debian bookworm main",
                "deb http://mirror/debian bookworm-updates main",
                "deb http://mirror/debian-security bookworm-security main"
            ]
        );
    }

    #[test]
    fn lines_are_read() {
        let sources: Vec<_> = LINES.lines().filter_map(read_line).collect();
        assert_eq!(lines_for("bookworm", &sources), ["deb http://mirror/debian bookworm main"]);
    }

    #[test]
    fn a_release_the_host_does_not_use_comes_from_debians_own_mirror() {
        assert_eq!(lines_for("trixie", &[]), ["deb http://deb.debian.org/debian trixie main"]);
    }
}
