//! Plugin resources on their way to provisioners.

use std::path::Path;

use serde_json::Value;

use crate::lab::{Server, upload, wait_for};
use crate::process::{LIMIT, Provisioner, server, until_brings, want_workers};
use crate::world::World;

/// The bytes of the version of a script that a provisioner has in use; `None` when there is none.
fn in_use(provisioner: &Provisioner, name: &str) -> Option<Vec<u8>> {
    let snapshots = provisioner.data_dir().join("resources/snapshots");
    let newest = std::fs::read_dir(snapshots).ok()?.filter_map(Result::ok);
    let newest = newest.max_by_key(|entry| entry.metadata().and_then(|data| data.created()).ok())?;
    let folder = newest.path().join("superadmin/automatortypes/shell/scripts").join(name);
    let active: Value = serde_json::from_slice(&std::fs::read(folder.join("active")).ok()?).ok()?;
    std::fs::read(folder.join(active["version"].to_string())).ok()
}

/// Changes the server's copy of a version behind its back, as a damaged disk does.
fn damage(server: &Server, name: &str, version: u32) {
    let folder = server.data_dir().join("resources/superadmin/automatortypes/shell/scripts").join(name);
    std::fs::write(folder.join(version.to_string()), b"damaged").unwrap();
}

fn blobs(folder: &Path) -> usize {
    std::fs::read_dir(folder.join("resources/blobs")).unwrap().count()
}

#[test]
fn each_version_is_fetched_once_and_one_with_another_hash_is_refused() {
    let world = World::new();
    let server = server(&world, &[]);
    let client = server.admin();
    upload(&client, "web.sh", b"one");
    let mut one = Provisioner::start("one", &server, &world, 2);
    want_workers(&client, 2);
    until_brings(&client, "one", 2);
    wait_for("version 1", LIMIT, || (in_use(&one, "web.sh")? == b"one").then_some(()));

    // Another one comes; what is there is not fetched again, so that the server's damage does not matter.
    damage(&server, "web.sh", 1);
    upload(&client, "other.sh", b"other");
    wait_for("the other script", LIMIT, || (in_use(&one, "other.sh")? == b"other").then_some(()));
    assert_eq!(in_use(&one, "web.sh").unwrap(), b"one");
    assert_eq!(blobs(&one.data_dir()), 2);
    assert_eq!(one.log().matches("plugin resource downloaded").count(), 2, "{}", one.log());

    // The bytes of version 2 are not what was uploaded.
    let stored = client.post_bytes("/v2/plugins/automatortypes/shell/scripts/web.sh", b"two").ok();
    assert_eq!(stored["version"], 2);
    damage(&server, "web.sh", 2);
    client.post_bytes("/v2/plugins/automatortypes/shell/scripts/web.sh/versions/2/stage", b"").ok();
    client.post_bytes("/v2/plugins/sync", b"").ok();
    // The server looks first, and gives none that are not what was uploaded.
    one.until_logged("shell/scripts/web.sh version 2: ", 1);
    one.until_logged("version 1 stays in use", 1);
    assert_eq!(in_use(&one, "web.sh").unwrap(), b"one");
    assert_eq!(blobs(&one.data_dir()), 2, "refused bytes are not kept");

    // Repaired, it is taken by itself.
    let folder = server.data_dir().join("resources/superadmin/automatortypes/shell/scripts/web.sh/2");
    std::fs::write(folder, b"two").unwrap();
    wait_for("version 2", LIMIT, || (in_use(&one, "web.sh")? == b"two").then_some(()));

    // A new process uses what the one before it fetched.
    one.kill();
    one.run();
    one.until_logged("registered", 2);
    wait_for("version 2 again", LIMIT, || (in_use(&one, "web.sh")? == b"two").then_some(()));
    assert_eq!(one.log().matches("plugin resource downloaded").count(), 3);
}
