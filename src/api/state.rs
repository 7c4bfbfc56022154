//! What every handler may use.

use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};

use actix::Addr;
use actix_web::web;
use cooperage_actors::callbacks::{CallbackOffice, Callbacks};
use cooperage_actors::clock::SharedClock;
use cooperage_actors::cluster::GetState;
use cooperage_actors::console::Console;
use cooperage_actors::estimate::Estimates;
use cooperage_actors::fleet::{Fleet, Roll};
use cooperage_actors::handover::Handover;
use cooperage_actors::health::HealthMonitor;
use cooperage_actors::journal::Journal;
use cooperage_actors::registry::{FindError, Look, Registry, read};
use cooperage_actors::task_log::TaskLog;
use cooperage_domain::cluster::{self, Catalog};
use cooperage_domain::entity::{Entity, Kind, PriceList};
use cooperage_domain::id::ClusterId;
use cooperage_plugins::resources::PluginResources;
use cooperage_schema::{SUPERADMIN, Store, Vault};
use slog::Logger;
use tokio_util::sync::CancellationToken;

use super::edge::Edge;
use super::events::Hub;
use super::identity::Identity;
use super::login_codes::LoginCodes;
use super::login_limit::LoginLimit;
use super::metric_history::Samples;
use super::pools::Pools;
use super::problem::Problem;
use super::reservations::Reservations;
use super::terminal::Terminals;
use crate::config::Settings;
use crate::metrics::Metrics;

/// What every handler may use.
pub struct AppState {
    /// The settings.
    pub settings: Settings,
    /// Everything durable.
    pub store: Store,
    /// Who is called when jobs begin and end.
    pub callbacks: Arc<CallbackOffice>,
    /// Sees to it that calls are made.
    pub calls: Addr<Callbacks>,
    /// Who is where.
    pub registry: Addr<Registry>,
    /// Probes machines and services.
    pub health: Addr<HealthMonitor>,
    /// Makes events durable.
    pub journal: Journal,
    /// The newest events, for those who follow them.
    pub events: Arc<Hub>,
    /// What the HTTP edge remembers between requests.
    pub edge: Edge,
    /// Tasks in the hands of workers elsewhere.
    pub handover: Handover,
    /// Secret values of clusters.
    pub vault: Vault,
    /// The provisioners elsewhere.
    pub fleet: Addr<Fleet>,
    /// Who of them is registered.
    pub roll: Roll,
    /// Where tenants' workers wait.
    pub pools: Pools,
    /// How long tasks take.
    pub estimates: Estimates,
    /// Codes that let a browser in once.
    pub login_codes: LoginCodes,
    /// How often somebody may try to log in.
    pub login_limit: LoginLimit,
    /// What creates under way have reserved.
    pub reservations: Reservations,
    /// Terminals on nodes.
    pub terminals: Terminals,
    /// Plugin resources.
    pub resources: PluginResources,
    /// Held by who puts plugin resources to use.
    pub sync_turn: Mutex<()>,
    /// Tells the time.
    pub clock: SharedClock,
    /// Where to log.
    pub logger: Logger,
    /// Takes the output of tasks.
    pub log: TaskLog,
    /// What is counted, for `/metrics`.
    pub metrics: Arc<Metrics>,
    /// How it went in the last hour.
    pub samples: Samples,
    /// The actors, for whoever looks.
    pub console: Console,
    /// Fires when the server is told to stop: nobody is to wait any longer.
    pub stopping: CancellationToken,
}

impl AppState {
    /// Runs work that waits for the database or a disk on a thread that may wait.
    ///
    /// # Errors
    /// The work's own, or that it broke off.
    pub async fn blocking<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Self) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let state = Arc::clone(self);
        // A panic is told with its words, which the library would keep to itself.
        let guarded = move || catch_unwind(AssertUnwindSafe(|| work(&state)));
        match web::block(guarded).await.map_err(Problem::internal)? {
            Ok(outcome) => outcome,
            Err(panic) => Err(Problem::panicked(&*panic)),
        }
    }

    /// A cluster that the caller may see: an own one, or any of the tenant for its admin. Others do not exist.
    ///
    /// # Errors
    /// 404, or that it cannot be read.
    pub async fn cluster(
        self: &Arc<Self>,
        identity: &Identity,
        id: &str,
    ) -> Result<Arc<cluster::Cluster>, Problem> {
        let id: ClusterId = id.parse()?;
        let visible = |found: &Arc<cluster::Cluster>| {
            found.account.tenant_id == identity.tenant && identity.sees(&found.account.user_id)
        };
        let found = self.known(id).await?;
        found.filter(visible).ok_or_else(|| Problem::not_found("cluster", id))
    }

    /// A cluster, whoever may see it; `None` when there is none.
    ///
    /// # Errors
    /// When it cannot be read.
    pub async fn known(self: &Arc<Self>, id: ClusterId) -> Result<Option<Arc<cluster::Cluster>>, Problem> {
        let live = self.registry.send(Look { id }).await.map_err(Problem::internal)?;
        let state = match live {
            // One that goes to rest right now is read from the journal.
            Some(address) => address.send(GetState).await.ok().flatten(),
            None => None,
        };
        match state {
            Some(state) => Ok(Some(state)),
            None => match self.blocking(move |state| Ok(read(&state.store, id))).await? {
                Ok(state) => Ok(Some(Arc::new(state))),
                Err(FindError::Unknown(_)) => Ok(None),
                Err(fault) => Err(fault.into()),
            },
        }
    }

    /// What a tenant has to make clusters from. Waits for the database.
    ///
    /// # Errors
    /// When the database cannot be read, or holds what cannot be understood.
    pub fn catalog(&self, tenant: &str) -> Result<Catalog, Problem> {
        Ok(Catalog {
            provider_types: self.entities(SUPERADMIN)?,
            providers: self.entities(tenant)?,
            hardware: self.entities(tenant)?,
            images: self.entities(tenant)?,
            services: self.entities(tenant)?,
            templates: self.entities(tenant)?,
            partials: self.entities(tenant)?,
        })
    }

    /// How many tasks this server runs at once, as far as anything is foretold of it.
    #[must_use]
    pub fn workers(&self) -> NonZeroUsize {
        NonZeroUsize::new(self.settings.workers.local).unwrap_or(NonZeroUsize::MIN)
    }

    /// What a tenant's machines cost. Waits for the database.
    ///
    /// # Errors
    /// When the database cannot be read, or holds what cannot be understood.
    pub fn prices(&self, tenant: &str) -> Result<PriceList, Problem> {
        Ok(self.entities(tenant)?.into_iter().collect())
    }

    fn entities<E: Entity>(&self, tenant: &str) -> Result<Vec<E>, Problem> {
        Ok(self.store.entities::<E>(tenant)?)
    }
}

/// Whose entities of a kind a tenant sees: plugin types are global.
#[must_use]
pub fn owner_of(kind: Kind, tenant: &str) -> &str {
    match kind {
        Kind::ProviderType | Kind::AutomatorType => SUPERADMIN,
        _ => tenant,
    }
}
