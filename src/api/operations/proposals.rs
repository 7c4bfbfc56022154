//! Rows of changes and clusters that are thought up first: saved plans and drafts.

use cooperage_domain::access::Area::Clusters;
use cooperage_domain::access::Role::{Reader, User};
use cooperage_domain::access::Rule;

use super::Operation;
use super::table::{delete, get, post, put};

pub(super) fn proposals() -> Vec<Operation> {
    let (see, change) = (Rule::read(Reader, Clusters), Rule::write(User, Clusters));
    vec![
        get("/v2/clusters/{id}/saved-plans", see, "Plans of a cluster that were saved, newest first")
            .gives("[Proposal]"),
        get("/v2/clusters/{id}/saved-plans/{plan}", see, "A saved plan, as it was shown").gives("SavedPlan"),
        delete("/v2/clusters/{id}/saved-plans/{plan}", change, "Forget a saved plan").refuses(&[409]),
        post("/v2/clusters/{id}/saved-plans/{plan}/apply", change, "Do exactly what a saved plan showed")
            .gives("CarriedOut")
            .refuses(&[409]),
        get("/v2/drafts", see, "Drafts of clusters that do not exist yet, newest first")
            .gives("[DraftedCluster]"),
        post("/v2/drafts", change, "Draft a cluster: keep what is to be created, and see what that would be")
            .takes("NewDraft")
            .gives("DraftedCluster")
            .refuses(&[409]),
        get("/v2/drafts/{id}", see, "A drafted cluster, with what it would be now").gives("DraftedCluster"),
        put("/v2/drafts/{id}", change, "Put another cluster in a draft's place")
            .takes("NewDraft")
            .gives("DraftedCluster")
            .refuses(&[409, 412]),
        delete("/v2/drafts/{id}", change, "Forget a drafted cluster").refuses(&[409]),
        post("/v2/drafts/{id}/commit", change, "Create a drafted cluster, for whoever commits it")
            .takes("ProviderFields")
            .gives("ClusterCreated")
            .refuses(&[409, 412, 422]),
        get("/v2/clusters/{id}/drafts", see, "Drafts of changes to a cluster, newest first").gives("[Draft]"),
        post("/v2/clusters/{id}/drafts", change, "Draft a change: keep it, and see what it would do")
            .takes("DraftedOperation")
            .gives("Draft"),
        get("/v2/clusters/{id}/drafts/{draft}", see, "A draft, with what it would do now").gives("Draft"),
        put("/v2/clusters/{id}/drafts/{draft}", change, "Put another change in a draft's place")
            .takes("DraftedOperation")
            .gives("Draft")
            .refuses(&[409, 412]),
        delete("/v2/clusters/{id}/drafts/{draft}", change, "Forget a draft").refuses(&[409]),
        post("/v2/clusters/{id}/drafts/{draft}/commit", change, "Make a draft's change")
            .gives("CarriedOut")
            .refuses(&[409, 412]),
    ]
}
