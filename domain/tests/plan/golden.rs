//! Whole plans kept as files, compared to the letter; `UPDATE_GOLDEN=1` writes them anew.

use std::fs;
use std::path::Path;

use cooperage_domain::plan::{ClusterAction, Graph, render};

use crate::sketch::Sketch;

fn check(name: &str, graph: &Graph) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/plan/golden/{name}.txt"));
    let text = render(graph, ToString::to_string);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        fs::write(&path, &text).unwrap();
    }
    let kept = fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(text, kept, "{} differs; if that is meant, run with UPDATE_GOLDEN=1", path.display());
}

const WEB: &str = "
    hosts: configure
    postgres: install configure initialize start stop | runtime-uses hosts | provides database
    redis: install configure start stop | runtime-uses hosts
    app: install configure initialize start stop | install node | runtime database redis
    node: install
    proxy: install configure start stop | runtime app
    n1 = hosts proxy
    n2 = hosts node app
    n3 = hosts node app
    n4 = hosts postgres
    n5 = hosts redis";

#[test]
fn three_services_on_two_nodes() {
    let sketch = Sketch::new(
        "s1: configure start
         s2: install configure | runtime s1
         s3: install configure initialize start | runtime s1 s2
         node1 = s1
         node2 = s1 s2 s3",
    );
    check("three-services-create", &sketch.coopr(ClusterAction::ClusterCreate, "").unwrap());
}

#[test]
fn a_web_cluster_of_five() {
    let sketch = Sketch::new(WEB);
    check("web-create", &sketch.coopr(ClusterAction::ClusterCreate, "").unwrap());
    check("web-restart-database", &sketch.coopr(ClusterAction::RestartServices, "postgres").unwrap());
    check("web-reconfigure", &sketch.coopr(ClusterAction::ClusterConfigureWithRestart, "").unwrap());
}

#[test]
fn a_primary_with_replicas() {
    let sketch = Sketch::new(
        "base: install configure
         primary: install configure initialize start stop | install base
         replica: install configure initialize start stop | install base | runtime primary
         n1 = base primary
         n2 = base replica
         n3 = base replica
         n4 = base replica",
    );
    check("replicas-create", &sketch.coopr(ClusterAction::ClusterCreate, "").unwrap());
}

#[test]
fn nothing_to_do_is_said() {
    assert_eq!(render(&Graph::default(), ToString::to_string), "nothing to do\n");
}
