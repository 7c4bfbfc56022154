//! A server that lets nobody in without a token.

use serde_json::json;

use crate::process::{Provisioner, server, until_brings, want_workers};
use crate::world::World;

#[test]
fn one_with_a_token_is_let_in_and_one_without_is_told_why_not() {
    let world = World::new();
    let server = server(&world, &["auth.provisioners=token"]);
    let client = server.admin();
    let asked = json!({"user": "rack-7", "role": "provisioner"});
    let made = client.post("/v2/tokens", &asked).ok();
    let file = server.folder().join("rack-7.token");
    std::fs::write(&file, made["token"].as_str().unwrap()).unwrap();
    let setting = format!("provisioner.token_file={}", file.display());

    let without = Provisioner::start("without", &server, &world, 2);
    without.until_logged("401", 1);
    let with = Provisioner::with_settings("with", &server, &world, 2, &[&setting]);
    want_workers(&client, 2);
    until_brings(&client, "with", 2);
    assert_eq!(client.get("/v2/provisioners/without").status, 404);

    // Revoked, it is let in no more.
    client.delete(&format!("/v2/tokens/{}", made["id"].as_str().unwrap())).ok();
    with.until_logged("401", 1);
    let secret = made["token"].as_str().unwrap();
    assert!(
        !with.log().contains(secret)
            && !std::fs::read_to_string(format!("/proc/{}/cmdline", with.process()))
                .unwrap()
                .contains(secret)
    );
}
