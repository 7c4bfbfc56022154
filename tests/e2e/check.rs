//! Whether clusters of the catalog do what they are for.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::Value;

use crate::lab::{Client, wait_for};
use crate::machines::{Machines, address, nodes_with};

/// Longest time what was written may take to be seen elsewhere.
const LIMIT: Duration = Duration::from_secs(30);

/// The load balancer answers from every web node, and the counter counts.
pub fn web(cluster: &Value) {
    let counts = pages(cluster);
    assert_eq!(counts, (counts[0]..counts[0] + counts.len() as u64).collect::<Vec<_>>());
}

/// The load balancer answers from every web node; what the counter counts meanwhile.
pub fn pages(cluster: &Value) -> Vec<u64> {
    let balancer = nodes_with(cluster, "haproxy")[0];
    let link = cluster["links"][0]["url"].as_str().unwrap();
    assert_eq!(link, format!("http://{}/", address(balancer)));
    let client = Client::with_headers(link.trim_end_matches('/'), &[]);
    let page = client.get("/").ok();
    assert!(page.as_str().unwrap().contains("This page comes from"), "{page}");

    let expected: BTreeSet<String> = nodes_with(cluster, "nginx").into_iter().map(hostname).collect();
    let visit = || {
        let answer = client.get("/count").ok();
        let (node, count) = answer.as_str().unwrap().trim().split_once(' ').unwrap();
        (node.to_owned(), count.parse::<u64>().unwrap())
    };
    // On a busy host a node may be slow to tell the balancer that it is well; what counts is that it is asked in the end.
    let visits = wait_for("pages from every web node", LIMIT, || {
        let visits: Vec<_> = (0..3 * expected.len()).map(|_| visit()).collect();
        let seen: BTreeSet<String> = visits.iter().map(|(node, _)| node.clone()).collect();
        (seen == expected).then_some(visits)
    });
    visits.into_iter().map(|(_, count)| count).collect()
}

/// What is written on the primary is read on every standby.
pub fn postgres(machines: &Machines, cluster: &Value) {
    let query = |node: &Value, sql: &str| {
        machines.run(node, &format!("cd / && runuser -u postgres -- psql -XAtq -d app -c \"{sql}\""))
    };
    let primary = nodes_with(cluster, "postgres-primary")[0];
    query(primary, "create table seen (what text); insert into seen values ('by all')").unwrap();
    let replicas = nodes_with(cluster, "postgres-replica");
    assert_eq!(replicas.len(), 2);
    for replica in replicas {
        assert_eq!(query(replica, "select pg_is_in_recovery()").unwrap(), "t");
        wait_for("the row on a standby", LIMIT, || {
            query(replica, "select what from seen").is_ok_and(|what| what == "by all").then_some(())
        });
    }
}

/// With one member gone, what was written is read and more can be written.
pub fn etcd(machines: &Machines, cluster: &Value) {
    let members = nodes_with(cluster, "etcd-member");
    let [first, second, third] = members[..] else { panic!("{} members", members.len()) };
    let etcdctl =
        |node: &Value, command: &str| machines.run(node, &format!("ETCDCTL_API=3 etcdctl {command}"));
    etcdctl(first, "put before 1").unwrap();
    machines.cut_power(first);
    assert!(machines.run(first, "true").is_err(), "it is still there");
    for node in [second, third] {
        wait_for("the quorum", LIMIT, || {
            etcdctl(node, "get before --print-value-only").is_ok_and(|value| value == "1").then_some(())
        });
    }
    etcdctl(second, "put after 2").unwrap();
    assert_eq!(etcdctl(third, "get after --print-value-only").unwrap(), "2");
}

fn hostname(node: &Value) -> String {
    node["properties"]["hostname"].as_str().unwrap().to_owned()
}
