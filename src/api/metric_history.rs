//! How figures went in the last hour: taken every ten seconds, whether or not somebody looks.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use actix_web::{HttpResponse, web};
use slog::debug;

use super::exposition;
use super::problem::Problem;
use super::state::AppState;
use crate::metrics::history::{EVERY_MS, History};

/// Where the samples are.
#[derive(Debug, Default)]
pub struct Samples {
    history: Mutex<History>,
    /// Held by who puts an exposition together: what is gone is forgotten meanwhile.
    turn: tokio::sync::Mutex<()>,
}

impl Samples {
    /// Waits until nobody else puts an exposition together.
    pub(super) async fn turn(&self) -> impl Drop + use<'_> {
        self.turn.lock().await
    }

    fn with<T>(&self, work: impl FnOnce(&mut History) -> T) -> T {
        // What is kept is whole after each sample.
        work(&mut self.history.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// `GET /v2/metrics/history`.
pub async fn get(state: web::Data<AppState>) -> Result<HttpResponse, Problem> {
    let shown = state.samples.with(|history| history.shown());
    Ok(HttpResponse::Ok().json(shown))
}

/// Takes samples for ever.
pub async fn sample(state: web::Data<AppState>) {
    let mut ticks = tokio::time::interval(Duration::from_millis(EVERY_MS.unsigned_abs()));
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        match exposition::text(&state).await {
            Ok(text) => state.samples.with(|history| history.take(state.clock.now(), &text)),
            // A gap in the charts; the database says elsewhere that it is away.
            Err(problem) => debug!(state.logger, "no sample of the metrics"; "fault" => problem.cause()),
        }
    }
}
