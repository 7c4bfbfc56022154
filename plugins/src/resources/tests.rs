//! Resources in a folder, from their upload to their use.

use std::io::Write;

use super::*;

fn key(name: &str) -> ResourceKey {
    ResourceKey {
        tenant: "superadmin".into(),
        side: Side::Automator,
        plugin: "shell".into(),
        kind: "scripts".into(),
        name: name.into(),
    }
}

fn place(resources: &PluginResources, key: &ResourceKey, version: u64, bytes: &[u8]) -> Active {
    let mut draft = tempfile::NamedTempFile::new_in(resources.drafts().unwrap()).unwrap();
    draft.write_all(bytes).unwrap();
    resources.place(key, version, &draft.into_temp_path()).unwrap();
    Active { version, sha256: hash(&mut &*bytes).unwrap() }
}

#[test]
fn a_version_is_used_only_once_it_is_active() {
    let folder = tempfile::tempdir().unwrap();
    let resources = PluginResources::local(folder.path());
    let web = key("web.sh");
    let one = place(&resources, &web, 1, b"one");
    assert!(matches!(resources.read_active(&web), Err(ResourceError::NotActive { .. })));
    resources.activate(&web, Some(&one)).unwrap();
    let two = place(&resources, &web, 2, b"two");
    assert_eq!(resources.read_active(&web).unwrap(), b"one");
    resources.activate(&web, Some(&two)).unwrap();
    assert_eq!(resources.read_active(&web).unwrap(), b"two");
    assert_eq!(resources.in_use("superadmin", Side::Automator, "shell").unwrap(), std::slice::from_ref(&web));
    resources.activate(&web, None).unwrap();
    assert!(resources.read_active(&web).is_err());
    assert!(resources.in_use("superadmin", Side::Automator, "shell").unwrap().is_empty());
    assert!(resources.in_use("superadmin", Side::Provider, "shell").unwrap().is_empty());
}

#[test]
fn a_tenant_begins_with_what_another_has_and_goes_with_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let resources = PluginResources::local(folder.path());
    let one = place(&resources, &key("web.sh"), 1, b"one");
    resources.activate(&key("web.sh"), Some(&one)).unwrap();
    resources.copy_tenant("superadmin", "dept").unwrap();
    let copy = ResourceKey { tenant: "dept".into(), ..key("web.sh") };
    assert_eq!(resources.read_active(&copy).unwrap(), b"one");
    resources.activate(&copy, None).unwrap();
    assert!(resources.read_active(&key("web.sh")).is_ok(), "each has its own versions in use");
    resources.remove_tenant("dept").unwrap();
    assert!(resources.open(&copy, 1, &one.sha256).unwrap().is_none());
    assert!(resources.open(&key("web.sh"), 1, &one.sha256).unwrap().is_some());
    resources.copy_tenant("nobody", "dept").unwrap();
    assert!(resources.remove_tenant("..").is_err());
}

#[test]
fn what_came_to_harm_is_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let resources = PluginResources::local(folder.path());
    let web = key("web.sh");
    let one = place(&resources, &web, 1, b"one");
    resources.activate(&web, Some(&one)).unwrap();
    fs::write(folder.path().join("superadmin/automatortypes/shell/scripts/web.sh/1"), b"0ne").unwrap();
    let fault = resources.read_active(&web).unwrap_err().to_string();
    for words in ["version 1", "shell/scripts/web.sh", &one.sha256, "upload it again"] {
        assert!(fault.contains(words), "{words} is not in: {fault}");
    }
    assert!(matches!(resources.open(&web, 1, &one.sha256), Err(ResourceError::Corrupt { .. })));
}

#[test]
fn drafts_of_a_server_that_was_killed_are_swept() {
    let folder = tempfile::tempdir().unwrap();
    let resources = PluginResources::local(folder.path());
    assert_eq!(resources.sweep_drafts().unwrap(), 0);
    fs::write(resources.drafts().unwrap().join("left"), b"half").unwrap();
    assert_eq!(resources.sweep_drafts().unwrap(), 1);
    assert_eq!(fs::read_dir(resources.drafts().unwrap()).unwrap().count(), 0);
}

#[test]
fn names_cannot_leave_the_folder() {
    let folder = tempfile::tempdir().unwrap();
    let resources = PluginResources::local(folder.path());
    for name in ["..", "a/b", "", ".hidden"] {
        assert!(matches!(resources.active(&key(name)), Err(ResourceError::BadName(_))), "{name}");
    }
}
