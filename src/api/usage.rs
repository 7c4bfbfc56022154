//! Machine time used, for those who pay or are paid.

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, web};
use cooperage_domain::id::ClusterId;
use cooperage_domain::machine_time::{Interval, MAX_INTERVALS, Period, extent, lives, machine_time};
use cooperage_schema::MachineTaskFilter;
use serde::Deserialize;
use serde_json::{Value, json};

use super::identity::Identity;
use super::problem::Problem;
use super::state::AppState;

/// What is asked for; all of it may be left out.
#[derive(Debug, Default, Deserialize)]
pub struct Query {
    tenant: Option<String>,
    user: Option<String>,
    clustertemplate: Option<String>,
    cluster: Option<String>,
    start: Option<String>,
    end: Option<String>,
    groupby: Option<String>,
    timeunit: Option<String>,
}

/// `GET /v2/metrics/nodes/usage`: machine time in intervals. Times are in seconds.
pub async fn get(
    state: web::Data<AppState>,
    identity: Identity,
    query: web::Query<Query>,
) -> Result<HttpResponse, Problem> {
    let query = query.into_inner();
    let filter = filter(&query, &identity)?;
    let start = query.start.as_deref().map(|text| seconds("start", text)).transpose()?;
    let end = query.end.as_deref().map(|text| seconds("end", text)).transpose()?;
    let period = query.groupby.as_deref().map(period).transpose()?;
    let unit = unit(query.timeunit.as_deref().unwrap_or("seconds"))?;
    let used = state
        .blocking(move |state| {
            let tasks = state.store.machine_tasks(&filter)?;
            let lives = lives(tasks.iter().map(|task| (task.node.as_str(), task.made, task.at_ms)));
            let now = state.clock.now().div_euclid(1_000);
            let (first, last) = extent(&lives, now);
            let (start, end) = (start.unwrap_or(first), end.unwrap_or(last));
            let intervals = machine_time(&lives, start, end, period).ok_or_else(too_many)?;
            let shown = |it: &Interval| json!({ "time": it.time, "value": unit.of_ms(it.value_ms) });
            let data: Vec<Value> = intervals.iter().map(shown).collect();
            Ok(json!({ "start": start, "end": end, "data": data }))
        })
        .await?;
    Ok(HttpResponse::Ok().json(used))
}

/// Whose machines are counted. Only the superadmin may ask about other tenants than the own one.
fn filter(query: &Query, identity: &Identity) -> Result<MachineTaskFilter, Problem> {
    let tenant = match &query.tenant {
        named if identity.is_superadmin() => named.clone(),
        Some(named) if *named != identity.tenant => {
            let detail = format!("machine time of tenant {named:?} is shown to the superadmin only");
            let problem = Problem::new(StatusCode::FORBIDDEN, detail).at("tenant", named);
            // Coopr says that the method is not allowed.
            return Err(problem.with_remedy("leave the tenant out").known_as(StatusCode::METHOD_NOT_ALLOWED));
        }
        _ => Some(identity.tenant.clone()),
    };
    let number = |text: &String| {
        text.parse::<ClusterId>().map_err(|fault| Problem::new(StatusCode::BAD_REQUEST, fault.to_string()))
    };
    let cluster = query.cluster.as_ref().map(number).transpose()?;
    Ok(MachineTaskFilter {
        tenant,
        owner: query.user.clone(),
        template: query.clustertemplate.clone(),
        cluster,
    })
}

fn seconds(field: &str, text: &str) -> Result<i64, Problem> {
    text.parse().map_err(|_| bad(field, text, "is not a number", "use seconds since 1970"))
}

fn period(text: &str) -> Result<Period, Problem> {
    Period::parse(text)
        .ok_or_else(|| bad("groupby", text, "is no period", "use hour, day, week, month or year"))
}

fn bad(field: &str, value: &str, fault: &str, remedy: &str) -> Problem {
    Problem::new(StatusCode::BAD_REQUEST, format!("{field}: {value:?} {fault}"))
        .at(field, value)
        .with_remedy(remedy)
}

fn too_many() -> Problem {
    let detail = format!("groupby: these are more than {MAX_INTERVALS} intervals");
    Problem::new(StatusCode::BAD_REQUEST, detail).with_remedy("ask for less time, or for longer periods")
}

/// A unit of time, as so many to a millisecond or so many milliseconds.
#[derive(Debug, Clone, Copy)]
struct Unit {
    per_ms: i64,
    ms: i64,
}

impl Unit {
    /// Whole units.
    const fn of_ms(self, ms: i64) -> i64 {
        ms.saturating_mul(self.per_ms) / self.ms
    }
}

fn unit(text: &str) -> Result<Unit, Problem> {
    let (per_ms, ms) = match text.to_ascii_lowercase().as_str() {
        "nanoseconds" => (1_000_000, 1),
        "microseconds" => (1_000, 1),
        "milliseconds" => (1, 1),
        "seconds" => (1, 1_000),
        "minutes" => (1, 60_000),
        "hours" => (1, 3_600_000),
        "days" => (1, 86_400_000),
        _ => {
            let units = "use nanoseconds, microseconds, milliseconds, seconds, minutes, hours or days";
            return Err(bad("timeunit", text, "is no unit of time", units));
        }
    };
    Ok(Unit { per_ms, ms })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_whole_and_named_in_any_case() {
        let of = |name: &str| unit(name).unwrap().of_ms(90_061_500);
        assert_eq!((of("seconds"), of("MINUTES"), of("Hours"), of("days")), (90_061, 1_501, 25, 1));
        assert_eq!((of("milliseconds"), of("nanoseconds")), (90_061_500, 90_061_500_000_000));
        assert!(unit("fortnights").is_err());
    }
}
