//! Resources in the working directory.

use std::fs;
use std::io::Write;

use cooperage_plugins::Stream;
use cooperage_plugins::resources::Side;
use flate2::Compression;
use flate2::write::GzEncoder;

use crate::rig::{Rig, create};

/// Says of each of its files the mode and the first line.
const LIST: &str = "#!/bin/sh\ncat > /dev/null\n\
    find . -type f | sort | while read -r file; do\n\
    printf '{\"log\": \"%s %s %s\"}\\n' \"$file\" \"$(stat -c %a \"$file\")\" \"$(head -n1 \"$file\")\"; done\n\
    echo '{\"result\": {}}'\n";

fn archive(files: &[(&str, &str)]) -> Vec<u8> {
    let mut builder = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
    for (name, text) in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(text.len() as u64);
        header.set_mode(0o644);
        builder.append_data(&mut header, name, text.as_bytes()).unwrap();
    }
    builder.into_inner().unwrap().finish().unwrap()
}

#[tokio::test]
async fn files_and_archives_are_there_and_cannot_be_written() {
    let rig = Rig::new().with_script(LIST);
    rig.upload(Side::Provider, "acme", "keys", "id", b"secret key");
    rig.upload(Side::Provider, "acme", "tools", "tool.sh", b"#!/bin/sh");
    // As Coopr wants them, with a folder called like the resource, and without.
    rig.upload(
        Side::Provider,
        "acme",
        "books",
        "one",
        &archive(&[("one/a", "first"), ("one/b/c", "second")]),
    );
    rig.upload(Side::Provider, "acme", "books", "two", &archive(&[("a", "third")]));
    rig.upload(Side::Provider, "acme", "gone", "x", b"a kind it does not have");
    rig.upload(Side::Automator, "acme", "keys", "other", b"of the automator of this name");
    let report = rig.execute(create()).await;
    assert_eq!(report.status, 0, "{report:?}");
    let expected = [
        "./books/one/a 444 first",
        "./books/one/b/c 444 second",
        "./books/two/a 444 third",
        "./keys/id 400 secret key",
        "./tools/tool.sh 555 #!/bin/sh",
    ];
    assert_eq!(rig.noted.of(Stream::Stdout), expected);
}

#[tokio::test]
async fn one_that_came_to_harm_stops_the_task_before_it_begins() {
    let rig = Rig::new().with_script(LIST);
    let key = rig.upload(Side::Provider, "acme", "tools", "tool.sh", b"#!/bin/sh");
    fs::OpenOptions::new().append(true).open(rig.bytes_of(&key)).unwrap().write_all(b"x").unwrap();
    let report = rig.execute(create()).await;
    assert_eq!(report.status, 1, "an earlier run may have made something: {report:?}");
    assert!(report.stderr.contains("acme/tools/tool.sh came to harm"), "{report:?}");
    assert!(rig.noted.of(Stream::Stdout).is_empty());
}

#[tokio::test]
async fn an_archive_that_leads_out_is_not_unpacked() {
    let rig = Rig::new().with_script(LIST);
    let mut builder = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
    let mut header = tar::Header::new_gnu();
    header.set_entry_type(tar::EntryType::Symlink);
    header.set_size(0);
    builder.append_link(&mut header, "out", "/etc").unwrap();
    let bytes = builder.into_inner().unwrap().finish().unwrap();
    rig.upload(Side::Provider, "acme", "books", "bad", &bytes);
    let report = rig.execute(create()).await;
    assert!(report.status == 1 && report.stderr.contains("\"out\" is a link to \"/etc\""), "{report:?}");
}
