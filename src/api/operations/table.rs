//! The table.

use actix_web::http::Method;
use cooperage_domain::access::Area::{Access, Catalog, Clusters, Operation as Running, Own, Plugins, Tasks};
use cooperage_domain::access::Role::{Admin, Provisioner, Reader, Superadmin, User};
use cooperage_domain::access::Rule;

use super::{Operation, Port};

pub(super) const fn get(path: &'static str, rule: Rule, summary: &'static str) -> Operation {
    Operation::new(Port::User, Method::GET, path, rule, summary)
}

pub(super) const fn post(path: &'static str, rule: Rule, summary: &'static str) -> Operation {
    Operation::new(Port::User, Method::POST, path, rule, summary)
}

pub(super) const fn put(path: &'static str, rule: Rule, summary: &'static str) -> Operation {
    Operation::new(Port::User, Method::PUT, path, rule, summary)
}

pub(super) const fn delete(path: &'static str, rule: Rule, summary: &'static str) -> Operation {
    Operation::new(Port::User, Method::DELETE, path, rule, summary)
}

/// On the port for provisioners.
const fn inner(method: Method, path: &'static str, rule: Rule, summary: &'static str) -> Operation {
    Operation::new(Port::Tasks, method, path, rule, summary)
}

const SECRETS: (&str, &str) = ("secrets", "true: with secrets, for admins only");
const DRY_RUN: (&str, &str) = ("dryRun", "true: say what would be done, and do nothing");
/// What a change of a cluster may be asked for with.
pub(super) const SHOW: &[(&str, &str)] =
    &[DRY_RUN, ("save", "true, with `dryRun`: keep what is shown as a plan")];

/// The same for a delete.
const DELETE: &[(&str, &str)] = &[
    DRY_RUN,
    ("save", "true, with `dryRun`: keep what is shown as a plan"),
    ("now", "true: stop a job under way for it"),
];
pub(super) const TENANT: (&str, &str) =
    ("tenant", "in this tenant; others than the own for superadmins only");
const STATUS: (&str, &str) = ("status", "only those in these states, separated by commas");
const RESOURCE_STATUS: (&str, &str) = ("status", "only those that are active, inactive, staged or recalled");

/// All rows, in the order of the book.
pub(super) fn operations() -> Vec<Operation> {
    [
        clusters(),
        layouts(),
        cluster_changes(),
        super::care::care(),
        super::living::living(),
        super::ancestry::ancestry(),
        super::proposals::proposals(),
        past(),
        nodes(),
        catalog(),
        plugins(),
        installation(),
        oversight(),
        super::console::console(),
        super::access::access(),
        callbacks(),
        own(),
        tasks(),
    ]
    .concat()
}

fn clusters() -> Vec<Operation> {
    let (see, change) = (Rule::read(Reader, Clusters), Rule::write(User, Clusters));
    vec![
        get("/v2/clusters", see, "Clusters the caller may see, newest first")
            .gives("[ClusterSummary]")
            .query(&[STATUS, ("parent", "only those that are built upon the cluster of this id")]),
        post("/v2/clusters", change, "Create a cluster; answered when it is durable")
            .takes("ClusterRequest")
            .gives("ClusterCreated")
            .query(&[DRY_RUN, ("strict", "true: without a layout refuse with 422")])
            .refuses(&[404, 409, 422]),
        get("/v2/clusters/{id}", see, "Everything about a cluster")
            .gives("Cluster")
            .query(&[("at", "as it was: a revision, a job's id, a time (RFC 3339 or ms since 1970)")]),
        delete("/v2/clusters/{id}", change, "Delete a cluster: give all its machines back")
            .takes("ProviderFields")
            .query(DELETE)
            .refuses(&[409]),
        post("/v2/clusters/{id}", change, "End a cluster's lease at another time")
            .takes("LeaseChange")
            .query(SHOW)
            .refuses(&[409]),
        get("/v2/clusters/{id}/status", see, "How far the latest job of a cluster is").gives("ClusterStatus"),
        get("/v2/clusters/{id}/services", see, "Names of a cluster's services").gives("[Name]"),
        get("/v2/clusters/{id}/config", see, "A cluster's configuration, macros as written").gives("Config"),
        get("/v2/clusters/{id}/plans", see, "All jobs of a cluster, newest first").gives("[Plan]"),
        get("/v2/clusters/{id}/plans/{job}", see, "One job: its stages, and its tasks as a graph")
            .gives("Plan"),
        get("/v2/clusters/{id}/waiting", see, "Why each task that waits does so, in words")
            .gives("WaitingTasks"),
        get("/v2/clusters/{id}/logs", see, "What tasks printed: the latest lines, or those of one task")
            .gives("Logs")
            .query(&[
                ("task", "only of the task with this id"),
                ("after", "only behind this line"),
                ("tail", "the last so many; 1000 is the most"),
                ("search", "only lines with this text"),
                ("ignoreCase", "true: in any case"),
                ("regex", "true: it is a regular expression"),
                ("since", "only of this time (RFC 3339 or ms since 1970) or later"),
                ("limit", "at most so many; 1000 is the most"),
            ])
            .refuses(&[400]),
        get("/v2/events", see, "Events of all clusters the caller may see, as they happen").follows(),
        get("/v2/clusters/{id}/events", see, "Events of a cluster, as they happen").follows(),
        get("/v2/clusters/{id}/nodes/{node}/events", see, "Events of a node, as they happen").follows(),
        get("/v2/clusters/{id}/tasks/{task}/events", see, "Events of a task, as they happen").follows(),
        get("/v2/clusters/{id}/export", see, "A cluster's nodes written down for other programs")
            .gives("Text")
            .query(&[
                ("format", "ansible, ssh-config, hosts or prometheus"),
                ("service", "only nodes with one of these services, separated by commas"),
                ("port", "port of Prometheus' targets"),
            ])
            .refuses(&[400]),
        post("/v2/getClusterStatuses", see, "How far the clusters are that the caller may see")
            .gives("[ClusterStatus]"),
        post("/v2/getNodeProperties", see, "Properties of a cluster's nodes that carry all of some services")
            .takes("NodeQuestion")
            .gives("NodePropertiesById"),
    ]
}

fn layouts() -> Vec<Operation> {
    let (see, change) = (Rule::read(Reader, Clusters), Rule::write(User, Clusters));
    vec![
        get("/v2/clusters/{id}/placement", see, "Why each kind of node carries a service or does not")
            .gives("[Placed]")
            .query(&[("service", "only of this service")]),
        post(
            "/v2/layouts",
            change,
            "Layouts a cluster could have, each the best at something; nothing is created",
        )
        .takes("ClusterRequest")
        .gives("[Alternative]")
        .refuses(&[404, 422]),
    ]
}

fn cluster_changes() -> Vec<Operation> {
    let change = Rule::write(User, Clusters);
    let on_one =
        |path, summary| post(path, change, summary).takes("ProviderFields").query(SHOW).refuses(&[409]);
    vec![
        put("/v2/clusters/{id}/config", change, "Give a cluster another configuration, as a whole")
            .takes("ConfigChange")
            .query(SHOW)
            .refuses(&[409]),
        post("/v2/clusters/{id}/services", change, "Add services to the nodes there are")
            .takes("ServicesToAdd")
            .query(SHOW)
            .refuses(&[409]),
        on_one("/v2/clusters/{id}/services/start", "Start all services of a cluster"),
        on_one("/v2/clusters/{id}/services/stop", "Stop all services of a cluster"),
        on_one("/v2/clusters/{id}/services/restart", "Restart all services of a cluster"),
        on_one("/v2/clusters/{id}/services/{service}/start", "Start a service, with those it needs"),
        on_one("/v2/clusters/{id}/services/{service}/stop", "Stop a service, with those that need it"),
        on_one("/v2/clusters/{id}/services/{service}/restart", "Restart a service, with those that need it"),
        on_one("/v2/clusters/{id}/clustertemplate/sync", "Take over the template's newest version"),
        on_one("/v2/clusters/{id}/pause", "Start nothing new on a cluster"),
        on_one("/v2/clusters/{id}/resume", "Go on with a cluster that is paused"),
        on_one("/v2/clusters/{id}/abort", "Stop a create; what runs may end"),
        on_one("/v2/clusters/{id}/retry", "Go on with a create that failed"),
    ]
}

fn past() -> Vec<Operation> {
    let see = Rule::read(Reader, Clusters);
    vec![
        get("/v2/clusters/{id}/history", see, "What happened to a cluster, in words, newest first")
            .gives("[Happened]")
            .query(&[
                ("job", "only of this job"),
                ("kind", "only events of these kinds, separated by commas"),
                ("before", "only before this revision"),
            ]),
        get("/v2/clusters/{id}/diff", see, "What is different in a cluster between two moments")
            .gives("ClusterDiff")
            .query(&[
                ("from", "a revision, a job's id, a time (RFC 3339 or ms since 1970)"),
                ("to", "the same; now unless said otherwise"),
            ]),
        get(
            "/v2/clusters/{id}/replay",
            see,
            "Read a cluster's journal from its begin, and decide again what it holds",
        )
        .gives("Replayed"),
    ]
}

fn nodes() -> Vec<Operation> {
    let (see, change) = (Rule::read(Reader, Clusters), Rule::write(User, Clusters));
    vec![
        get("/v2/nodes", see, "Nodes of the clusters the caller may see, and those made known by hand")
            .gives("[Node]"),
        post("/v2/nodes", change, "Make a node known by hand").takes("RegisteredNode").refuses(&[409]),
        get("/v2/nodes/{id}", see, "One node").gives("Node"),
        put("/v2/nodes/{id}", change, "Change a node that was made known by hand").takes("RegisteredNode"),
        delete("/v2/nodes/{id}", change, "Forget a node that was made known by hand"),
    ]
}

fn catalog() -> Vec<Operation> {
    let (see, change) = (Rule::read(Reader, Catalog), Rule::write(Admin, Catalog));
    vec![
        get("/v2/{kind}", see, "All entities of a kind, newest versions").gives("[Entity]").query(&[SECRETS]),
        post("/v2/{kind}", change, "A new entity").takes("Entity").refuses(&[409]),
        get("/v2/{kind}/{name}", see, "An entity, newest version").gives("Entity").query(&[SECRETS]),
        put("/v2/{kind}/{name}", change, "A new version of an entity, or the first").takes("Entity"),
        delete("/v2/{kind}/{name}", change, "Delete all versions of an entity; fine when there is none"),
        get("/v2/{kind}/{name}/{version}", see, "One version of an entity").gives("Entity").query(&[SECRETS]),
        delete("/v2/{kind}/{name}/{version}", change, "Delete one version of an entity"),
        post("/v2/apply", change, "Many entities at once, checked together, all or nothing")
            .takes("[AppliedEntity]")
            .gives("[AppliedChange]")
            .query(&[DRY_RUN]),
        post("/v2/resolve", see, "A template merged with what it extends and includes; nothing is stored")
            .takes("ClusterTemplate")
            .gives("ClusterTemplate"),
        get("/v2/export", see, "The newest versions of all kinds").gives("Export").query(&[SECRETS]),
        post("/v2/import", change, "Replace all kinds by these, all or nothing").takes("Export"),
    ]
}

fn plugins() -> Vec<Operation> {
    let see = Rule::read(Reader, Plugins);
    let (look, change) = (Rule::read(Admin, Plugins), Rule::write(Admin, Plugins));
    let own = Rule::write(Superadmin, Plugins);
    vec![
        get("/v2/plugins/{types}", see, "Plugin types of a side: `providertypes`, `automatortypes`")
            .gives("[PluginType]"),
        get("/v2/plugins/{types}/{name}", see, "A plugin type").gives("PluginType"),
        delete("/v2/plugins/{types}/{name}", own, "Delete a plugin type; fine when there is none"),
        get("/v2/plugins/{types}/{plugin}/{kind}", look, "Resources of a kind, by name")
            .gives("ResourcesByName")
            .query(&[RESOURCE_STATUS]),
        delete("/v2/plugins/{types}/{plugin}/{kind}", own, "Delete one version of a plugin type"),
        get("/v2/plugins/{types}/{plugin}/{kind}/{name}", look, "Versions of a resource")
            .gives("[Resource]")
            .query(&[RESOURCE_STATUS]),
        post(
            "/v2/plugins/{types}/{plugin}/{kind}/{name}",
            change,
            "Upload a new version of a resource: the bytes",
        )
        .takes("Bytes")
        .gives("Resource")
        .refuses(&[413]),
        delete("/v2/plugins/{types}/{plugin}/{kind}/{name}", change, "Delete all versions of a resource")
            .refuses(&[409]),
        get("/v2/plugins/{types}/{plugin}/{kind}/{name}/versions/{version}", look, "The bytes of a version")
            .gives("Bytes"),
        delete(
            "/v2/plugins/{types}/{plugin}/{kind}/{name}/versions/{version}",
            change,
            "Delete a version that is not in use",
        )
        .refuses(&[409]),
        post(
            "/v2/plugins/{types}/{plugin}/{kind}/{name}/versions/{version}/stage",
            change,
            "Use this version from the next sync on",
        ),
        post(
            "/v2/plugins/{types}/{plugin}/{kind}/{name}/versions/{version}/recall",
            change,
            "Do not use this version from the next sync on",
        ),
        post("/v2/plugins/sync", change, "Put what is staged to use, and what is recalled out of it"),
    ]
}

fn installation() -> Vec<Operation> {
    let (see_all, change_all) = (Rule::read(Superadmin, Access), Rule::write(Superadmin, Access));
    vec![
        get("/v2/tenants", see_all, "All tenants").gives("[TenantSpec]"),
        post("/v2/tenants", change_all, "A new tenant; `bootstrap` copies what the superadmin's has")
            .takes("TenantChange")
            .refuses(&[409]),
        get("/v2/tenants/{name}", see_all, "A tenant").gives("TenantSpec"),
        put("/v2/tenants/{name}", change_all, "Change a tenant, or make it")
            .takes("TenantChange")
            .refuses(&[409]),
        delete("/v2/tenants/{name}", change_all, "Remove a tenant that has no workers and no clusters")
            .refuses(&[409]),
        get(
            "/v2/provisioners",
            Rule::read(Superadmin, Running),
            "Provisioners elsewhere, with whom they work for",
        )
        .gives("[Provisioner]"),
        get("/v2/provisioners/{id}", Rule::read(Superadmin, Running), "A provisioner").gives("Provisioner"),
        get("/v2/metrics/queues", Rule::read(Admin, Running), "Tasks that wait and tasks in hand, by tenant")
            .gives("Queues"),
        get("/v2/metrics/history", Rule::read(Superadmin, Running), "Figures of the last hour, for charts")
            .gives("MetricHistory"),
        get("/v2/metrics/nodes/usage", Rule::read(Reader, Running), "Machine time used")
            .gives("Usage")
            .query(&[
                ("tenant", "of this tenant; others than the own for the superadmin only"),
                ("user", "of this user"),
                ("cluster", "of this cluster"),
                ("clustertemplate", "of clusters of this template"),
                ("start", "from this second since 1970 on"),
                ("end", "to this second since 1970"),
                ("groupby", "hour, day, week, month or year"),
                ("timeunit", "seconds, minutes, hours or days"),
            ]),
    ]
}

fn oversight() -> Vec<Operation> {
    vec![
        get(
            "/v2/audit",
            Rule::read(Admin, Running),
            "Who did what, newest first; all tenants' for superadmins",
        )
        .gives("AuditPage")
        .query(&[
            ("tenant", "of this tenant's id; for superadmins"),
            ("user", "by this user"),
            ("action", "whose action holds this text"),
            ("object", "whose object holds this text"),
            ("outcome", "done, refused or failed"),
            ("since", "from this time on: milliseconds since 1970, or as 2026-11-20T18:00:00Z"),
            ("until", "before this time"),
            ("cursor", "behind this entry: `next` of the page before"),
            ("limit", "at most so many; 100 unless said otherwise, 1000 at most"),
        ]),
        get("/v2/audit/verify", Rule::read(Superadmin, Running), "Whether the chain of the audit log holds")
            .gives("AuditCheck"),
        get("/v2/secrets", Rule::read(Superadmin, Running), "What is sealed, and under which keys")
            .gives("SecretsStatus"),
        post(
            "/v2/secrets/rotate",
            Rule::write(Superadmin, Running),
            "A new master key in place of the old one",
        )
        .gives("SecretsStatus"),
        get(
            "/metrics",
            Rule::read(Superadmin, Running),
            "Figures for Prometheus; the book says what each means",
        )
        .gives("Metrics"),
        get("/status", Rule::public(Running), "`OK`; asks nobody who they are").gives("Text"),
        get("/v2/ready", Rule::public(Running), "Whether the server takes requests; 503 while it stops")
            .gives("Ready"),
        get(
            "/v2/openapi.json",
            Rule::public(Running),
            "This interface, described for programs (OpenAPI 3.1)",
        )
        .gives("Config"),
        get("/v2/openapi", Rule::public(Running), "This interface, described on a page").gives("Page"),
    ]
}

fn callbacks() -> Vec<Operation> {
    let (see, change) = (Rule::read(Admin, Running), Rule::write(Admin, Running));
    vec![
        get("/v2/callbacks", see, "Callbacks of the tenant, for superadmins with those of the settings")
            .gives("[Callback]")
            .query(&[TENANT]),
        post("/v2/callbacks", change, "A new callback; a secret that is made for it is shown this once")
            .takes("CallbackChange")
            .gives("NewCallback")
            .query(&[TENANT])
            .refuses(&[409]),
        get("/v2/callbacks/{name}", see, "A callback").gives("Callback").query(&[TENANT]),
        put("/v2/callbacks/{name}", change, "Change a callback; what is left out stays")
            .takes("CallbackChange")
            .gives("Callback")
            .query(&[TENANT])
            .refuses(&[409]),
        delete("/v2/callbacks/{name}", change, "Remove a callback, with the record of its calls")
            .query(&[TENANT])
            .refuses(&[409]),
        post("/v2/callbacks/{name}/test", change, "Call it now with the event `test`")
            .gives("WholeDelivery")
            .query(&[TENANT]),
        get("/v2/callbacks/{name}/deliveries", see, "Its calls, newest first").gives("[Delivery]").query(&[
            TENANT,
            ("status", "only those that are waiting, delivered, failed, allowed or vetoed"),
        ]),
        get("/v2/callbacks/{name}/deliveries/{id}", see, "A call, with what was sent and answered")
            .gives("WholeDelivery")
            .query(&[TENANT]),
        post("/v2/callbacks/{name}/deliveries/{id}/redeliver", change, "Make a call again")
            .gives("Delivery")
            .query(&[TENANT])
            .refuses(&[409]),
    ]
}

fn own() -> Vec<Operation> {
    vec![
        get("/v2/profile", Rule::read(Reader, Own), "What the caller keeps here").gives("Profile"),
        put("/v2/profile", Rule::write(Reader, Own), "Keep this for the caller").takes("Profile"),
        delete("/v2/profile", Rule::write(Reader, Own), "Forget what the caller keeps here"),
    ]
}

fn tasks() -> Vec<Operation> {
    let (read, work) = (Rule::read(Provisioner, Tasks), Rule::write(Provisioner, Tasks));
    vec![
        inner(
            Method::GET,
            "/v2/ready",
            Rule::public(Tasks),
            "Whether the server takes requests; 503 while it stops",
        )
        .gives("Ready"),
        inner(Method::PUT, "/v2/provisioners/{id}", work, "Register a provisioner")
            .takes("Registration")
            .gives("Granted"),
        inner(Method::DELETE, "/v2/provisioners/{id}", work, "Go; the provisioner's work is given to others"),
        inner(Method::POST, "/v2/provisioners/{id}/heartbeat", work, "Still there; 404: register again")
            .takes("Heartbeat"),
        inner(Method::PUT, "/v2/plugins/{types}/{name}", work, "Describe a plugin").takes("PluginType"),
        inner(
            Method::GET,
            "/v2/tenants/{tenant}/{types}/{plugin}/{kind}/{name}/versions/{version}",
            read,
            "The bytes of a plugin resource",
        )
        .gives("Bytes"),
        inner(Method::POST, "/v2/tasks/take", work, "A task for a worker, or 204")
            .takes("Worker")
            .gives("TaskOrder"),
        inner(
            Method::POST,
            "/v2/tasks/take/batch",
            work,
            "Tasks for several workers; waits until there is one",
        )
        .takes("TakeBatch")
        .gives("Taken"),
        inner(Method::POST, "/v2/tasks/output", work, "What tasks print while they run")
            .takes("OutputBatch")
            .gives("OutputTaken"),
        inner(Method::POST, "/v2/tasks/watch", work, "Which of the tasks in hand are not wanted any more")
            .takes("Watch")
            .gives("Unwanted"),
        inner(Method::POST, "/v2/tasks/finish", work, "A worker's report; answered when it is durable")
            .takes("Finished")
            .refuses(&[417]),
    ]
}
