//! Quotas hold, also for many requests at the same moment.

use futures::future::join_all;
use serde_json::json;

use crate::world::{ANN, SUPERADMIN, create, describe, request, with_tenant};

#[tokio::test]
async fn both_limits_hold_and_terminated_clusters_do_not_count() {
    let server = with_tenant(2, 5).await;
    describe(&server, &json!([])).await;
    let first = create(&server, ANN, &request(3)).await;
    server.post(ANN, "/v2/clusters", &request(3)).await.refused(409, "quota");
    let mut unknown = request(3);
    unknown["clusterTemplate"] = "none".into();
    server.post(ANN, "/v2/clusters", &unknown).await.refused(409, "quota");
    create(&server, ANN, &request(2)).await;
    server.post(ANN, "/v2/clusters", &request(1)).await.refused(409, "quota");

    let tenant =
        |clusters, nodes| json!({"tenant": {"name": "dept", "maxClusters": clusters, "maxNodes": nodes}});
    server.put(SUPERADMIN, "/v2/tenants/dept", &tenant(1, 5)).await.refused(409, "quota");
    server.put(SUPERADMIN, "/v2/tenants/dept", &tenant(2, 4)).await.refused(409, "quota");
    server.put(SUPERADMIN, "/v2/tenants/dept", &tenant(2, 6)).await.ok();
    server.post(ANN, &format!("/v2/clusters/{first}/abort"), &json!({})).await.ok();
    create(&server, ANN, &request(4)).await;
}

#[tokio::test]
async fn requests_at_the_same_moment_cannot_pass_together() {
    let server = with_tenant(3, 500).await;
    describe(&server, &json!([])).await;
    let asked = request(1);
    let answers = join_all((0..12).map(|_| server.post(ANN, "/v2/clusters", &asked))).await;
    let made = answers.iter().filter(|answer| answer.status == 200).count();
    assert_eq!(made, 3, "{answers:?}");
    assert!(answers.iter().all(|answer| matches!(answer.status, 200 | 409)), "{answers:?}");
}
