//! Folders and files as people write them, read and refused.

use std::path::PathBuf;

use cooperage_domain::entity::Kind;

use super::*;

fn source(path: &str, text: &str) -> SourceFile {
    SourceFile { path: PathBuf::from(path), content: text.as_bytes().to_vec() }
}

fn read(path: &str, text: &str) -> Result<Vec<(Kind, String)>, String> {
    let bundle = read_sources(vec![source(path, text)]).map_err(|faults| faults.to_string())?;
    Ok(bundle.documents.iter().map(|document| (document.kind, document.name().to_owned())).collect())
}

const HARDWARE: &str = "kind: hardwaretype\nname: small\nproviders: {}\n";

#[test]
fn documents_are_read_in_every_form() {
    let small = (Kind::HardwareType, "small".to_owned());
    let big = (Kind::HardwareType, "big".to_owned());
    let two = format!("---\n{HARDWARE}---\n# nothing\n---\nkind: hardwaretype\nname: big\n");
    let cases = [
        ("a.yaml", HARDWARE.to_owned(), vec![small.clone()]),
        ("a.yml", two, vec![small.clone(), big.clone()]),
        ("a.json", r#"{"kind":"hardwaretype","name":"small"}"#.to_owned(), vec![small.clone()]),
        (
            "list.json",
            r#"[{"kind":"hardwaretype","name":"small"},{"kind":"hardwaretype","name":"big"}]"#.to_owned(),
            vec![small.clone(), big.clone()],
        ),
        (
            "export.json",
            r#"{"providers":[],"hardwaretypes":[{"name":"small"},{"name":"big"}]}"#.to_owned(),
            vec![small.clone(), big.clone()],
        ),
        ("a.toml", "kind = \"hardwaretype\"\nname = \"small\"\n".to_owned(), vec![small.clone()]),
        (
            "export.toml",
            "[[hardwaretypes]]\nname = \"small\"\n[[hardwaretypes]]\nname = \"big\"\n".to_owned(),
            vec![small, big],
        ),
        ("empty.yaml", "# only words\n".to_owned(), vec![]),
    ];
    for (path, text, expected) in cases {
        assert_eq!(read(path, &text).unwrap(), expected, "{path}");
    }
}

/// Path, text, and all that people are told.
const FAULTS: [(&str, &str, &str); 12] = [
    (
        "a.json",
        "{\n  \"kind\": \"service\",\n  \"name\" \"x\"\n}",
        "a.json:3:10: is not JSON: expected `:`\n     3 |   \"name\" \"x\"\n       |          ^\n  remedy: correct the JSON there",
    ),
    (
        "a.toml",
        "kind = \"service\"\nname = \n",
        "a.toml:2:8: is not TOML: string values must be quoted, expected literal string\n     2 | name = \n       |        ^\n  remedy: correct the TOML there",
    ),
    (
        "a.yaml",
        "kind: service\nname: [a\n",
        "a.yaml:2:7: is not YAML: unclosed bracket '['\n     2 | name: [a\n       |       ^\n  remedy: correct the YAML there",
    ),
    (
        "a.yaml",
        "kind: service\nname: a\nname: b\n",
        "a.yaml:3:1: is not YAML: duplicate mapping key: name\n     3 | name: b\n       | ^\n  remedy: correct the YAML there",
    ),
    (
        "a.yaml",
        "---\nkind: hardwaretype\nname: a\n---\nkind: hardwaretype\n",
        "a.yaml:5: hardware type \"\": name is missing\n  remedy: add name",
    ),
    (
        "a.yaml",
        "kind: servce\nname: a\n",
        "a.yaml:1: the document \"a\" has an unknown kind: \"servce\"\n  remedy: did you mean service? The kinds are provider, hardwaretype, imagetype, service, clustertemplate, partialtemplate",
    ),
    (
        "a.yaml",
        "kind: pod\nname: a\n",
        "a.yaml:1: the document \"a\" has an unknown kind: \"pod\"\n  remedy: use one of provider, hardwaretype, imagetype, service, clustertemplate, partialtemplate",
    ),
    (
        "a.yaml",
        "name: a\n",
        "a.yaml:1: the document \"a\" does not say what it is: kind is missing\n  remedy: write kind: with one of provider, hardwaretype, imagetype, service, clustertemplate, partialtemplate",
    ),
    (
        "a.yaml",
        "just words\n",
        "a.yaml:1: \"just words\" is not a document\n  remedy: write an object with kind and name, a list of them, or an export",
    ),
    (
        "a.yaml",
        "kind: hardwaretype\nname: a b\n",
        "a.yaml:1: hardware type \"a b\": name: \"a b\" is not a valid name\n  remedy: use 1 to 255 letters, digits, '_', '.' or '-'",
    ),
    (
        "a.json",
        r#"{"services":[],"pods":[]}"#,
        "a.json: there are no entities called \"pods\"\n  remedy: use providers, hardwaretypes, imagetypes, services, clustertemplates, partialtemplates",
    ),
    (
        "resources/shell/x.sh",
        "a.yaml:3:1: is not YAML: duplicate mapping key: name\n     3 | name: b\n       | ^\n  remedy: correct the YAML there",
        "resources/shell/x.sh: the file is not at resources/PLUGIN/KIND/NAME\n  remedy: move it, for example to resources/shell/scripts/install.sh",
    ),
];

#[test]
fn faults_say_where_what_and_what_to_do() {
    for (path, text, expected) in FAULTS {
        assert_eq!(read(path, text).unwrap_err(), expected, "{text}");
    }
}

#[test]
fn all_faults_are_told_at_once() {
    let sources = vec![
        source("a.yaml", "kind: pod\n"),
        source("b.yaml", HARDWARE),
        source("c.yaml", HARDWARE),
        source("d.json", "{"),
    ];
    let DocumentFaults(faults) = read_sources(sources).unwrap_err();
    let files: Vec<String> = faults.iter().map(|fault| fault.place.file.display().to_string()).collect();
    assert_eq!(files, ["a.yaml", "d.json", "c.yaml"]);
    assert_eq!(faults[2].detail, "hardware type \"small\" is already written down in b.yaml:1");
}

#[test]
fn resources_are_told_by_their_folder() {
    let bundle = read_sources(vec![source("web/resources/shell/scripts/a.sh", "echo")]).unwrap();
    assert_eq!(bundle.resources[0].to_string(), "shell/scripts/a.sh");
    assert_eq!(bundle.resources[0].content, b"echo");
}

#[test]
fn a_folder_gives_its_documents_and_resources_and_nothing_else() {
    let root = tempfile::tempdir().unwrap();
    for path in [
        "README.md",
        "web/a.yaml",
        "web/notes.txt",
        ".git/config.yaml",
        "web/resources/shell/scripts/run",
        "b.json",
        ".hidden.yaml",
    ] {
        let path = root.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "x").unwrap();
    }
    let found = read_paths(&[root.path().to_owned()]).unwrap();
    let names: Vec<&str> =
        found.iter().map(|s| s.path.strip_prefix(root.path()).unwrap().to_str().unwrap()).collect();
    assert_eq!(names, ["b.json", "web/a.yaml", "web/resources/shell/scripts/run"]);

    let faults =
        read_paths(&[root.path().join("missing"), root.path().join(".git")]).unwrap_err().to_string();
    assert!(faults.contains("missing: cannot be read"), "{faults}");
}

#[test]
fn the_shipped_catalog_is_without_fault() {
    let sources = read_paths(&[PathBuf::from("etc/catalog")]).unwrap();
    let bundle = read_sources(sources).map_err(|faults| faults.to_string()).unwrap();
    assert!(bundle.documents.len() > 8 && bundle.resources.len() > 4);
}

#[test]
fn a_fault_far_into_a_line_is_shown_from_a_little_before() {
    let text = format!("{{\"kind\": \"{}\" 1}}", "x".repeat(300));
    let shown = read("a.json", &text).unwrap_err();
    let lines: Vec<&str> = shown.lines().collect();
    assert!(lines[1].len() < 120, "{shown}");
    let caret = lines[2].find('^').unwrap();
    assert_eq!(lines[1].as_bytes()[caret], b'1', "{shown}");
}
