//! What stands around each chapter: the contents, the search, what the page itself has, and the way on.

use std::fmt::Write;

use crate::chapter::Chapter;
use crate::contents::{Contents, Entry};
use crate::{ROOT, escaped};

/// A whole page.
pub fn page(
    contents: &Contents,
    chapter: &Chapter,
    before: Option<&Chapter>,
    after: Option<&Chapter>,
) -> String {
    let title = escaped(&chapter.title);
    let (list, places) = (contents_list(contents, &chapter.path), places(chapter));
    let way = way(before, after);
    let html = &chapter.html;
    format!(
        r##"<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title} · Cooperage</title>
<link rel="icon" href="{ROOT}/icon.svg">
<script src="{ROOT}/before-paint.js"></script>
<link rel="stylesheet" href="{ROOT}/book.css">
<script src="{ROOT}/book.js" defer></script>
</head>
<body>
<a class="skip" href="#content">To the content</a>
<header>
<a class="brand" href="{ROOT}"><img src="{ROOT}/icon.svg" alt="" width="26" height="26"><span>Cooperage <small>book</small></span></a>
<button class="chapters" type="button" aria-expanded="false" aria-controls="chapters">Chapters</button>
<div class="search" role="search">
<input type="search" role="combobox" placeholder="Search" aria-label="Search the book" aria-expanded="false" aria-controls="found" aria-autocomplete="list" autocomplete="off" spellcheck="false">
<ul id="found" role="listbox" aria-label="Found" hidden></ul>
</div>
<a class="home" href="/">Web interface</a>
</header>
<div class="sheet">
<nav id="chapters" aria-label="Chapters">
{list}</nav>
<main id="content" tabindex="-1">
{html}{way}</main>
{places}</div>
</body>
</html>
"##
    )
}

fn contents_list(contents: &Contents, here: &str) -> String {
    let mut list = String::new();
    for part in &contents.parts {
        if !part.title.is_empty() {
            let _ = writeln!(list, "<h2>{}</h2>", escaped(&part.title));
        }
        list.push_str("<ul>\n");
        for entry in &part.entries {
            let _ = writeln!(list, "{}", contents_row(entry, here));
        }
        list.push_str("</ul>\n");
    }
    list
}

fn contents_row(entry: &Entry, here: &str) -> String {
    let current = if entry.path == here { " aria-current=\"page\"" } else { "" };
    let deep = if entry.depth > 0 { " class=\"deep\"" } else { "" };
    let (page, title) = (entry.path.trim_end_matches(".md"), escaped(&entry.title));
    format!("<li{deep}><a href=\"{ROOT}/{page}\"{current}>{title}</a></li>")
}

/// What the page itself has; nothing where that is little.
fn places(chapter: &Chapter) -> String {
    let headings: Vec<_> = chapter.headings.iter().filter(|heading| heading.level == 2).collect();
    if headings.len() < 2 {
        return String::new();
    }
    let rows: String = headings
        .iter()
        .map(|heading| format!("<li><a href=\"#{}\">{}</a></li>\n", heading.id, escaped(&heading.text)))
        .collect();
    format!(
        "<nav class=\"places\" aria-label=\"On this page\">\n<h2>On this page</h2>\n<ul>\n{rows}</ul>\n</nav>\n"
    )
}

/// To the chapters before and after.
fn way(before: Option<&Chapter>, after: Option<&Chapter>) -> String {
    let link = |chapter: Option<&Chapter>, rel: &str, word: &str| {
        chapter.map_or_else(String::new, |chapter| {
            let title = escaped(&chapter.title);
            format!("<a rel=\"{rel}\" href=\"{ROOT}/{}\"><small>{word}</small>{title}</a>\n", chapter.name)
        })
    };
    format!(
        "<nav class=\"way\" aria-label=\"Before and after\">\n{}{}</nav>\n",
        link(before, "prev", "Before"),
        link(after, "next", "Next")
    )
}
