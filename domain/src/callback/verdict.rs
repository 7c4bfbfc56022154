//! What the answer to a start hook means.

use serde_json::Value;

use super::OnError;

/// Longest reason that is told to whoever asked for the job, in characters.
const LONGEST_REASON: usize = 500;
/// Fields of an answer that may hold the reason, in the order they are looked at.
const REASONS: [&str; 4] = ["veto", "reason", "message", "detail"];

/// What a start hook has said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// The job may begin.
    Allowed,
    /// It may not, for this reason.
    Vetoed(String),
    /// The hook could not be asked, for this reason; what then is the hook's own setting.
    Unanswered(String),
}

impl Verdict {
    /// Why the job is refused, if it is.
    #[must_use]
    pub fn refusal(&self, on_error: OnError) -> Option<String> {
        match self {
            Self::Vetoed(reason) => Some(reason.clone()),
            Self::Unanswered(fault) if on_error == OnError::Refuse => {
                Some(format!("it could not be asked: {fault}"))
            }
            Self::Allowed | Self::Unanswered(_) => None,
        }
    }
}

/// What an answer means: 2xx lets the job begin, unless its body says `{"veto": …}`; 4xx refuses it, with the reason in the
/// body. Everything else is no answer: redirections, faults of the target (5xx), and being told to come again (408, 429).
#[must_use]
pub fn verdict(code: u16, body: &str) -> Verdict {
    let json: Option<Value> = serde_json::from_str(body).ok();
    match code {
        200..=299 => match json.as_ref().and_then(|json| json.get("veto")) {
            None | Some(Value::Null | Value::Bool(false)) => Verdict::Allowed,
            Some(_) => Verdict::Vetoed(reason(json.as_ref(), "", code)),
        },
        408 | 429 => Verdict::Unanswered(format!("it answered {code}")),
        400..=499 => Verdict::Vetoed(reason(json.as_ref(), body, code)),
        _ => Verdict::Unanswered(format!("it answered {code}")),
    }
}

/// The reason in an answer: a text field of its JSON, or else its first line.
fn reason(json: Option<&Value>, body: &str, code: u16) -> String {
    let text = |field: &&str| json?.get(field)?.as_str();
    let of_json = REASONS.iter().find_map(|field| text(field).filter(|text| !text.trim().is_empty()));
    let first_line = || body.lines().map(str::trim).find(|line| !line.is_empty()).filter(|_| json.is_none());
    match of_json.or_else(first_line) {
        Some(text) => text.trim().chars().filter(|c| !c.is_control()).take(LONGEST_REASON).collect(),
        None => format!("it gave no reason (it answered {code})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vetoed(reason: &str) -> Verdict {
        Verdict::Vetoed(reason.to_owned())
    }

    #[test]
    fn the_status_and_the_word_veto_decide() {
        for (code, body, expected) in [
            (200, "", Verdict::Allowed),
            (204, "fine", Verdict::Allowed),
            (200, r#"{"veto": null, "message": "welcome"}"#, Verdict::Allowed),
            (200, r#"{"veto": false}"#, Verdict::Allowed),
            (200, r#"{"veto": "freeze until Monday"}"#, vetoed("freeze until Monday")),
            (200, r#"{"veto": true, "reason": "freeze"}"#, vetoed("freeze")),
            (202, r#"{"veto": true}"#, vetoed("it gave no reason (it answered 202)")),
            (403, r#"{"message": "no budget"}"#, vetoed("no budget")),
            (409, "\n  too late\nmore", vetoed("too late")),
            (404, "", vetoed("it gave no reason (it answered 404)")),
            (400, r#"{"fields": []}"#, vetoed("it gave no reason (it answered 400)")),
            (302, "", Verdict::Unanswered("it answered 302".into())),
            (429, r#"{"veto": "x"}"#, Verdict::Unanswered("it answered 429".into())),
            (503, "no budget", Verdict::Unanswered("it answered 503".into())),
        ] {
            assert_eq!(verdict(code, body), expected, "{code} {body}");
        }
    }

    #[test]
    fn a_reason_is_one_line_of_bounded_length() {
        let long = format!(r#"{{"veto": "{}\u0007\nb"}}"#, "a".repeat(3_000));
        let Verdict::Vetoed(reason) = verdict(200, &long) else { panic!("not vetoed") };
        assert_eq!(reason.chars().count(), LONGEST_REASON);
        assert!(reason.chars().all(|c| c == 'a'));
    }

    #[test]
    fn what_an_absent_target_means_is_the_hook_s_setting() {
        let absent = Verdict::Unanswered("connection refused".into());
        assert_eq!(absent.refusal(OnError::Allow), None);
        assert!(absent.refusal(OnError::Refuse).is_some_and(|text| text.contains("connection refused")));
        assert_eq!(vetoed("no").refusal(OnError::Allow), Some("no".into()));
        assert_eq!(Verdict::Allowed.refusal(OnError::Refuse), None);
    }
}
