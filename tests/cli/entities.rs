//! What operators write down: applied, compared, exported and put back.

use serde_json::json;

use crate::terminal::Terminal;

#[test]
fn documents_are_checked_compared_and_stored() {
    let terminal = Terminal::new();
    let file = terminal
        .file("more.yaml", "kind: hardwaretype\nname: large\nprovidermap:\n  sim:\n    flavor: big\n");
    let file = file.display();
    assert!(terminal.types(&format!("validate -f {file}")).ok().contains("1 entity, 0 resources"));
    assert_eq!(terminal.types(&format!("validate -f {file} -o name")).ok(), "hardwaretype/large\n");
    let diff = terminal.types(&format!("diff -f {file}"));
    assert!(diff.err.contains("large") && diff.code == 0, "{diff:?}");
    terminal.types(&format!("diff -f {file} --exit-code")).fails(8, "large");
    assert_eq!(terminal.types(&format!("apply -f {file} --yes -o name")).ok(), "hardwaretype/large\n");
    terminal.types(&format!("diff -f {file} --exit-code")).ok();
    let wrong = terminal.file("wrong.yaml", "kind: hardwaretype\nname: ''\n");
    terminal.types(&format!("validate -f {}", wrong.display())).fails(2, "wrong.yaml");
    terminal.types("hardware delete large --yes").ok();
    assert_eq!(terminal.types("hardware list -o name").ok(), "small\n");
}

#[test]
fn an_export_is_put_back_in_place_of_everything() {
    let terminal = Terminal::new();
    terminal.types("export --to all.json --secrets").ok();
    let mode = std::fs::metadata(terminal.home().join("all.json")).unwrap();
    assert_eq!(std::os::unix::fs::PermissionsExt::mode(&mode.permissions()) & 0o777, 0o600);
    let more = terminal.file("more.yaml", "kind: hardwaretype\nname: large\nprovidermap: {}\n");
    terminal.types(&format!("apply -f {} --yes", more.display())).ok();
    let dry = terminal.types("import -f all.json --dry-run -o json");
    assert_eq!(dry.json(), json!([{"name": "hardwaretype/large", "change": "removed"}]));
    terminal.types("import -f all.json").fails(1, "--yes");
    assert_eq!(terminal.types("hardware list -o name").lines(), ["large", "small"]);
    terminal.types("import -f all.json --yes").ok();
    assert_eq!(terminal.types("hardware list -o name").lines(), ["small"]);
    assert!(terminal.types("import -f all.json --yes").err.contains("unchanged"));
    terminal.types("cluster create farm -t farm -n 2 -q").ok();
}

#[test]
fn a_template_that_is_not_stored_is_merged_with_what_it_includes() {
    let terminal = Terminal::new();
    let file = terminal.file(
        "child.yaml",
        "kind: clustertemplate\nname: child\nextends:\n  name: farm\ndescription: Mine\n",
    );
    let merged = terminal.types(&format!("template resolve -f {} -o json", file.display())).json();
    assert_eq!((&merged["description"], &merged["defaults"]["provider"]), (&json!("Mine"), &json!("sim")));
}
