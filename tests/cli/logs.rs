//! What tasks printed, as people look at it.

use serde_json::Value;

use crate::terminal::Terminal;

/// Text of each line of a run with `-o json`, whose lines are JSON each.
fn texts(terminal: &Terminal, line: &str) -> Vec<String> {
    let said = terminal.types(&format!("{line} -o json")).ok();
    let lines = said.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines.map(|line| line["text"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn lines_are_shown_from_the_end_and_as_they_are_looked_for() {
    let terminal = Terminal::new();
    terminal.types("cluster create farm -t farm -n 3 --no-wait").ok();
    terminal.types("cluster wait farm --for active --timeout 1m").ok();
    let all = texts(&terminal, "cluster logs farm");
    assert!(all.len() > 5, "{all:?}");
    assert_eq!(texts(&terminal, "cluster logs farm --tail 2"), all[all.len() - 2..]);
    let word = all[2].split_whitespace().next().unwrap();
    let found: Vec<&String> = all.iter().filter(|text| text.contains(word)).collect();
    assert_eq!(
        texts(&terminal, &format!("cluster logs farm --search {word}")).iter().collect::<Vec<_>>(),
        found
    );
    let upper = word.to_uppercase();
    assert_eq!(
        texts(&terminal, &format!("cluster logs farm --search {upper} -i --follow"))
            .iter()
            .collect::<Vec<_>>(),
        found
    );
    assert_eq!(texts(&terminal, "cluster logs farm --since 2999-01-01T00:00:00Z"), Vec::<String>::new());

    let whole = texts(&terminal, "cluster logs farm --task CREATE");
    assert!(whole.len() > 1, "{whole:?}");
    assert_eq!(texts(&terminal, "cluster logs farm --task CREATE --tail 1"), whole[whole.len() - 1..]);
    let fitting: Vec<String> =
        texts(&terminal, "cluster logs farm --task CREATE --search ^. --regex --tail 1000");
    assert_eq!(fitting, whole);
    terminal.types("cluster logs farm --search ( --regex").fails(1, "regular expression");
    terminal.types("cluster logs farm --regex").fails(2, "--search");
}
