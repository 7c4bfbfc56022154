//! Three clusters side by side.

use serde_json::json;

use crate::check;
use crate::machines::{LIMIT, Machines};

#[test]
fn three_clusters_at_once_do_what_they_are_for_and_leave_nothing_on_the_host() {
    let Some(mut machines) = Machines::start(&["base", "web", "postgres", "etcd"], &[]) else { return };
    assert_eq!(machines.footprint.now(), [""; 0]);
    let admin = machines.server.admin();
    let create = |template: &str, size: u32| {
        admin.create(&json!({"name": template, "clusterTemplate": template, "numMachines": size}))
    };
    let ids = [create("web", 5), create("postgres", 3), create("etcd", 3)];
    let [web, postgres, etcd] = ids.each_ref().map(|id| admin.active(id, LIMIT));
    assert_eq!(machines.nodes().len(), 11);
    let on_host = machines.footprint.now();
    for kind in ["/run/netns/", "/sys/class/net/cv", "/sys/fs/cgroup/", "overlay "] {
        let count = on_host.iter().filter(|thing| thing.contains(kind)).count();
        assert!(count >= 11, "{count} of {kind} is not all there is:\n{}", on_host.join("\n"));
    }
    check::web(&web);
    check::postgres(&machines, &postgres);
    check::etcd(&machines, &etcd);

    for id in &ids {
        admin.delete(&format!("/v2/clusters/{id}")).ok();
    }
    for id in &ids {
        assert_eq!(admin.settled(id, LIMIT), "terminated");
    }
    assert_eq!(machines.nodes(), [""; 0]);
    machines.server.stop();
    assert_eq!(machines.footprint.now(), [""; 0]);
}
