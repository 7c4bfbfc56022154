//! Descriptors, good ones and bad ones.

use serde_json::json;

use super::*;

/// A folder of plugins with one of this descriptor, and a program `run`.
fn with(descriptor: &Value) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("acme");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("acme.json"), descriptor.to_string()).unwrap();
    fs::write(folder.join("run"), "#!/bin/sh\n").unwrap();
    fs::set_permissions(folder.join("run"), fs::Permissions::from_mode(0o755)).unwrap();
    fs::write(folder.join("notes"), "").unwrap();
    dir
}

/// As Coopr has it, but for the process.
fn good() -> Value {
    json!({
        "name": "acme", "description": "free text", "providertypes": ["acme-cloud"], "automatortypes": ["acme-config"],
        "acme-cloud": {
            "name": "acme-cloud", "classname": "AcmeCloud",
            "resourceTypes": {"ssh_keys": {"format": "file", "permissions": "0400"}},
            "parameters": {"admin": {
                "fields": {"token": {"label": "API token", "type": "password", "tip": "from the console"}},
                "required": [["token"]]}}},
        "acme-config": {"name": "acme-config", "parameters": {"admin": {"fields": {}, "required": []}}},
        "process": {"executable": "run", "environment": ["HTTPS_PROXY"], "memoryMb": 64}
    })
}

#[test]
fn coopr_s_descriptor_with_a_process_is_read() {
    let dir = with(&good());
    let found = declared(dir.path()).unwrap();
    assert_eq!(found.len(), 2);
    assert_eq!((found[0].side, found[0].plugin_type.base.name.as_str()), (Side::Provider, "acme-cloud"));
    assert_eq!((found[1].side, found[1].plugin_type.base.name.as_str()), (Side::Automator, "acme-config"));
    assert_eq!(found[0].program, dir.path().join("acme/run"));
    assert_eq!(
        (found[0].environment.as_slice(), found[0].memory_mb),
        (&["HTTPS_PROXY".to_owned()][..], Some(64))
    );
    assert!(found[0].plugin_type.parameters.admin.fields["token"].is_secret());
}

#[test]
fn plugins_may_stand_on_two_shelves() {
    let dir = with(&good());
    fs::create_dir(dir.path().join("providers")).unwrap();
    fs::rename(dir.path().join("acme"), dir.path().join("providers/acme")).unwrap();
    fs::create_dir(dir.path().join(".git")).unwrap();
    assert_eq!(declared(dir.path()).unwrap().len(), 2);
}

#[test]
fn a_bad_one_is_refused_with_its_file_and_field() {
    let cases = [
        ("/name", json!(""), "name: \"\" is missing"),
        ("/providertypes", json!("acme-cloud"), "providertypes: \"\" cannot be used"),
        ("/providertypes", json!(["acme-cloud", "other"]), "other: \"\" is listed and not described"),
        ("/automatortypes", json!([]), "acme-config: \"\" is not known here"),
        ("/acme-cloud/name", json!("acme"), "acme-cloud.name: \"acme\" is not the name"),
        (
            "/acme-cloud/parameters/admin/required",
            json!([["tokn"]]),
            "acme-cloud.parameters.admin.required: \"tokn\"",
        ),
        (
            "/acme-cloud/parameters/admin/fields/token/label",
            json!(7),
            "acme-cloud.parameters.admin.fields.token.label",
        ),
        (
            "/acme-cloud/resourceTypes/ssh_keys/format",
            json!("zip"),
            "acme-cloud.resourceTypes.ssh_keys.format",
        ),
        (
            "/acme-cloud/resourceTypes/ssh_keys/permissions",
            json!("rw"),
            "resourceTypes.ssh_keys.permissions: \"rw\"",
        ),
        ("/process", json!({}), "process: \"\" cannot be used: missing field `executable`"),
        (
            "/process/executable",
            json!("/bin/sh"),
            "process.executable: \"/bin/sh\" is no file of the plugin's folder",
        ),
        ("/process/executable", json!("../x"), "process.executable"),
        ("/process/executable", json!("gone"), "process.executable: \"gone\" is not there"),
        ("/process/executable", json!("notes"), "process.executable: \"notes\" cannot be run; chmod"),
        ("/process/environment", json!(["A-B"]), "process.environment: \"A-B\""),
        ("/process/environment", json!(["COOPERAGE__DATABASE__URL"]), "is a setting of the server's own"),
        ("/process/environment", json!(["PATH"]), "is given in any case"),
        ("/process/memoryMb", json!(-1), "process.memoryMb"),
    ];
    for (pointer, value, words) in cases {
        let mut bad = good();
        *bad.pointer_mut(pointer).unwrap() = value;
        let dir = with(&bad);
        let fault = declared(dir.path()).unwrap_err().to_string();
        assert!(fault.contains("acme/acme.json") && fault.contains(words), "{words}: {fault}");
    }
}

#[test]
fn what_is_no_plugin_is_refused() {
    let dir = with(&json!([]));
    assert!(declared(dir.path()).unwrap_err().to_string().contains("is no JSON object"));
    let dir = with(&good());
    fs::create_dir(dir.path().join("lib")).unwrap();
    assert!(declared(dir.path()).unwrap_err().to_string().contains("holds no descriptor"));
    let dir = with(&good());
    fs::copy(dir.path().join("acme/acme.json"), dir.path().join("acme/again.json")).unwrap();
    assert!(declared(dir.path()).unwrap_err().to_string().contains("is declared twice"));
    assert!(declared(&dir.path().join("none")).unwrap_err().to_string().contains("cannot be read"));
    let dir = with(&good());
    fs::remove_file(dir.path().join("acme/run")).unwrap();
    std::os::unix::fs::symlink("/bin/sh", dir.path().join("acme/run")).unwrap();
    assert!(declared(dir.path()).unwrap_err().to_string().contains("leads out of the plugin's folder"));
}
