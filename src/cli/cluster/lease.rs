//! `cooperage cluster lease`

use cooperage_domain::invalid::Invalid;
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use serde_json::json;

use super::find;
use super::planned::{self, Verb};
use crate::cli::args::LeaseArgs;
use crate::cli::client::Client;
use crate::cli::duration::{self, local_time, now, short};
use crate::cli::failure::Failure;
use crate::cli::screen::Screen;

/// Shows when a lease ends, or lets it end at another time.
///
/// # Errors
/// When the time is none, or the server refuses it.
pub async fn run(args: &LeaseArgs, client: &Client, screen: &Screen) -> Result<(), Failure> {
    let (_, details) = find::details(client, &args.which.cluster).await?;
    let expires = match wanted(args, details.expire_time, now())? {
        None => details.expire_time,
        Some(expires) => {
            let body = json!({ "expireTime": expires, "whilePending": true });
            let path = format!("/v2/clusters/{}", details.id);
            if !planned::change(Verb::Post, &path, &body, &args.preview, client, screen).await? {
                return Ok(());
            }
            expires
        }
    };
    let result = json!({ "id": details.id, "expireTime": expires });
    screen.result(&result, || match expires {
        0 => format!("cluster {} ({}) has no end", details.name, details.id),
        at => {
            let left = at - now();
            let left = if left > 0 { format!("in {}", short(left)) } else { "over".to_owned() };
            format!("cluster {} ({}) ends {}, {left}", details.name, details.id, local_time(at))
        }
    });
    Ok(())
}

/// The end that is wanted, in ms since 1970, if one is.
fn wanted(args: &LeaseArgs, expires: i64, now: i64) -> Result<Option<i64>, Failure> {
    let ms = |option: &str, text: &str| {
        duration::parse(option, text).map(|time| i64::try_from(time.as_millis()).unwrap_or(i64::MAX))
    };
    match (&args.by, &args.from_now, &args.until) {
        (Some(_), ..) if expires == 0 => {
            Err(Failure::refused("it has no end that could be later", "set one with --in or --until"))
        }
        (Some(by), ..) => Ok(Some(expires.saturating_add(ms("--by", by)?))),
        (None, Some(from_now), _) => Ok(Some(now.saturating_add(ms("--in", from_now)?))),
        (None, None, Some(until)) => Ok(Some(at("--until", until)?)),
        (None, None, None) => Ok(None),
    }
}

/// A time with its zone, or here.
pub(super) fn at(option: &str, text: &str) -> Result<i64, Invalid> {
    let zoned: Option<Timestamp> = text.parse().ok();
    let here = || {
        let time: DateTime = text.parse().ok()?;
        Some(time.to_zoned(TimeZone::system()).ok()?.timestamp())
    };
    zoned.or_else(here).map(Timestamp::as_millisecond).ok_or_else(|| {
        Invalid::new(option, text, "is no time", "write it like 2027-01-31T18:00 or 2027-01-31T18:00:00Z")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::args::PreviewArgs;
    use crate::cli::args::cluster::Which;

    #[test]
    fn an_end_is_later_by_from_now_or_at_a_time() {
        let lease = |by: &str, from_now: &str, until: &str| {
            let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
            let which = Which { cluster: "shop".into() };
            LeaseArgs {
                which,
                by: some(by),
                from_now: some(from_now),
                until: some(until),
                preview: PreviewArgs::default(),
            }
        };
        let hour = 3_600_000;
        for (args, expires, expected) in [
            (lease("", "", ""), 5, None),
            (lease("1h", "", ""), 5, Some(hour + 5)),
            (lease("", "1h", ""), 5, Some(hour + 100)),
            (lease("", "", "1970-01-01T01:00:00Z"), 5, Some(hour)),
        ] {
            assert_eq!(wanted(&args, expires, 100).unwrap(), expected);
        }
        assert!(wanted(&lease("1h", "", ""), 0, 100).is_err());
        assert_eq!(at("--until", "tomorrow").unwrap_err().field, "--until");
        assert!(at("--until", "2027-01-31T18:00").is_ok());
    }
}
