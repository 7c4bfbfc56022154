//! Many clusters at once.

use cooperage_schema::ClusterFilter;

use crate::rig::{Settings, live};
use crate::sketch::Sketch;

const CLUSTERS: u64 = 200;

fn sketch(cluster: u64) -> Sketch {
    let mut sketch = Sketch::new("web: install start");
    for node in 1..=5 {
        sketch.add_node(&format!("c{cluster}n{node}"), ["web"]);
    }
    sketch
}

#[test]
fn two_hundred_clusters_share_eight_workers() {
    live(Settings { slots: 8, ..Settings::default() }, async |rig| {
        for cluster in 1..=CLUSTERS {
            rig.create(cluster, &sketch(cluster)).await;
        }
        rig.log.until(200, &["job ended", "status=active"]).await;
        let active = ClusterFilter { statuses: vec!["active".to_owned()], ..ClusterFilter::default() };
        assert_eq!(rig.store.clusters(&active).unwrap().len(), 200);
        assert_eq!(rig.lab.begun().len(), 200 * 5 * 4);
        assert!(rig.lab.executions().values().all(|&times| times == 1));
        assert!(rig.lab.most_at_once() <= 8, "{}", rig.lab.most_at_once());
        rig.assert_quiet().await;
    });
}
