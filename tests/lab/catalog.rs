//! Filling a server with what there is.

use std::path::Path;

use serde_json::Value;

use super::client::Client;

/// Path of the shell automator's scripts.
const SCRIPTS: &str = "/v2/plugins/automatortypes/shell/scripts";

/// Stores entities, each with its `kind`.
pub fn apply(client: &Client, documents: &Value) {
    client.post("/v2/apply", documents).ok();
}

/// Stores a folder of the catalog: its documents and its scripts.
pub fn apply_folder(client: &Client, name: &str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("etc/catalog").join(name);
    let scripts = std::fs::read_dir(folder.join("resources/shell/scripts")).into_iter().flatten().flatten();
    for script in scripts {
        let bytes = std::fs::read(script.path()).unwrap();
        upload(client, script.file_name().to_str().unwrap(), &bytes);
    }
    let files = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
    let documents =
        files.filter(|path| path.extension().is_some_and(|extension| extension == "yaml")).flat_map(|path| {
            serde_saphyr::from_multiple::<Value>(&std::fs::read_to_string(path).unwrap()).unwrap()
        });
    apply(client, &documents.collect());
}

/// Uploads a script and puts it to use.
pub fn upload(client: &Client, name: &str, bytes: &[u8]) {
    let stored = client.post_bytes(&format!("{SCRIPTS}/{name}"), bytes).ok();
    client.post_bytes(&format!("{SCRIPTS}/{name}/versions/{}/stage", stored["version"]), b"").ok();
    client.post_bytes("/v2/plugins/sync", b"").ok();
}
