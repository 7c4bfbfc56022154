//! No secret gets through, however it is written and wherever the text is cut.

#![allow(clippy::unwrap_used, reason = "tests may unwrap: a panic is their way to fail")]

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use cooperage_domain::redact::{REDACTED, Redactor};
use cooperage_domain::task::TaskReport;
use proptest::prelude::*;
use serde_json::json;

/// The pieces of a text that is cut at these places.
fn pieces<'a>(text: &'a [u8], cuts: &[prop::sample::Index]) -> Vec<&'a [u8]> {
    let mut places: Vec<usize> = cuts.iter().map(|cut| cut.index(text.len() + 1)).collect();
    places.extend([0, text.len()]);
    places.sort_unstable();
    places.windows(2).map(|pair| &text[pair[0]..pair[1]]).collect()
}

fn streamed(redactor: &Redactor, pieces: &[&[u8]]) -> Vec<u8> {
    let mut stream = redactor.stream();
    let mut clean: Vec<u8> = pieces.iter().flat_map(|piece| stream.push(piece)).collect();
    clean.extend(stream.finish());
    clean
}

/// Texts of few letters, so that secrets overlap, repeat, and begin where others end.
fn secret() -> impl Strategy<Value = String> {
    "[abé]{6,12}"
}

/// As in a URL: the longest way in which a secret is written.
fn percent(secret: &str) -> String {
    secret.replace('é', "%C3%A9")
}

fn text(secrets: &[String]) -> impl Strategy<Value = String> + use<> {
    let written = secrets.iter().flat_map(|secret| [secret.clone(), percent(secret)]).collect::<Vec<_>>();
    let part = prop_oneof![prop::sample::select(written), "[abé\n]{0,5}"];
    prop::collection::vec(part, 0..12).prop_map(|parts| parts.concat())
}

proptest! {
    #[test]
    fn no_split_lets_a_secret_through(
        (secrets, text) in prop::collection::vec(secret(), 1..4)
            .prop_flat_map(|secrets| (Just(secrets.clone()), text(&secrets))),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..20),
    ) {
        let redactor = Redactor::new(secrets.iter().map(String::as_str));
        let whole = redactor.text(&text);
        for secret in &secrets {
            prop_assert!(!whole.contains(secret.as_str()), "{whole} holds {secret}");
            prop_assert!(!whole.contains(&percent(secret)), "{whole} holds {secret}");
        }
        let clean = streamed(&redactor, &pieces(text.as_bytes(), &cuts));
        prop_assert_eq!(String::from_utf8(clean).unwrap(), whole);
    }

    #[test]
    fn in_base64_it_is_found_wherever_it_begins(
        secret in "[ -~]{6,40}", before in prop::collection::vec(any::<u8>(), 0..6), after in any::<[u8; 3]>(),
    ) {
        let redactor = Redactor::new([secret.as_str()]);
        let message = [&before[..], secret.as_bytes(), &after[..]].concat();
        for encoded in [STANDARD.encode(&message), URL_SAFE_NO_PAD.encode(&message)] {
            prop_assert!(redactor.text(&encoded).contains(REDACTED), "{}", encoded);
        }
        prop_assert!(redactor.text(&json!(message.iter().map(|_| &secret).collect::<Vec<_>>()).to_string())
            .matches(REDACTED).count() == message.len());
    }
}

#[test]
fn a_line_that_has_ended_is_passed_on_at_once() {
    let redactor = Redactor::new(["a-rather-long-secret"]);
    let mut stream = redactor.stream();
    assert_eq!(stream.push(b"made\na-rather-l"), b"made\n");
    assert_eq!(stream.push(b"ong-secret!\nx"), b"[redacted]!\n");
    assert_eq!(stream.finish(), b"x");
    assert_eq!(Redactor::default().stream().push(b"a-rather-l"), b"a-rather-l", "nothing to wait for");
}

#[test]
fn keys_are_found_line_by_line_and_encoded_forms_too() {
    let key = "-----BEGIN KEY-----\nMIIEpAIBAAKCAQEA\r\nq83vEjRWeJq8\n-----END KEY-----\n";
    let redactor = Redactor::new([key, "p@ss w/rd", "tiny"]);
    let clean = |text: &str| redactor.text(text).into_owned();
    assert_eq!(clean("1 MIIEpAIBAAKCAQEA 2"), "1 [redacted] 2");
    assert_eq!(clean("q83vEjRWeJq8"), REDACTED);
    assert_eq!(clean("-----BEGIN KEY-----"), "-----BEGIN KEY-----", "it is no secret");
    assert_eq!(
        clean("curl https://u:p%40ss%20w%2Frd@h and p%40ss%20w%2frd"),
        "curl https://u:[redacted]@h and [redacted]"
    );
    assert_eq!(clean("tiny"), "tiny", "too short to be looked for");
    assert!(!clean(&json!({ "key": key }).to_string()).contains("MII"));
    assert!(!format!("{redactor:?}").contains("MII"));
}

#[test]
fn reports_are_clean_in_every_part() {
    let redactor = Redactor::new(["hush-hush", "123456789"]);
    let mut report: TaskReport = serde_json::from_value(json!({"status": 1, "stdout": "a hush-hush",
        "stderr": "hush-hush b", "hostname": "hush-hush.example.com", "ipaddresses": {"x": "hush-hush"},
        "result": {"a": {"b": ["hush-hush!", 123_456_789, true]}, "hush-hush": 1}}))
    .unwrap();
    redactor.report(&mut report);
    let text = serde_json::to_string(&report).unwrap();
    assert!(!text.contains("hush-hush") && !text.contains("123456789"), "{text}");
    assert_eq!(text.matches(REDACTED).count(), 7, "{text}");
}
