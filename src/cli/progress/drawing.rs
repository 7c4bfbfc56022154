//! Shows looks at a job: redraws a picture on a terminal, writes lines elsewhere, nothing when asked to be quiet.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::feed::Look;
use super::picture::{Space, picture};
use super::transition::transitions;
use crate::cli::cluster::shapes::Plan;
use crate::cli::duration::now;
use crate::cli::screen::Screen;

/// Where looks are shown.
pub(super) enum Drawing<'a> {
    /// On a terminal, drawn over the picture before.
    Picture(ProgressBar),
    /// In a log: what is new since the last look.
    Lines { screen: &'a Screen, last: Option<Plan> },
}

impl<'a> Drawing<'a> {
    pub(super) fn new(screen: &'a Screen) -> Self {
        if screen.is_lively() {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            // The whole picture is one text, so that it is drawn at once; it is never ticked by a timer.
            let style =
                ProgressStyle::with_template("{msg}").unwrap_or_else(|_| ProgressStyle::default_spinner());
            return Self::Picture(bar.with_style(style));
        }
        Self::Lines { screen, last: None }
    }

    pub(super) fn show(&mut self, look: &Look) {
        let Some(plan) = &look.plan else { return };
        match self {
            Self::Picture(bar) => {
                let (height, width) = console::Term::stderr().size();
                let space = Space { width: width.into(), height: height.into() };
                bar.set_message(picture(&look.details, plan, now(), space).join("\n"));
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
        if let Self::Picture(bar) = self {
            bar.finish_and_clear();
        }
    }
}
