//! Removes what was kept long enough, and keeps what stays in order.

use std::time::Duration;

use actix_web::web;
use cooperage_schema::PRUNED_TOGETHER;
use slog::{error, info, warn};

use crate::api::AppState;

/// Pause between two looks.
const PAUSE: Duration = Duration::from_secs(3600);
/// Pause between two looks at what tasks print.
const OUTPUT_PAUSE: Duration = Duration::from_secs(2);
/// What a task printed is put together when it has not printed for so long, in milliseconds.
const IDLE: i64 = 60_000;
/// A day, in milliseconds.
const DAY: i64 = 24 * 3600 * 1000;

/// Prunes the audit log now and every hour, until the server ends. Does nothing where everything is kept for ever.
pub async fn prune_audit(state: web::Data<AppState>) {
    let days = i64::from(state.settings.audit.retention_days);
    if days == 0 {
        return;
    }
    loop {
        let now = state.clock.now();
        let pruned = state.blocking(move |state| Ok(state.store.prune_audit(now - days * DAY, now)?)).await;
        match pruned {
            Ok(0) => {}
            Ok(PRUNED_TOGETHER) => continue,
            Ok(entries) => {
                info!(state.logger, "old entries of the audit log were removed"; "entries" => entries);
            }
            Err(fault) => {
                error!(state.logger, "the audit log was not pruned"; "fault" => fault.to_string());
            }
        }
        actix_rt::time::sleep(PAUSE).await;
    }
}

/// Puts what tasks print together in large chunks, and removes what is beyond the limits every hour, until the server ends.
pub async fn keep_output(state: web::Data<AppState>) {
    let mut looks = 0_u64;
    loop {
        if looks.is_multiple_of(PAUSE.as_secs() / OUTPUT_PAUSE.as_secs()) {
            prune_output(&state).await;
        }
        looks += 1;
        let idle = state.clock.now() - IDLE;
        let merged = state.blocking(move |state| Ok(state.store.merge_output(idle)?)).await;
        match merged {
            Ok(merged) if merged.has_more => continue,
            Ok(_) => {}
            Err(fault) => {
                warn!(state.logger, "what tasks printed was not put together"; "fault" => fault.cause());
            }
        }
        actix_rt::time::sleep(OUTPUT_PAUSE).await;
    }
}

async fn prune_output(state: &web::Data<AppState>) {
    let limits = state.settings.logs.limits(state.clock.now());
    match state.blocking(move |state| Ok(state.store.prune_output(&limits)?)).await {
        Ok(0) => {}
        Ok(chunks) => info!(state.logger, "old output of tasks was removed"; "chunks" => chunks),
        Err(fault) => error!(state.logger, "output of tasks was not pruned"; "fault" => fault.cause()),
    }
}
