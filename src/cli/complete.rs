//! Names that a shell offers when Tab is pressed: asked of the server, which has a second; without an answer nothing is
//! offered and nothing is said.

use std::ffi::OsStr;
use std::time::Duration;

use clap_complete::{ArgValueCompleter, CompletionCandidate};
use cooperage_domain::entity::Kind;
use serde_json::Value;

use super::args::Globals;
use super::client::{Client, segment};
use super::connection::Connection;
use super::connection::contexts::{self, Contexts};

/// How long the server may take.
const LIMIT: Duration = Duration::from_millis(1000);
/// Clusters that are gone are not offered, but to those who want to look at them.
const TERMINATED: &str = "terminated";

/// What is offered.
#[derive(Debug, Clone, Copy)]
enum Wanted {
    Clusters,
    Nodes,
    ServicesOfCluster,
    Jobs,
    Entities(Option<Kind>),
    Plugins,
    Resources,
    Tenants,
    Provisioners,
    AllNodes,
}

macro_rules! completers {
    ($($(#[$doc:meta])* $name:ident => $wanted:expr;)*) => {$(
        $(#[$doc])*
        #[must_use]
        pub fn $name() -> ArgValueCompleter {
            ArgValueCompleter::new(|current: &OsStr| offer(current, $wanted))
        }
    )*};
}

completers! {
    /// Ids and names of clusters.
    clusters => Wanted::Clusters;
    /// Nodes of the cluster that was named before.
    nodes => Wanted::Nodes;
    /// Nodes of all clusters, by id.
    all_nodes => Wanted::AllNodes;
    /// Services of the cluster that was named before.
    services_of_cluster => Wanted::ServicesOfCluster;
    /// Jobs of the cluster that was named before.
    jobs => Wanted::Jobs;
    /// Entities of the kind whose noun was typed.
    entities => Wanted::Entities(None);
    /// Cluster templates.
    templates => Wanted::Entities(Some(Kind::ClusterTemplate));
    /// Services.
    services => Wanted::Entities(Some(Kind::Service));
    /// Providers.
    providers => Wanted::Entities(Some(Kind::Provider));
    /// Hardware types.
    hardware => Wanted::Entities(Some(Kind::HardwareType));
    /// Image types.
    images => Wanted::Entities(Some(Kind::ImageType));
    /// Plugin types.
    plugins => Wanted::Plugins;
    /// Plugin resources, as `PLUGIN/KIND/NAME`.
    resources => Wanted::Resources;
    /// Tenants.
    tenants => Wanted::Tenants;
    /// Provisioners.
    provisioners => Wanted::Provisioners;
}

/// Contexts, which no server is asked for.
#[must_use]
pub fn contexts() -> ArgValueCompleter {
    ArgValueCompleter::new(|current: &OsStr| {
        let found = contexts::path().and_then(|path| Contexts::load(&path).ok()).unwrap_or_default();
        let named = found.contexts.into_iter().map(|(name, context)| (name, context.server));
        matching(current, named.collect())
    })
}

/// A name and what is said of it.
type Named = (String, String);

fn matching(current: &OsStr, all: Vec<Named>) -> Vec<CompletionCandidate> {
    let current = current.to_string_lossy();
    let fits = all.into_iter().filter(|(name, _)| name.starts_with(&*current));
    fits.map(|(name, about)| CompletionCandidate::new(name).help((!about.is_empty()).then(|| about.into())))
        .collect()
}

fn offer(current: &OsStr, wanted: Wanted) -> Vec<CompletionCandidate> {
    let words = typed(std::env::args());
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else {
        return Vec::new();
    };
    let found = runtime.block_on(async {
        let client = Client::within(Connection::from_globals(&globals(&words)).ok()?, LIMIT).ok()?;
        tokio::time::timeout(LIMIT, ask(&client, wanted, &words)).await.ok()?
    });
    matching(current, found.unwrap_or_default())
}

/// The words on the line so far: what the shell's script gives behind `--`.
fn typed(arguments: impl Iterator<Item = String>) -> Vec<String> {
    arguments.skip_while(|word| word != "--").skip(1).collect()
}

/// The options that say which server is meant.
fn globals(words: &[String]) -> Globals {
    let option = |name: &str| {
        let glued = || words.iter().find_map(|word| word.strip_prefix(&format!("{name}=")));
        let place = words.iter().position(|word| word == name);
        place.and_then(|place| words.get(place + 1)).map(String::as_str).or_else(glued).map(str::to_owned)
    };
    Globals {
        server: option("--server"),
        context: option("--context"),
        token_file: option("--token-file").map(Into::into),
        ca_file: option("--ca-file").map(Into::into),
        user: option("--user"),
        tenant: option("--tenant"),
        ..Globals::default()
    }
}

/// What was typed behind `cluster VERB`: the first word that is no option.
fn cluster(words: &[String]) -> Option<&str> {
    let noun = words.iter().position(|word| word == "cluster" || word == "clusters")?;
    words.get(noun + 2..)?.iter().map(String::as_str).find(|word| !word.starts_with('-') && !word.is_empty())
}

/// The kind whose noun was typed.
fn kind(words: &[String]) -> Option<Kind> {
    words.iter().find_map(|word| match word.as_str() {
        "template" | "templates" => Some(Kind::ClusterTemplate),
        "partial" | "partials" => Some(Kind::PartialTemplate),
        "service" | "services" => Some(Kind::Service),
        "provider" | "providers" => Some(Kind::Provider),
        "hardware" => Some(Kind::HardwareType),
        "image" | "images" => Some(Kind::ImageType),
        _ => None,
    })
}

async fn ask(client: &Client, wanted: Wanted, words: &[String]) -> Option<Vec<Named>> {
    let list = async |path: &str| client.get::<Vec<Value>>(path).await.ok();
    match wanted {
        Wanted::Clusters => Some(cluster_names(&list("/v2/clusters").await?)),
        Wanted::Entities(known) => {
            let kind = known.or_else(|| kind(words))?;
            Some(named(&list(&format!("/v2/{}", kind.plural())).await?, "name", "description"))
        }
        Wanted::Tenants => Some(named(&list("/v2/tenants").await?, "name", "description")),
        Wanted::Provisioners => Some(named(&list("/v2/provisioners").await?, "id", "host")),
        Wanted::AllNodes => Some(named(&list("/v2/nodes").await?, "id", "clusterId")),
        Wanted::Plugins => {
            let mut all = named(&list("/v2/plugins/providertypes").await?, "name", "description");
            all.extend(named(&list("/v2/plugins/automatortypes").await?, "name", "description"));
            Some(all)
        }
        Wanted::Resources => {
            let found = super::resource::all(client).await.ok()?;
            Some(found.into_iter().map(|it| (it.at.to_string(), it.side.noun().to_owned())).collect())
        }
        Wanted::Nodes | Wanted::ServicesOfCluster | Wanted::Jobs => of_cluster(client, wanted, words).await,
    }
}

async fn of_cluster(client: &Client, wanted: Wanted, words: &[String]) -> Option<Vec<Named>> {
    let id = super::cluster::id_of(client, cluster(words)?).await.ok()?;
    let path = format!("/v2/clusters/{}", segment(&id));
    match wanted {
        Wanted::Jobs => {
            let jobs: Vec<Value> = client.get(&format!("{path}/plans")).await.ok()?;
            Some(named(&jobs, "id", "action"))
        }
        Wanted::ServicesOfCluster => {
            let services: Vec<String> = client.get(&format!("{path}/services")).await.ok()?;
            Some(services.into_iter().map(|name| (name, String::new())).collect())
        }
        _ => {
            let details: super::cluster::shapes::Details = client.get(&path).await.ok()?;
            Some(details.nodes.iter().map(|n| (n.properties.nodenum.to_string(), n.services())).collect())
        }
    }
}

fn named(all: &[Value], name: &str, about: &str) -> Vec<Named> {
    let text = |one: &Value, key: &str| one[key].as_str().unwrap_or_default().to_owned();
    all.iter().map(|one| (text(one, name), text(one, about))).filter(|(name, _)| !name.is_empty()).collect()
}

/// Names of those that live, if just one has it; ids of all that live.
fn cluster_names(all: &[Value]) -> Vec<Named> {
    let live: Vec<&Value> = all.iter().filter(|one| one["status"] != TERMINATED).collect();
    let mut found = Vec::new();
    for one in &live {
        let (id, name) = (one["id"].as_str().unwrap_or_default(), one["name"].as_str().unwrap_or_default());
        let status = one["status"].as_str().unwrap_or_default();
        if live.iter().filter(|other| other["name"] == one["name"]).count() == 1 {
            found.push((name.to_owned(), format!("{id}, {status}")));
        }
        found.push((id.to_owned(), format!("{name}, {status}")));
    }
    found
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn the_line_says_which_server_kind_and_cluster_are_meant() {
        let line = words("cooperage --server http://x cluster ssh --print shop ");
        assert_eq!(globals(&line).server.as_deref(), Some("http://x"));
        assert_eq!(cluster(&line), Some("shop"));
        assert_eq!(globals(&words("cooperage --context=prod node list")).context.as_deref(), Some("prod"));
        assert_eq!(kind(&words("cooperage services show ")), Some(Kind::Service));
        assert_eq!(cluster(&words("cooperage cluster ssh ")), None);
        let arguments = ["/bin/cooperage", "--", "cooperage", "node"].map(str::to_owned);
        assert_eq!(typed(arguments.into_iter()), ["cooperage", "node"]);
    }

    #[test]
    fn clusters_are_offered_by_name_where_it_is_one_s_own_and_by_id() {
        let one = |id: &str, name: &str, status: &str| json!({"id": id, "name": name, "status": status});
        let all = [
            one("1", "shop", "active"),
            one("2", "twin", "active"),
            one("3", "twin", "pending"),
            one("4", "old", "terminated"),
        ];
        let names: Vec<String> = cluster_names(&all).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["shop", "1", "2", "3"]);
    }
}
