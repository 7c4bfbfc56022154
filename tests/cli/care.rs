//! Health and maintenance from the command line.

use crate::terminal::Terminal;

#[test]
fn a_node_is_left_alone_and_taken_care_of_again() {
    let terminal = Terminal::new();
    terminal.types("cluster create farm -t farm -n 3").ok();
    let shown = || terminal.types("cluster nodes farm").ok();
    assert!(!shown().contains("in maintenance"));
    terminal.types("cluster maintenance farm on --node 1001 --reason disks").ok();
    let nodes = shown();
    let of =
        |number: &str| nodes.lines().find(|line| line.trim_start().starts_with(number)).unwrap().to_owned();
    assert!(of("1001").contains("in maintenance") && !of("1000").contains("in maintenance"), "{nodes}");
    let health = terminal.types("cluster health farm").ok();
    assert!(health.contains("not replaced") && health.contains("disks"), "{health}");
    terminal.types("cluster maintenance farm off --node 1001").ok();
    assert!(!shown().contains("in maintenance"));
    terminal.types("cluster maintenance farm on --reason move").ok();
    let shown = terminal.types("cluster show farm").ok();
    assert!(shown.contains("left alone") && shown.contains("move"), "{shown}");
    terminal.types("cluster maintenance farm off").ok();
    terminal.types("cluster maintenance farm on --node 7").fails(3, "7");
    assert_eq!(terminal.types("cluster health farm --heal auto -o json").json()["heal"], "auto");
    assert_eq!(terminal.types("cluster health farm --heal template -o json").json()["heal"], "alarm");
}
