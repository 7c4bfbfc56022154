//! One chapter, from Markdown to HTML.

use std::path::Path;

use pulldown_cmark::{Alignment, CowStr, Event, HeadingLevel, Options, Parser, Tag, TagEnd, html};

use crate::contents::Entry;
use crate::links::{Target, joined};
use crate::{Fault, ROOT, escaped};

/// A chapter that was read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Chapter {
    /// Its file, below the folder of the book's source.
    pub path: String,
    /// Its address below the book: the file without `.md`.
    pub name: String,
    /// Its first heading.
    pub title: String,
    /// Its text as HTML.
    pub html: String,
    /// What can be pointed at, in order.
    pub headings: Vec<Heading>,
    /// What it points at.
    pub links: Vec<Target>,
    /// Its text for the search, by section.
    pub sections: Vec<Section>,
}

/// A heading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heading {
    /// From 1, the chapter's own.
    pub level: u8,
    /// What stands behind the `#` of a link.
    pub id: String,
    /// Its words.
    pub text: String,
}

/// What stands under a heading.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Section {
    /// The heading's id; empty for the chapter itself.
    pub anchor: String,
    /// The heading's words.
    pub heading: String,
    /// Everything under it, without markup.
    pub text: String,
}

impl Chapter {
    /// Reads the chapter that the contents name.
    ///
    /// # Errors
    /// When it, or a file that it includes or shows, cannot be read; or when it holds markup of its own.
    pub fn read(source: &Path, entry: &Entry) -> Result<Self, Vec<Fault>> {
        let text = std::fs::read_to_string(source.join(&entry.path))
            .map_err(|fault| vec![Fault::on(&entry.path, format!("cannot be read: {fault}"))])?;
        let beside = |path: &str| {
            let path = source.join(Path::new(&entry.path).parent().unwrap_or(Path::new(""))).join(path);
            std::fs::read_to_string(&path).map_err(|fault| {
                Fault::on(&entry.path, format!("{} cannot be read: {fault}", path.display()))
            })
        };
        let mut faults = Vec::new();
        let text = with_includes(&text, beside, &mut faults);
        let mut setting = Setting::new(&entry.path, &beside);
        let mut events = Vec::new();
        for event in Parser::new_ext(&text, Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH) {
            setting.set(event, &mut events);
        }
        faults.append(&mut setting.faults);
        if !faults.is_empty() {
            return Err(faults);
        }
        let mut chapter = setting.chapter;
        chapter.title =
            chapter.headings.first().map_or_else(|| entry.title.clone(), |first| first.text.clone());
        html::push_html(&mut chapter.html, events.into_iter());
        chapter.html = with_classes(&chapter.html);
        Ok(chapter)
    }
}

/// `{{#include path}}` as the file's text.
fn with_includes(
    text: &str,
    beside: impl Fn(&str) -> Result<String, Fault>,
    faults: &mut Vec<Fault>,
) -> String {
    let mut whole = String::new();
    for line in text.lines() {
        let included = line.trim().strip_prefix("{{#include ").and_then(|rest| rest.strip_suffix("}}"));
        match included.map(|path| beside(path.trim())) {
            Some(Ok(file)) => whole.push_str(file.trim_end()),
            Some(Err(fault)) => faults.push(fault),
            None => whole.push_str(line),
        }
        whole.push('\n');
    }
    whole
}

/// Alignment by class, since the policy of pages has no styles in attributes.
fn with_classes(html: &str) -> String {
    html.replace(" style=\"text-align: right\"", " class=\"right\"")
        .replace(" style=\"text-align: center\"", " class=\"centre\"")
        .replace(" style=\"text-align: left\"", "")
}

/// A chapter while it is set, event by event.
struct Setting<'a, F> {
    chapter: Chapter,
    beside: &'a F,
    faults: Vec<Fault>,
    /// The words of a heading that has begun, and where its events begin.
    heading: Option<(HeadingLevel, String, usize)>,
    /// The words beside a picture that has begun, and its file.
    picture: Option<(String, String)>,
}

impl<'a, F: Fn(&str) -> Result<String, Fault>> Setting<'a, F> {
    fn new(path: &str, beside: &'a F) -> Self {
        let name = path.trim_end_matches(".md").to_owned();
        let chapter =
            Chapter { path: path.to_owned(), name, sections: vec![Section::default()], ..Chapter::default() };
        Self { chapter, beside, faults: Vec::new(), heading: None, picture: None }
    }

    fn set<'e>(&mut self, event: Event<'e>, events: &mut Vec<Event<'e>>) {
        if self.picture.is_some() {
            return self.set_picture(&event, events);
        }
        match event {
            Event::Start(Tag::Heading { level, .. }) => {
                self.heading = Some((level, String::new(), events.len()));
            }
            Event::End(TagEnd::Heading(_)) => self.end_heading(events),
            Event::Start(Tag::Link { link_type, dest_url, title, id }) => {
                let target = Target::of(&self.chapter.path, &dest_url);
                let dest_url = CowStr::from(address(&target));
                self.chapter.links.push(target);
                events.push(Event::Start(Tag::Link { link_type, dest_url, title, id }));
            }
            Event::Start(Tag::Image { dest_url, .. }) => {
                self.picture = Some((String::new(), dest_url.into_string()));
            }
            Event::Start(Tag::Table(alignments)) => {
                events
                    .push(markup("<div class=\"wide\" tabindex=\"0\" role=\"group\" aria-label=\"Table\">"));
                events.push(Event::Start(Tag::Table(alignments.into_iter().map(shown).collect())));
            }
            Event::End(TagEnd::Table) => {
                events.extend([Event::End(TagEnd::Table), markup("</div>")]);
                self.say(" ");
            }
            Event::Html(text) | Event::InlineHtml(text) if !text.trim_start().starts_with("<!--") => {
                let what = format!("has markup of its own: {}; write it in Markdown", text.trim());
                self.faults.push(Fault::on(&self.chapter.path, what));
            }
            Event::Html(_) | Event::InlineHtml(_) => {}
            event => {
                match &event {
                    Event::Text(text) | Event::Code(text) => self.say(text),
                    Event::SoftBreak | Event::HardBreak | Event::End(_) => self.say(" "),
                    _ => {}
                }
                events.push(event);
            }
        }
    }

    /// Words, for a heading or for the search.
    fn say(&mut self, text: &str) {
        if let Some((_, words, _)) = &mut self.heading {
            words.push_str(text);
        } else if let Some(section) = self.chapter.sections.last_mut() {
            let is_gap = text == " " && section.text.ends_with(' ');
            section.text.push_str(if is_gap { "" } else { text });
        }
    }

    fn end_heading(&mut self, events: &mut Vec<Event<'_>>) {
        let Some((level, text, begin)) = self.heading.take() else { return };
        let text = text.trim().to_owned();
        let id = self.free_id(&text);
        let inside = if level == HeadingLevel::H1 {
            markup(&format!("</{level}>\n"))
        } else {
            markup(&format!(
                "<a class=\"anchor\" href=\"#{id}\" aria-label=\"Address of: {}\">#</a></{level}>\n",
                escaped(&text)
            ))
        };
        events.insert(begin, markup(&format!("<{level} id=\"{id}\">")));
        events.push(inside);
        let section = Section { anchor: id.clone(), heading: text.clone(), text: String::new() };
        if level == HeadingLevel::H1 {
            self.chapter.sections =
                vec![Section { anchor: String::new(), heading: String::new(), ..section }];
        } else {
            self.chapter.sections.push(section);
        }
        self.chapter.headings.push(Heading { level: level as u8, id, text });
    }

    /// The id that others call a heading by; a number behind it where there is one of the same name.
    fn free_id(&self, text: &str) -> String {
        let id = id_of(text);
        let taken = |id: &str| self.chapter.headings.iter().any(|one| one.id == id);
        let mut numbered = (1..).map(|number| format!("{id}-{number}"));
        if taken(&id) { numbered.find(|id| !taken(id)).unwrap_or_default() } else { id }
    }

    /// Collects the words beside a picture, and puts its drawing into the page at its end, where it takes the page's colours.
    fn set_picture(&mut self, event: &Event<'_>, events: &mut Vec<Event<'_>>) {
        let Some((words, path)) = &mut self.picture else { return };
        match event {
            Event::Text(text) | Event::Code(text) => words.push_str(text),
            Event::End(TagEnd::Image) => {
                let drawn = (self.beside)(path).and_then(|text| {
                    drawing(&text, words).ok_or_else(|| {
                        let path = joined(&self.chapter.path, path);
                        Fault::on(
                            &self.chapter.path,
                            format!("{path} is no SVG picture without scripts, or has no words"),
                        )
                    })
                });
                match drawn {
                    Ok(drawing) => events.push(markup(&drawing)),
                    Err(fault) => self.faults.push(fault),
                }
                self.picture = None;
            }
            _ => {}
        }
    }
}

fn markup<'e>(text: &str) -> Event<'e> {
    Event::InlineHtml(CowStr::from(text.to_owned()))
}

/// Left is where text stands anyway.
fn shown(alignment: Alignment) -> Alignment {
    if alignment == Alignment::Left { Alignment::None } else { alignment }
}

/// A link as it stands in a printed page.
fn address(target: &Target) -> String {
    match target {
        Target::Outside(address) => address.clone(),
        Target::Inside { path, anchor } => {
            let page = path.trim_end_matches(".md");
            let hash = if anchor.is_empty() { "" } else { "#" };
            format!("{ROOT}/{page}{hash}{anchor}")
        }
    }
}

/// What a heading is pointed at by, as GitHub and mdBook have it: its words in small letters with `-` between.
fn id_of(text: &str) -> String {
    let kept = text.chars().filter_map(|c| match c {
        ' ' => Some('-'),
        c if c.is_alphanumeric() || c == '-' || c == '_' => Some(c),
        _ => None,
    });
    kept.flat_map(char::to_lowercase).collect()
}

/// A picture in a page: the file without its own colours, which the page has, with words for those who do not see it.
fn drawing(text: &str, words: &str) -> Option<String> {
    let begin = text.find("<svg ")?;
    let mut drawn = text[begin..].trim_end().to_owned();
    if let (Some(from), Some(to)) = (drawn.find("<style>"), drawn.find("</style>")) {
        drawn.replace_range(from..to + "</style>".len(), "");
    }
    if words.is_empty() || ["<script", "<style", " style=", "href=\"http"].iter().any(|it| drawn.contains(it))
    {
        return None;
    }
    // An empty line would end the markup for those who read it as Markdown.
    let lines: Vec<&str> = drawn.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let opening = format!("<svg class=\"picture\" role=\"img\" aria-label=\"{}\" ", escaped(words));
    let drawn = lines.join("\n").replacen("<svg ", &opening, 1);
    // Small on a phone it could not be read; it is moved there instead.
    Some(format!(
        "<span class=\"drawing\" tabindex=\"0\" role=\"group\" aria-label=\"Picture\">{drawn}</span>"
    ))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Chapter, Vec<Fault>> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("r")).unwrap();
        std::fs::write(folder.path().join("r/a.md"), text).unwrap();
        std::fs::write(folder.path().join("x.sh"), "echo <b>\n").unwrap();
        let picture = "<svg viewBox=\"0 0 1 1\">\n<style>.a{fill:red}</style>\n\n<rect class=\"a\"/></svg>\n";
        std::fs::write(folder.path().join("p.svg"), picture).unwrap();
        Chapter::read(folder.path(), &Entry { title: "A".to_owned(), path: "r/a.md".to_owned(), depth: 0 })
    }

    #[test]
    fn headings_have_ids_and_sections() {
        let chapter = read("# The `x`\n\nWords.\n\n## A, b & c\n\nMore\n\n## A, b & c\n").unwrap();
        assert_eq!(chapter.title, "The x");
        let ids: Vec<&str> = chapter.headings.iter().map(|one| one.id.as_str()).collect();
        assert_eq!(ids, ["the-x", "a-b--c", "a-b--c-1"]);
        assert!(chapter.html.contains("<h1 id=\"the-x\">The <code>x</code></h1>"), "{}", chapter.html);
        assert_eq!((chapter.sections[0].text.trim(), chapter.sections[1].text.trim()), ("Words.", "More"));
    }

    #[test]
    fn links_files_and_pictures_are_put_in() {
        let chapter =
            read("[b](../b.md#c)\n\n```sh\n{{#include ../x.sh}}\n```\n\n![A box](../p.svg)\n").unwrap();
        assert!(chapter.html.contains("href=\"/docs/b#c\""), "{}", chapter.html);
        assert!(chapter.html.contains("echo &lt;b&gt;"), "{}", chapter.html);
        assert!(chapter.html.contains("aria-label=\"A box\" viewBox"), "{}", chapter.html);
        assert!(!chapter.html.contains("fill:red"), "{}", chapter.html);
    }

    #[test]
    fn tables_are_aligned_without_styles() {
        let chapter = read("| a | b |\n|:--|--:|\n| 1 | 2 |\n").unwrap();
        assert!(chapter.html.contains("<td class=\"right\">2</td>"), "{}", chapter.html);
        assert!(!chapter.html.contains("style="), "{}", chapter.html);
    }

    #[test]
    fn markup_of_its_own_and_lost_files_are_faults() {
        assert!(read("<!-- Made by hand. -->\n").is_ok());
        assert_eq!(read("a <b>c</b>\n\n![x](../gone.svg)\n\n![](../p.svg)\n").unwrap_err().len(), 4);
    }
}
