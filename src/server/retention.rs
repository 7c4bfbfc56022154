//! Removes what was kept long enough.

use std::time::Duration;

use actix_web::web;
use cooperage_schema::PRUNED_TOGETHER;
use slog::{error, info};

use crate::api::AppState;

/// Pause between two looks.
const PAUSE: Duration = Duration::from_secs(3600);
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
