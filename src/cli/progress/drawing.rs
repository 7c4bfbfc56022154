//! Shows looks at a job: redraws a picture on a terminal, writes lines elsewhere, nothing when asked to be quiet.

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::feed::Look;
use super::picture::{Space, picture};
use super::transition::transitions;
use crate::cli::cluster::shapes::Plan;
use crate::cli::duration::now;
use crate::cli::screen::Screen;

/// Where looks are shown.
pub(super) enum Drawing<'a> {
    /// On a terminal: one bar of text for each line of the picture.
    Picture { all: MultiProgress, lines: Vec<ProgressBar> },
    /// In a log: what is new since the last look.
    Lines { screen: &'a Screen, last: Option<Plan> },
}

impl<'a> Drawing<'a> {
    pub(super) fn new(screen: &'a Screen) -> Self {
        if screen.is_lively() {
            let all = MultiProgress::with_draw_target(ProgressDrawTarget::stderr());
            return Self::Picture { all, lines: Vec::new() };
        }
        Self::Lines { screen, last: None }
    }

    pub(super) fn show(&mut self, look: &Look) {
        let Some(plan) = &look.plan else { return };
        match self {
            Self::Picture { all, lines } => {
                let (height, width) = console::Term::stderr().size();
                let space = Space { width: width.into(), height: height.into() };
                draw(all, lines, &picture(&look.details, plan, now(), space));
            }
            Self::Lines { screen, last } => {
                let before = last.as_ref().filter(|before| before.id == plan.id);
                for line in transitions(&look.details, before, plan) {
                    screen.note(&line);
                }
                *last = Some(plan.clone());
            }
        }
    }

    /// Takes the picture away, for what is printed next.
    pub(super) fn clear(&self) {
        if let Self::Picture { all, .. } = self {
            // A terminal that went away needs no cleaning.
            let _ = all.clear();
        }
    }
}

fn draw(all: &MultiProgress, lines: &mut Vec<ProgressBar>, picture: &[String]) {
    while lines.len() > picture.len() {
        if let Some(line) = lines.pop() {
            all.remove(&line);
        }
    }
    while lines.len() < picture.len() {
        let style = ProgressStyle::with_template("{msg}").unwrap_or_else(|_| ProgressStyle::default_bar());
        lines.push(all.add(ProgressBar::new(1).with_style(style)));
    }
    for (line, text) in lines.iter().zip(picture) {
        line.set_message(text.clone());
    }
}
