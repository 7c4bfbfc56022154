//! The page, drawn.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Cell, Paragraph, Row, Table, Wrap};

use super::page::{Actor, Detail, Followed, Mode, Page, Times, percent};

/// From this width on, the tree stands beside the rest and not above it.
const WIDE: u16 = 120;
/// Longest bar of a histogram.
const BAR: usize = 24;

/// Draws it.
pub fn draw(page: &mut Page, frame: &mut Frame<'_>) {
    let [head, body, foot] =
        Layout::vertical([Constraint::Length(1), Constraint::Min(3), Constraint::Length(1)])
            .areas(frame.area());
    frame.render_widget(headline(page), head);
    let (tree, rest) = if body.width >= WIDE {
        let [tree, rest] = Layout::horizontal([Constraint::Percentage(52), Constraint::Fill(1)]).areas(body);
        (tree, rest)
    } else {
        let [tree, rest] = Layout::vertical([Constraint::Percentage(45), Constraint::Fill(1)]).areas(body);
        (tree, rest)
    };
    draw_tree(page, frame, tree);
    let [detail, trace] = Layout::vertical([Constraint::Percentage(55), Constraint::Fill(1)]).areas(rest);
    draw_detail(page, frame, detail);
    draw_trace(page, frame, trace);
    frame.render_widget(footline(page), foot);
}

/// With colour, unless nobody wants any.
fn tint(color: Color) -> Style {
    if console::colors_enabled() { Style::new().fg(color) } else { Style::new() }
}

fn bold() -> Style {
    Style::new().add_modifier(Modifier::BOLD)
}

fn headline(page: &Page) -> Line<'static> {
    let mut parts = vec![
        Span::styled(format!(" {} ", page.server), bold()),
        Span::raw(format!("{} actors live, {:.1} messages/s", page.live, page.per_second)),
    ];
    if !page.filter.is_empty() {
        parts.push(Span::raw(format!(", {} with “{}”", page.total, page.filter)));
    }
    if !page.connected {
        parts.push(Span::styled("  the server is away, trying again", tint(Color::Red)));
    }
    Line::from(parts)
}

fn footline(page: &Page) -> Line<'static> {
    match &page.mode {
        Mode::Filter(text) => Line::from(format!(" filter: {text}▏ (Enter, Esc)")),
        Mode::Correlation(text) => Line::from(format!(" request id: {text}▏ (Enter, Esc)")),
        Mode::Fault => Line::from(" next message: d drop  l delay 1 s  c crash  Esc"),
        Mode::Confirm(question, _) => Line::styled(format!(" {question}"), bold()),
        Mode::Keys => match &page.note {
            Some(note) => Line::from(format!(" {note}")),
            None => Line::from(
                " ↑↓ select  / filter  t trace  i trace a request  p pause  u resume  r restart  f fault  q quit",
            ),
        },
    }
}

fn color_of(state: &str) -> Style {
    match state {
        "paused" => tint(Color::Yellow),
        "stopping" => tint(Color::Red),
        "passivated" => tint(Color::DarkGray),
        _ => Style::new(),
    }
}

/// What people call it, a cluster with its id; otherwise its path. A node is written below its cluster.
fn name(actor: &Actor) -> String {
    match (&actor.parent, &actor.name) {
        (Some(_), Some(name)) => format!("  {name}"),
        (Some(parent), None) => {
            format!("  {}", actor.path.strip_prefix(parent.as_str()).unwrap_or(&actor.path))
        }
        (None, Some(name)) => format!("{name} {}", actor.path.rsplit('/').next().unwrap_or_default()),
        (None, None) => actor.path.clone(),
    }
}

fn draw_tree(page: &mut Page, frame: &mut Frame<'_>, area: Rect) {
    let rows = page.actors.iter().map(|actor| {
        let restarts = if actor.restarts == 0 { Style::new() } else { tint(Color::Yellow) };
        Row::new([
            Cell::from(name(actor)),
            Cell::from(actor.state.clone()),
            Cell::from(actor.waiting.to_string()),
            Cell::from(format!("{:.1}", actor.per_second)),
            Cell::from(percent(actor.busy)),
            Cell::from(actor.restarts.to_string()).style(restarts),
        ])
        .style(color_of(&actor.state))
    });
    let widths = [
        Constraint::Fill(1),
        Constraint::Length(10),
        Constraint::Length(7),
        Constraint::Length(8),
        Constraint::Length(7),
        Constraint::Length(8),
    ];
    let head = Row::new(["ACTOR", "STATE", "WAITING", "MSG/S", "BUSY", "RESTARTS"]).style(bold());
    let table = Table::new(rows, widths)
        .header(head)
        .block(Block::bordered().title(" Actors "))
        .row_highlight_style(Style::new().add_modifier(Modifier::REVERSED));
    frame.render_stateful_widget(table, area, &mut page.table);
}

fn draw_detail(page: &Page, frame: &mut Frame<'_>, area: Rect) {
    let lines = match &page.detail {
        Some(detail) => detail_lines(detail),
        None => vec![Line::from("select an actor")],
    };
    let block = Block::bordered().title(" Actor ");
    frame.render_widget(Paragraph::new(lines).block(block).wrap(Wrap { trim: false }), area);
}

fn detail_lines(detail: &Detail) -> Vec<Line<'static>> {
    let actor = &detail.actor;
    let mut lines = vec![
        Line::styled(actor.name.clone().unwrap_or_else(|| actor.path.clone()), bold()),
        Line::styled(actor.path.clone(), tint(Color::DarkGray)),
        Line::styled(
            format!(
                "{}, {}: {} messages handled, {} wait",
                actor.kind, actor.state, actor.handled, actor.waiting
            ),
            color_of(&actor.state),
        ),
    ];
    if let Some(fault) = &actor.fault {
        lines.push(Line::styled(format!("next message: {fault}"), tint(Color::Red)));
    }
    if let Some(error) = &actor.last_error {
        lines.push(Line::styled(format!("last error: {error}"), tint(Color::Red)));
    }
    let mut pairs: Vec<_> = detail.latencies.iter().collect();
    pairs.sort_by_key(|pair| std::cmp::Reverse(pair.taken.count));
    for pair in pairs {
        let from = pair.from.as_deref().unwrap_or("·");
        lines.push(Line::from(vec![
            Span::styled(format!("{from} → {}", pair.to), bold()),
            Span::raw(format!(
                "  {}×  waited {}  took {}",
                pair.taken.count,
                times(&pair.waited),
                times(&pair.taken)
            )),
        ]));
        lines.extend(histogram(&pair.waited));
    }
    lines
}

fn times(times: &Times) -> String {
    format!(
        "{} (95%: {}, longest {})",
        duration(times.median_us),
        duration(times.p95_us),
        duration(times.longest_us)
    )
}

/// A bar for each step that has any.
fn histogram(times: &Times) -> Vec<Line<'static>> {
    let most = times.steps.iter().map(|step| step.count).max().unwrap_or(0).max(1);
    let used = times.steps.iter().filter(|step| step.count > 0);
    let line = |step: &super::page::Step| {
        let length = usize::try_from(step.count * BAR as u64 / most).unwrap_or(BAR).max(1);
        Line::from(vec![
            Span::raw(format!("  < {:>8} ", duration(step.below_us))),
            Span::styled("█".repeat(length), tint(Color::Cyan)),
            Span::raw(format!(" {}", step.count)),
        ])
    };
    used.map(line).collect()
}

/// Few digits, as people read it.
fn duration(us: u64) -> String {
    match us {
        0..1_000 => format!("{us} µs"),
        1_000..1_000_000 => format!("{:.1} ms", us as f64 / 1e3),
        _ => format!("{:.1} s", us as f64 / 1e6),
    }
}

fn draw_trace(page: &Page, frame: &mut Frame<'_>, area: Rect) {
    let title = match &page.following {
        Some(what) if page.missed > 0 => format!(" Messages of {what}, {} missed ", page.missed),
        Some(what) => format!(" Messages of {what} "),
        None => " Messages: t follows those of the selected actor ".to_owned(),
    };
    let shown = usize::from(area.height.saturating_sub(2));
    let from = page.messages.len().saturating_sub(shown);
    let lines: Vec<Line<'static>> = page.messages.iter().skip(from).map(message_line).collect();
    frame.render_widget(Paragraph::new(lines).block(Block::bordered().title(title)), area);
}

fn message_line(message: &Followed) -> Line<'static> {
    let style = match message.outcome.as_str() {
        "refused" | "unanswered" | "abandoned" => tint(Color::Yellow),
        "broke" | "crashed" | "dropped" => tint(Color::Red),
        _ => Style::new(),
    };
    let from = message.from.as_deref().unwrap_or("·");
    let about = message.about.as_ref().map(|about| format!(" ({about})")).unwrap_or_default();
    let waited = message.waited_us.map_or_else(|| "?".to_owned(), duration);
    Line::from(vec![
        Span::styled(message.kind.clone(), bold()),
        Span::raw(format!("{about} {from} → {} {waited} + {} ", message.to, duration(message.taken_us))),
        Span::styled(message.outcome.clone(), style),
    ])
}

#[cfg(test)]
mod tests {
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;
    use ratatui::crossterm::event::{KeyCode, KeyModifiers};
    use serde_json::json;

    use super::*;

    fn page() -> Page {
        let mut page = Page::new("http://127.0.0.1:55054", "/", "");
        page.connected = true;
        page.hear(&json!({"tree": {"total": 3, "live": 2, "perSecond": 12.5, "faults": false, "actors": [
            {"path": "/clusters/00000001", "kind": "Cluster", "state": "paused", "waiting": 4, "perSecond": 8.0,
             "busy": 0.125, "handled": 40, "restarts": 2, "lastError": "it panicked: oh"},
            {"path": "/clusters/00000001/nodes/n1", "parent": "/clusters/00000001", "kind": "Node", "state": "running"},
            {"path": "/clusters/00000002", "kind": "Cluster", "state": "passivated"}]}}));
        page.key(KeyCode::Down, KeyModifiers::NONE);
        page.hear(&json!({"detail": {"actor": {"path": "/clusters/00000001", "kind": "Cluster", "state": "paused",
            "handled": 40, "waiting": 4, "restarts": 2, "lastError": "it panicked: oh"},
            "latencies": [{"from": "SlotGranted", "to": "Begin",
                "waited": {"count": 9, "medianUs": 16, "p95Us": 2100, "longestUs": 2500,
                    "steps": [{"belowUs": 8, "count": 0}, {"belowUs": 16, "count": 6}, {"belowUs": 4096, "count": 3}]},
                "taken": {"count": 9, "medianUs": 64, "p95Us": 64, "longestUs": 80, "steps": []}}]}}));
        page.key(KeyCode::Char('t'), KeyModifiers::NONE);
        page.hear(&json!({"missed": 5, "messages": [{"at": 1, "to": "/clusters/00000001", "kind": "Begin",
            "from": "/clusters/00000001/nodes/n1", "about": "task 3", "waitedUs": 17, "takenUs": 1500,
            "outcome": "answered"}]}));
        page
    }

    fn drawn(page: &mut Page, width: u16, height: u16) -> String {
        let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
        terminal.draw(|frame| draw(page, frame)).unwrap();
        terminal.backend().to_string()
    }

    #[test]
    fn tree_detail_and_messages_are_seen_side_by_side_and_one_above_the_other() {
        for (width, height) in [(160, 40), (100, 50)] {
            let text = drawn(&mut page(), width, height);
            for part in [
                "2 actors live, 12.5 messages/s",
                "/clusters/00000001",
                "  /nodes/n1",
                "passivated",
                "12.5%",
                "40 messages handled, 4 wait",
                "last error: it panicked: oh",
                "SlotGranted → Begin",
                "████████████████████████ 6",
                "████████████ 3",
                "Messages of /clusters/00000001, 5 missed",
                "Begin (task 3)",
                "t trace",
            ] {
                assert!(text.contains(part), "{part} at {width}x{height} in\n{text}");
            }
        }
    }

    #[test]
    fn a_question_is_asked_at_the_foot_and_an_absent_server_told_at_the_head() {
        let mut page = page();
        page.key(KeyCode::Char('r'), KeyModifiers::NONE);
        page.connected = false;
        let text = drawn(&mut page, 120, 24);
        assert!(text.contains("restart /clusters/00000001? y/n"), "{text}");
        assert!(text.contains("the server is away"), "{text}");
    }

    #[test]
    fn the_smallest_terminal_is_drawn_on_without_a_fault() {
        for (width, height) in [(1, 1), (10, 3), (40, 8)] {
            drawn(&mut page(), width, height);
        }
    }

    #[test]
    fn times_are_few_digits() {
        assert_eq!([0, 999, 1_500, 2_000_000].map(duration), ["0 µs", "999 µs", "1.5 ms", "2.0 s"]);
    }
}
