//! Archives, good ones and those of strangers.

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;

use flate2::Compression;
use flate2::write::GzEncoder;
use proptest::prelude::*;
use tar::{Builder, EntryType, Header};

use super::*;

/// A header and what comes behind it.
type Entry = (Header, Vec<u8>);

const LIMITS: ArchiveLimits = ArchiveLimits { bytes: 64 << 20, entries: 50 };

/// An entry as nobody's `tar` would write it: its name and its link are taken as they are.
fn entry(kind: EntryType, name: &str, link: &str, content: &[u8]) -> Entry {
    let mut header = Header::new_gnu();
    let old = header.as_old_mut();
    old.name[..name.len()].copy_from_slice(name.as_bytes());
    old.linkname[..link.len()].copy_from_slice(link.as_bytes());
    header.set_entry_type(kind);
    header.set_size(content.len() as u64);
    header.set_mode(0o6755);
    header.set_cksum();
    (header, content.to_vec())
}

fn file(name: &str, content: &[u8]) -> Entry {
    entry(EntryType::Regular, name, "", content)
}

fn link(name: &str, aim: &str) -> Entry {
    entry(EntryType::Symlink, name, aim, b"")
}

fn tar(entries: &[Entry]) -> Vec<u8> {
    let mut builder = Builder::new(Vec::new());
    for (header, content) in entries {
        builder.append(header, content.as_slice()).unwrap();
    }
    builder.into_inner().unwrap()
}

fn gz(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn packed(entries: &[Entry]) -> Vec<u8> {
    gz(&tar(entries))
}

#[test]
fn a_good_one_is_unpacked_as_it_is() {
    let long = format!("site/{}", "x".repeat(150));
    let mut builder = Builder::new(Vec::new());
    let mut header = Header::new_gnu();
    header.set_size(2);
    header.set_mode(0o600);
    builder.append_data(&mut header, &long, &b"ab"[..]).unwrap();
    let (header, content) = file("site/bin/run", b"#!/bin/sh\n");
    builder.append(&header, content.as_slice()).unwrap();
    for (header, _) in [
        link("site/current", "bin/run"),
        link("site/bin/up", "../current"),
        entry(EntryType::Link, "site/same", "site/bin/run", b""),
    ] {
        builder.append(&header, &b""[..]).unwrap();
    }
    let archive = gz(&builder.into_inner().unwrap());
    let folder = tempfile::tempdir().unwrap();
    let summary = unpack(archive.as_slice(), folder.path(), &LIMITS).unwrap();
    assert_eq!(summary, Summary { entries: 7, bytes: 12 });
    assert_eq!(check(archive.as_slice(), &LIMITS), Ok(summary));
    let mode = |path: &str| folder.path().join(path).metadata().unwrap().permissions().mode() & 0o7777;
    assert_eq!((mode("site/bin/run"), mode(&long), mode("site")), (0o555, 0o444, 0o755));
    assert_eq!(fs::read(folder.path().join("site/bin/up")).unwrap(), b"#!/bin/sh\n");
    assert_eq!(fs::read(folder.path().join("site/same")).unwrap(), b"#!/bin/sh\n");
}

#[test]
fn what_would_leave_its_folder_is_refused_by_name() {
    let bad: [(&str, Vec<Entry>); 12] = [
        ("is absolute", vec![file("/etc/cron.d/x", b"x")]),
        ("'..'", vec![file("a/../../x", b"x")]),
        ("is a link to \"/etc\"", vec![link("l", "/etc")]),
        ("is a link to \"../x\"", vec![link("l", "../x")]),
        ("is a link to \"a/../..\"", vec![link("l", "a/../..")]),
        ("lies in l, which is no folder", vec![link("l", "."), file("l/x", b"x")]),
        ("is in it twice", vec![link("x", "y"), file("x", b"x")]),
        ("hard link", vec![entry(EntryType::Link, "h", "../../etc/shadow", b"")]),
        ("hard link to l", vec![link("l", "x"), entry(EntryType::Link, "h", "l", b"")]),
        ("neither file, folder nor link", vec![entry(EntryType::Block, "dev", "", b"")]),
        ("neither file, folder nor link", vec![entry(EntryType::Fifo, "pipe", "", b"")]),
        ("more than 32 folders", vec![file(&"d/".repeat(40), b"")]),
    ];
    for (words, entries) in bad {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("root");
        fs::create_dir(&root).unwrap();
        let archive = packed(&entries);
        let fault = check(archive.as_slice(), &LIMITS).unwrap_err();
        let shown = fault.to_string();
        assert!(
            shown.contains(words) || words.contains("hard link") && shown.contains("link"),
            "{words}: {shown}"
        );
        assert!(fault.entry.is_some(), "{shown}");
        assert_eq!(unpack(archive.as_slice(), &root, &LIMITS), Err(fault));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "{words}");
    }
}

#[test]
fn bombs_are_refused_before_they_go_off() {
    let zeros = vec![0; 40 << 20];
    let bomb = packed(&[file("zeros", &zeros)]);
    assert!(check(bomb.as_slice(), &LIMITS).unwrap_err().fault.contains("times its size"));
    let small = ArchiveLimits { bytes: 1 << 20, ..LIMITS };
    assert!(check(bomb.as_slice(), &small).unwrap_err().fault.contains("more than 1048576 bytes"));
    let many: Vec<_> = (0..=LIMITS.entries).map(|n| file(&n.to_string(), b"")).collect();
    assert!(check(packed(&many).as_slice(), &LIMITS).unwrap_err().fault.contains("50 are allowed"));
    let name = entry(EntryType::GNULongName, "././@LongLink", "", &vec![b'a'; 100_000]);
    assert!(
        check(packed(&[name, file("x", b"")]).as_slice(), &LIMITS)
            .unwrap_err()
            .fault
            .contains("100000 bytes")
    );
}

#[test]
fn what_is_no_archive_or_not_all_of_one_is_refused() {
    let good = packed(&[file("a", &[7; 5000]), file("b", b"b")]);
    for bytes in [
        b"".as_slice(),
        b"#!/bin/sh\n",
        &good[..good.len() - 20],
        &gz(b"no tar at all, but longer than nothing"),
    ] {
        let fault = check(bytes, &LIMITS).unwrap_err();
        assert!(fault.to_string().contains("no readable gzip'ed tar"), "{fault}");
    }
    let mut short = tar(&[file("a", &[7; 5000])]);
    short.truncate(2000);
    assert!(check(gz(&short).as_slice(), &LIMITS).is_err());
}

/// Entries of all kinds, with names that lead everywhere.
fn entries() -> impl Strategy<Value = Vec<Entry>> {
    let name = || {
        prop::collection::vec(prop::sample::select(vec!["a", "b", "..", ".", "", "l"]), 1..4)
            .prop_map(|parts| parts.join("/"))
    };
    let kind = prop::sample::select(vec![b'0', b'5', b'2', b'1', b'3', b'x', b'g', b'L', b'K', b'S', b'6']);
    let one = (kind, name(), name(), prop::collection::vec(any::<u8>(), 0..40));
    let one = one.prop_map(|(kind, name, link, content)| entry(EntryType::new(kind), &name, &link, &content));
    prop::collection::vec(one, 0..8)
}

fn everything_below(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.symlink_metadata().unwrap().is_dir() {
            everything_below(&path, found);
        }
        found.push(path);
    }
}

/// Unpacks into a folder with a neighbour, and looks that nothing leads out.
fn stays_inside(archive: &[u8]) {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("root");
    fs::create_dir(&root).unwrap();
    let checked = check(archive, &LIMITS);
    assert_eq!(unpack(archive, &root, &LIMITS).is_ok(), checked.is_ok());
    assert!(checked.is_ok_and(|summary| summary.entries > LIMITS.entries).eq(&false));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    let root = root.canonicalize().unwrap();
    let mut found = Vec::new();
    everything_below(&root, &mut found);
    for path in found {
        // A link may lead to nothing, but not to anything outside.
        if let Ok(real) = path.canonicalize() {
            assert!(real.starts_with(&root), "{} leads to {}", path.display(), real.display());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn no_archive_leaves_its_folder(entries in entries()) {
        stays_inside(&packed(&entries));
    }

    #[test]
    fn any_bytes_are_refused_or_unpacked(bytes in prop::collection::vec(any::<u8>(), 0..2000), packed in any::<bool>()) {
        stays_inside(&if packed { gz(&bytes) } else { bytes });
    }

    #[test]
    fn so_are_archives_with_bytes_changed(entries in entries(), changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6)) {
        let mut bytes = tar(&entries);
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        stays_inside(&gz(&bytes));
    }
}
