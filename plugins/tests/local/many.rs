//! Many machines, and many servers on one host.

use cooperage_domain::task::TaskName;
use cooperage_plugins::{MachineState, PowerAction, Provider};
use futures::future::join_all;

use crate::lab::{Lab, task};

#[tokio::test(flavor = "multi_thread")]
async fn twenty_machines_come_up_together() {
    let Some(lab) = Lab::new().await else { return };
    let nodes: Vec<_> = (0..20).map(|node| format!("m{node}")).collect();
    let machines = join_all(nodes.iter().map(|node| lab.machine(node))).await;
    for (machine, node) in machines.iter().zip(&nodes) {
        assert_eq!(machine.run("hostname").unwrap(), *node);
    }
    let listed = lab.provider.machines().await.unwrap();
    assert_eq!(listed.iter().filter(|machine| machine.state == MachineState::On).count(), 20);
    join_all(nodes.iter().map(|node| crate::lab::down(&lab.provider, node))).await;
    assert_eq!(lab.leftovers(), [""; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn two_servers_on_one_host_do_not_meet() {
    let (Some(one), Some(two)) = tokio::join!(Lab::new(), Lab::new()) else { return };
    let (a, b) = tokio::join!(one.machine("same"), two.machine("same"));
    assert_ne!(a.id, b.id);
    assert_ne!(a.address, b.address);
    assert_eq!(a.run("hostname").unwrap(), b.run("hostname").unwrap());
    assert!(
        a.run(&format!("ping -c1 -W1 {}", b.address)).is_err(),
        "machines of another server are not to be reached"
    );
    drop(one);
    assert_eq!(b.run("echo still here").unwrap(), "still here");
}

#[tokio::test(flavor = "multi_thread")]
async fn after_a_reboot_of_the_host_machines_are_off_and_can_be_switched_on() {
    let Some(lab) = Lab::new().await else { return };
    let machine = lab.machine("a").await;
    machine.run("echo kept >/root/file; sync").unwrap();
    lab.provider.power(&machine.id, PowerAction::Off).await.unwrap();
    forget_all_but_the_disk(&lab, &machine.id);

    let server = lab.restarted();
    assert_eq!(server.machines().await.unwrap()[0].state, MachineState::Off);
    server.power(&machine.id, PowerAction::On).await.unwrap();
    server.confirm(&task(TaskName::Confirm, "a")).await.unwrap();
    assert_eq!(machine.run("cat /root/file").unwrap(), "kept");
}

/// What a reboot takes: mounts, namespaces, bridges, and all of `/run`.
fn forget_all_but_the_disk(lab: &Lab, id: &str) {
    let root = lab.settings.state_dir.join("machines").join(id).join("root");
    let record = std::fs::read_to_string(root.with_file_name("machine.json")).unwrap();
    let record: serde_json::Value = serde_json::from_str(&record).unwrap();
    let bridge = record["bridge"].as_str().unwrap();
    let run = |program: &str, args: &[&str]| {
        assert!(
            std::process::Command::new(program).args(args).status().unwrap().success(),
            "{program} {args:?}"
        );
    };
    run("umount", &[root.to_str().unwrap()]);
    run("ip", &["netns", "del", id]);
    run("ip", &["link", "del", bridge]);
    std::fs::remove_file(format!("/run/cooperage/local/{bridge}.json")).unwrap();
}
