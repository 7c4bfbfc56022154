//! Whatever is done to a chain of records is found.

#![allow(clippy::unwrap_used, reason = "tests may unwrap: a panic is their way to fail")]

use cooperage_domain::audit::{BEGINNING, Broken, Entry, Link, Outcome, PRUNE, Record, Verifier};
use proptest::prelude::*;
use proptest::sample::Index;

fn record() -> impl Strategy<Value = Record> {
    let text = || "[ab]{0,2}";
    ((0_i64..3, text(), text(), text(), text()), (text(), text(), text(), text(), text(), 200_u16..203))
        .prop_map(
            |(
                (at_ms, request, tenant, user, credential),
                (peer, forwarded, port, action, object, status),
            )| Record {
                at_ms,
                request,
                tenant,
                user,
                credential,
                peer,
                forwarded,
                port,
                action,
                object,
                status,
            },
        )
}

fn chain(records: &[Record]) -> Vec<Entry> {
    let mut last = Link { sequence: 0, hash: BEGINNING.to_owned() };
    let mut chained = Vec::new();
    for record in records {
        let sequence = last.sequence + 1;
        last = Link { sequence, hash: record.hash(&last.hash, sequence) };
        chained.push(Entry { sequence, record: record.clone(), hash: last.hash.clone() });
    }
    chained
}

fn link(entry: &Entry) -> Link {
    Link { sequence: entry.sequence, hash: entry.hash.clone() }
}

fn verify(anchor: &Link, entries: &[Entry], head: &Link) -> Result<u64, Broken> {
    let mut verifier = Verifier::new(anchor.clone());
    entries.iter().try_for_each(|entry| verifier.check(entry))?;
    verifier.finish(head)
}

/// Something done to a chain behind its back.
#[derive(Debug, Clone)]
enum Tampering {
    Alter(Index, Record),
    AlterWithNewHash(Index, Record),
    Remove(Index),
    RemoveEnd(Index),
    RemoveBeginning(Index),
    Insert(Index, Record),
    InsertWithNewHash(Index, Record),
    Swap(Index, Index),
    SwapContents(Index, Index),
}

fn tampering() -> impl Strategy<Value = Tampering> {
    let at = any::<Index>;
    prop_oneof![
        (at(), record()).prop_map(|(at, new)| Tampering::Alter(at, new)),
        (at(), record()).prop_map(|(at, new)| Tampering::AlterWithNewHash(at, new)),
        at().prop_map(Tampering::Remove),
        at().prop_map(Tampering::RemoveEnd),
        at().prop_map(Tampering::RemoveBeginning),
        (at(), record()).prop_map(|(at, new)| Tampering::Insert(at, new)),
        (at(), record()).prop_map(|(at, new)| Tampering::InsertWithNewHash(at, new)),
        (at(), at()).prop_map(|(a, b)| Tampering::Swap(a, b)),
        (at(), at()).prop_map(|(a, b)| Tampering::SwapContents(a, b)),
    ]
}

fn previous(entries: &[Entry], at: usize) -> String {
    at.checked_sub(1).map_or_else(String::new, |before| entries[before].hash.clone())
}

fn tamper(entries: &mut Vec<Entry>, what: &Tampering) {
    let count = entries.len();
    match what {
        Tampering::Alter(at, new) => entries[at.index(count)].record = new.clone(),
        Tampering::AlterWithNewHash(at, new) => {
            let at = at.index(count);
            let hash = new.hash(&previous(entries, at), at as u64 + 1);
            entries[at] = Entry { record: new.clone(), hash, ..entries[at].clone() };
        }
        Tampering::Remove(at) => drop(entries.remove(at.index(count))),
        Tampering::RemoveEnd(at) => entries.truncate(at.index(count)),
        Tampering::RemoveBeginning(at) => drop(entries.drain(..=at.index(count))),
        Tampering::Insert(at, new) => {
            let at = at.index(count);
            let copy = Entry { record: new.clone(), ..entries[at].clone() };
            entries.insert(at, copy);
        }
        Tampering::InsertWithNewHash(at, new) => {
            let at = at.index(count);
            let hash = new.hash(&previous(entries, at), at as u64 + 1);
            entries.insert(at, Entry { sequence: at as u64 + 1, record: new.clone(), hash });
            for (entry, sequence) in entries.iter_mut().zip(1..) {
                entry.sequence = sequence;
            }
        }
        Tampering::Swap(a, b) => entries.swap(a.index(count), b.index(count)),
        Tampering::SwapContents(a, b) => {
            let (a, b) = (a.index(count), b.index(count));
            let record = entries[a].record.clone();
            entries[a].record = std::mem::replace(&mut entries[b].record, record);
        }
    }
}

proptest! {
    #[test]
    fn whatever_is_done_to_a_chain_is_found(
        records in prop::collection::vec(record(), 1..8), what in tampering(),
    ) {
        let entries = chain(&records);
        let head = link(entries.last().unwrap());
        let anchor = Link::default();
        prop_assert_eq!(verify(&anchor, &entries, &head), Ok(entries.len() as u64));
        let mut tampered = entries.clone();
        tamper(&mut tampered, &what);
        if tampered != entries {
            let broken = verify(&anchor, &tampered, &head);
            prop_assert!(broken.is_err(), "{:?}", what);
            // What comes before the one that is named is untouched; but one whose hash was made anew is only given away by
            // the one behind it.
            let named = usize::try_from(broken.unwrap_err().sequence()).unwrap();
            let same = named.saturating_sub(2).min(tampered.len());
            prop_assert_eq!(&tampered[..same], &entries[..same]);
        }
    }

    #[test]
    fn a_beginning_may_only_be_removed_with_a_record_of_it(
        records in prop::collection::vec(record(), 2..8), at in any::<Index>(), more in any::<Index>(),
    ) {
        let cut = at.index(records.len()) + 1;
        let anchor = link(&chain(&records)[cut - 1]);
        let prune = Record { action: PRUNE.to_owned(), object: anchor.pruned(), ..Record::default() };
        let entries = chain(&[records.clone(), vec![prune]].concat());
        let head = link(entries.last().unwrap());
        let kept = &entries[cut..];
        prop_assert_eq!(verify(&anchor, kept, &head), Ok(kept.len() as u64));
        // With an anchor that nobody vouches for, although its hash is right.
        let further = more.index(kept.len());
        let moved = link(&kept[further]);
        let broken = Err(Broken::Beginning { sequence: moved.sequence });
        prop_assert_eq!(verify(&moved, &kept[further + 1..], &head), broken);
    }
}

#[test]
fn outcomes_follow_from_the_status() {
    for (status, outcome) in
        [(200, Outcome::Done), (404, Outcome::Refused), (401, Outcome::Refused), (503, Outcome::Failed)]
    {
        assert_eq!(Outcome::of(status), outcome);
        let (lowest, above) = outcome.statuses();
        assert!((lowest..above).contains(&status));
    }
}
