//! A web cluster that lives: it grows, shrinks, is reconfigured, upgraded, healed and brought back, while somebody reads its
//! pages.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::{Value, json};

use crate::check;
use crate::lab::{Client, apply};
use crate::machines::{LIMIT, Machines, address, nodes_with};

/// The load balancer looks once a second whether who was down is up again.
const LOOKED_AGAIN: Duration = Duration::from_secs(4);

/// A reader who asks for one page after the other.
struct Reader {
    stop: Arc<AtomicBool>,
    pages: Arc<AtomicUsize>,
    wait: JoinHandle<Vec<String>>,
}

impl Reader {
    fn start(balancer: &Value) -> Self {
        let client = Client::with_headers(&format!("http://{}", address(balancer)), &[]);
        let (stop, pages) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
        let (told, counted) = (Arc::clone(&stop), Arc::clone(&pages));
        let wait = std::thread::spawn(move || {
            let mut failed = Vec::new();
            while !told.load(Ordering::Relaxed) {
                match client.try_ask("GET", "/", Vec::new()) {
                    Some(answer) if answer.status == 200 => {}
                    other => failed.push(format!("{other:?}")),
                }
                counted.fetch_add(1, Ordering::Relaxed);
                std::thread::sleep(Duration::from_millis(5));
            }
            failed
        });
        Self { stop, pages, wait }
    }

    /// How many pages were read, none of which failed.
    fn end(self) -> usize {
        self.stop.store(true, Ordering::Relaxed);
        let failed = self.wait.join().unwrap();
        let pages = self.pages.load(Ordering::Relaxed);
        assert!(failed.is_empty(), "{} of {pages} pages failed: {:?}", failed.len(), failed.first());
        pages
    }
}

/// A cluster and whoever works on it.
struct Shop<'a> {
    machines: &'a Machines,
    admin: Client,
    id: String,
}

impl Shop<'_> {
    #[track_caller]
    fn operate(&self, what: &str, body: &Value) -> Value {
        self.admin.post(&format!("/v2/clusters/{}/{what}", self.id), body).ok();
        self.admin.active(&self.id, LIMIT)
    }

    fn cluster(&self) -> Value {
        self.admin.cluster(&self.id)
    }

    /// What the latest job did, as `NUMBER TASK SERVICE`.
    fn latest(&self) -> BTreeSet<String> {
        let plans = self.admin.get(&format!("/v2/clusters/{}/plans", self.id)).ok();
        let tasks = plans[0]["tasks"].as_array().unwrap();
        let cluster = self.cluster();
        let number = |id: &Value| {
            let nodes = cluster["nodes"].as_array().unwrap();
            let node = nodes.iter().find(|node| node["id"] == *id);
            node.map_or_else(|| "gone".to_owned(), |node| node["properties"]["nodenum"].to_string())
        };
        let word = |task: &Value| {
            let name = task["taskName"].as_str().unwrap();
            format!("{} {name} {}", number(&task["nodeId"]), task["service"].as_str().unwrap_or_default())
        };
        tasks.iter().map(|task| word(task).trim().to_owned()).collect()
    }
}

#[test]
fn a_web_cluster_lives_through_everything_that_is_done_to_it() {
    let Some(mut machines) = Machines::start(&["base", "web"], &["health.heal=off"]) else { return };
    let admin = machines.server.admin();
    let id = admin.create(&json!({"name": "shop", "clusterTemplate": "web", "numMachines": 3}));
    let created = admin.active(&id, LIMIT);
    let shop = Shop { machines: &machines, admin, id };
    let pages = grow_and_shrink(&shop, &created);
    println!("{pages} pages were read while it grew from 3 to 6 and shrank to 4, none failed");
    heal(&shop);
    reconfigure_and_roll_back(&shop);
    upgrade_with_a_canary_that_fails(&shop);
    errands(&shop);
    shop.admin.delete(&format!("/v2/clusters/{}?now=true", shop.id)).ok();
    assert_eq!(shop.admin.settled(&shop.id, LIMIT), "terminated");
    assert_eq!(machines.nodes(), [""; 0]);
    machines.server.stop();
    assert_eq!(machines.footprint.now(), [""; 0]);
}

fn grow_and_shrink(shop: &Shop<'_>, created: &Value) -> usize {
    let balancer = nodes_with(created, "haproxy")[0];
    let reader = Reader::start(balancer);
    let preview = shop
        .admin
        .post(&format!("/v2/clusters/{}/resize?dryRun=true", shop.id), &json!({"machines": 6}))
        .ok();
    assert_eq!(preview["nodes"].as_array().unwrap().len(), 6, "{preview:#}");
    let grown = shop.operate("resize", &json!({"machines": 6}));
    assert_eq!(nodes_with(&grown, "nginx").len(), 5);
    check::pages(&grown);
    let shrunk = shop.operate("resize", &json!({"machines": 4}));
    assert_eq!(nodes_with(&shrunk, "nginx").len(), 3);
    assert_eq!(shop.machines.nodes().len(), 4, "machines that went are gone");
    check::pages(&shrunk);
    reader.end()
}

/// A machine whose power is cut is made anew, and the cluster is whole again.
fn heal(shop: &Shop<'_>) {
    let cluster = shop.cluster();
    let lost = *nodes_with(&cluster, "nginx").last().unwrap();
    shop.machines.cut_power(lost);
    assert!(shop.machines.run(lost, "true").is_err(), "it is still there");
    let healed = shop.operate("heal", &json!({"nodes": [lost["properties"]["nodenum"].to_string()]}));
    std::thread::sleep(LOOKED_AGAIN);
    check::web(&healed);
    let number = &lost["properties"]["nodenum"];
    let again =
        nodes_with(&healed, "nginx").into_iter().find(|node| node["properties"]["nodenum"] == *number);
    assert!(shop.machines.run(again.unwrap(), "true").is_ok());
}

fn title(shop: &Shop<'_>) -> String {
    let cluster = shop.cluster();
    let balancer = address(nodes_with(&cluster, "haproxy")[0]).to_owned();
    let page = Client::with_headers(&format!("http://{balancer}"), &[]).get("/").ok();
    let page = page.as_str().unwrap().to_owned();
    page.split("<title>").nth(1).unwrap().split('<').next().unwrap().to_owned()
}

/// A value is written where it is taken and nowhere else, and is as it was when it is rolled back.
fn reconfigure_and_roll_back(shop: &Shop<'_>) {
    let before = title(shop);
    shop.operate("reconfigure", &json!({"patch": {"counter": {"title": "Sale"}}}));
    let takers: BTreeSet<String> =
        shop.latest().iter().map(|task| task.rsplit(' ').next().unwrap().to_owned()).collect();
    assert_eq!(takers, BTreeSet::from(["counter".to_owned(), "nginx".to_owned()]));
    assert_eq!(title(shop), "Sale");
    shop.operate("reconfigure", &json!({"patch": {"haproxy": {"stats_port": 8405}}}));
    let tasks = shop.latest();
    assert!(!tasks.is_empty() && tasks.iter().all(|task| task.ends_with("haproxy")), "{tasks:?}");
    shop.operate("rollback", &json!({}));
    assert!(shop.latest().iter().all(|task| task.ends_with("haproxy")));
    assert_eq!(title(shop), "Sale", "only the last change is taken back");
    shop.operate("reconfigure", &json!({"patch": {"counter": {"title": before}}}));
    assert_eq!(title(shop), before);
}

/// A newer version that does not work stops at its canary, which is brought back to the version before.
fn upgrade_with_a_canary_that_fails(shop: &Shop<'_>) {
    let counter = shop.admin.get("/v2/services/counter").ok();
    let mut broken = counter.clone();
    broken["provisioner"]["actions"]["probe"] =
        json!({"type": "shell", "fields": {"script": "counter.sh", "args": "no-such-action"}});
    broken["provisioner"]["actions"]["start"]["fields"]["args"] = json!("start # 2");
    broken["kind"] = json!("service");
    apply(&shop.admin, &json!([broken]));
    let rollout = json!({"canary": 1, "maxInFlight": 1, "onFailure": "roll_back"});
    shop.operate("upgrade", &json!({"services": {"counter": null}, "rollout": rollout}));
    let plans = shop.admin.get(&format!("/v2/clusters/{}/plans", shop.id)).ok();
    let actions: Vec<&str> =
        plans.as_array().unwrap().iter().map(|plan| plan["action"].as_str().unwrap()).collect();
    assert_eq!(actions[..2], ["CLUSTER_ROLL_BACK", "CLUSTER_UPGRADE"], "{actions:?}");
    let touched: BTreeSet<String> =
        shop.latest().iter().map(|task| task.split(' ').next().unwrap().to_owned()).collect();
    assert_eq!(touched.len(), 1, "nobody followed the canary: {touched:?}");
    check::web(&shop.cluster());

    // One that works goes through all of them.
    let mut newer = counter;
    newer["provisioner"]["actions"]["start"]["fields"]["args"] = json!("start # 3");
    newer["kind"] = json!("service");
    apply(&shop.admin, &json!([newer]));
    let rollout = json!({"canary": 1, "maxInFlight": 1, "hold": 500, "onFailure": "roll_back"});
    shop.operate("upgrade", &json!({"services": {"counter": null}, "rollout": rollout}));
    let started = shop.latest().iter().filter(|task| task.ends_with("START counter")).count();
    assert_eq!(started, nodes_with(&shop.cluster(), "counter").len());
    check::web(&shop.cluster());
}

fn errands(shop: &Shop<'_>) {
    shop.operate("services/redis/errands/backup", &json!({}));
    let cluster = shop.cluster();
    let kept = shop.machines.run(nodes_with(&cluster, "redis")[0], "ls /var/backups/redis").unwrap();
    assert!(kept.ends_with(".rdb"), "{kept}");
    shop.operate("converge", &json!({}));
    assert!(shop.latest().iter().all(|task| task.contains("PROBE")), "nothing had to be mended");
    let web = nodes_with(&cluster, "nginx")[0];
    shop.machines.run(web, "systemctl stop nginx").unwrap();
    shop.operate("converge", &json!({}));
    let mended: Vec<String> = shop.latest().into_iter().filter(|task| !task.contains("PROBE")).collect();
    let number = &web["properties"]["nodenum"];
    assert_eq!(mended, ["CONFIGURE", "START", "STOP"].map(|step| format!("{number} {step} nginx")));
    std::thread::sleep(LOOKED_AGAIN);
    check::web(&cluster);
}
