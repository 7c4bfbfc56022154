//! What a machine is, from its first breath to its last.

use cooperage_domain::id::NodeId;
use cooperage_domain::task::TaskName;
use cooperage_plugins::{MachineState, PowerAction, Provider};

use crate::lab::{Lab, down, task};

/// Prints the machine's hardware address.
const HARDWARE: &str = "ip -o link show eth0 | grep -o 'ether [^ ]*'";

#[tokio::test(flavor = "multi_thread")]
async fn machines_are_separate_and_reach_each_other_and_the_outside() {
    let Some(lab) = Lab::new().await else { return };
    let (a, b, c) = tokio::join!(lab.machine("a"), lab.machine("b"), lab.machine("c"));
    let mut addresses = vec![&a.address, &b.address, &c.address];
    addresses.sort();
    addresses.dedup();
    assert_eq!(addresses.len(), 3);
    for (machine, name) in [(&a, "a"), (&b, "b"), (&c, "c")] {
        assert_eq!(machine.run("hostname; hostname -f").unwrap(), format!("{name}\n{name}.lab.example"));
        assert_eq!(machine.run("cat /proc/1/comm").unwrap(), "systemd");
        let own = machine.run("ip -4 -o addr show dev eth0").unwrap();
        assert!(own.contains(&machine.address), "{own}");
        assert_eq!(
            machine.run("systemctl start dbus && systemctl is-active dbus ssh").unwrap(),
            "active\nactive"
        );
        let memory = format!("/sys/fs/cgroup/memory/{}/memory.limit_in_bytes", machine.id);
        if let Ok(limit) = std::fs::read_to_string(memory) {
            assert_eq!(limit.trim(), "536870912");
        }
    }
    let ids = [&a, &b].map(|machine| machine.run("cat /etc/machine-id").unwrap());
    assert!(ids[0] != ids[1] && ids[0].len() == 32, "{ids:?}");
    a.run("systemd-run --unit lonely sleep 1000").unwrap();
    assert!(b.run("pgrep -f 'sleep 1000'$").is_err(), "b sees a process of a");
    a.run(&format!("ping -c1 -W5 {}", b.address)).unwrap();
    a.run("ping -c1 -W5 $(ip route show default | cut -d' ' -f3)").unwrap();
    let mirror = "curl -sSfI --max-time 20 http://deb.debian.org/debian/dists/bookworm/InRelease";
    if std::process::Command::new("sh").args(["-c", mirror]).output().unwrap().status.success() {
        c.run(mirror).unwrap();
    }
    let listed = lab.provider.machines().await.unwrap();
    assert_eq!(listed.len(), 3);
    assert!(listed.iter().all(|machine| machine.state == MachineState::On), "{listed:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_power_cut_keeps_the_disk() {
    let Some(lab) = Lab::new().await else { return };
    let machine = lab.machine("a").await;
    let state = async || lab.provider.machines().await.unwrap()[0].state;
    machine.run("echo kept >/root/file; sync").unwrap();
    let boot = machine.run("systemctl show -p UserspaceTimestampMonotonic; cat /proc/1/stat").unwrap();
    lab.provider.power(&machine.id, PowerAction::Off).await.unwrap();
    lab.provider.power(&machine.id, PowerAction::Off).await.unwrap();
    assert_eq!(state().await, MachineState::Off);
    let fault = lab.provider.confirm(&task(TaskName::Confirm, "a")).await.unwrap_err();
    assert!(fault.message.contains("is off") && fault.message.contains("switch it on"), "{fault}");

    for action in [PowerAction::On, PowerAction::On, PowerAction::Reset] {
        lab.provider.power(&machine.id, action).await.unwrap();
        assert_eq!(state().await, MachineState::On);
        lab.provider.confirm(&task(TaskName::Confirm, "a")).await.unwrap();
        assert_eq!(machine.run("cat /root/file").unwrap(), "kept");
    }
    assert_ne!(machine.run("systemctl show -p UserspaceTimestampMonotonic; cat /proc/1/stat").unwrap(), boot);
    let fault = lab.provider.power("coop-000000000000", PowerAction::On).await.unwrap_err();
    assert!(fault.message.contains("is not there"), "{fault}");
}

#[tokio::test(flavor = "multi_thread")]
async fn delete_takes_everything_and_may_be_repeated() {
    let Some(lab) = Lab::new().await else { return };
    let (a, b) = tokio::join!(lab.machine("a"), lab.machine("b"));
    let neighbour = a.run(HARDWARE).unwrap();
    down(&lab.provider, "a").await;
    down(&lab.provider, "a").await;
    assert_eq!(b.run("echo still here").unwrap(), "still here");
    let address = a.address.clone();
    let again = lab.machine("a").await;
    assert_eq!(again.address, address, "the address is free again");
    let known = "neighbours that remember the machine before it find this one";
    assert_eq!(again.run(HARDWARE).unwrap(), neighbour, "{known}");
    tokio::join!(down(&lab.provider, "a"), down(&lab.provider, "b"));
    assert_eq!(lab.leftovers(), [""; 0]);
    lab.provider.remove(&NodeId("never".to_owned())).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_machine_with_a_damaged_record_can_be_deleted() {
    let Some(lab) = Lab::new().await else { return };
    let machine = lab.machine("a").await;
    let record = lab.settings.state_dir.join("machines").join(&machine.id).join("machine.json");
    std::fs::write(&record, "{").unwrap();
    let fault = lab.provider.create(&task(TaskName::Create, "a")).await.unwrap_err();
    assert!(fault.message.contains("delete its node's machine"), "{fault}");
    down(&lab.provider, "a").await;
    assert_eq!(lab.leftovers(), [""; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_task_stops_at_once() {
    let Some(lab) = Lab::new().await else { return };
    let create = task(TaskName::Create, "a");
    create.cancel.cancel();
    let fault = lab.provider.create(&create).await.unwrap_err();
    assert_eq!(fault.status, 200, "{fault}");
    assert_eq!(lab.leftovers(), [""; 0]);

    lab.machine("a").await;
    let confirm = task(TaskName::Confirm, "a");
    confirm.cancel.cancel();
    let fault = lab.provider.confirm(&confirm).await.unwrap_err();
    assert!(fault.message.contains("was cancelled"), "{fault}");
}
