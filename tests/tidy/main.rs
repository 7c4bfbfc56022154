//! House rules that neither the compiler nor clippy knows, checked over every file in git. All offences are told at once,
//! each with file and line.
//!
//! Add a rule where its like is: words and sizes of sources in `style`, who may use what in `layers`, what documents
//! promise in `pages` and `settings`.

// A panic is a test's way to fail, also in what tests share.
#![allow(clippy::unwrap_used)]

mod layers;
mod pages;
mod settings;
mod style;
mod tree;
mod units;

use tree::{Offence, Tree};

#[test]
fn the_tree_keeps_the_house_rules() {
    let tree = Tree::of_git();
    let rules: [fn(&Tree) -> Vec<Offence>; 5] =
        [style::offences, layers::offences, pages::offences, settings::offences, units::offences];
    let mut offences: Vec<Offence> = rules.iter().flat_map(|rule| rule(&tree)).collect();
    offences.sort();
    let list: Vec<String> = offences.iter().map(ToString::to_string).collect();
    assert!(list.is_empty(), "{} offences:\n{}", list.len(), list.join("\n"));
}
