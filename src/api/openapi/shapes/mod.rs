//! Shapes of requests and answers that are no entities, for the description only: handlers write and read them as JSON, and
//! the tests hold what they say against these.

mod access;
mod ancestry;
mod callbacks;
mod care;
mod catalog;
mod clusters;
mod console;
mod living;
mod operation;
mod past;
mod values;

use utoipa::openapi::ComponentsBuilder;

use super::add;

/// Puts all of them among the components.
pub fn add_all(mut all: ComponentsBuilder) -> ComponentsBuilder {
    macro_rules! add {
        ($($of:ident: $($shape:ident)+;)+) => { $($(all = add::<$of::$shape>(all);)+)+ };
    }
    add! {
        clusters: Account Progress ClusterSummary ClusterCreated Cluster Node RegisteredNode
            ClusterStatus StagedTask Attempt GraphTask Plan WaitReason WaitingTask
            StragglingTask WaitingTasks LogLine Logs FollowedEvent FollowedEvents ProviderFields LeaseChange
            ConfigChange ServicesToAdd NodeQuestion;
        care: Maintenance MaintenanceReason HealSwitch DownNote UnitHealth NodeHealth HealthReport;
        living: SizeChange MachinesAnew Reconfiguration UpgradeOrder RollBackOrder Convergence ErrandOrder
            Cancellation;
        values: ClusterValues ValuesNode LayeredValue;
        catalog: AppliedEntity AppliedChange Export Resource;
        past: Proposal SavedPlan DraftedOperation Draft NewDraft DraftedCluster CarriedOut Happened ClusterDiff
            ReplayDifference Replayed;
        console: LiveActor ActorTree LatencyStep LatencyTimes MessageLatency ActorDetail ActorOrder ActorOrdered;
        ancestry: Foundation FoundationChange;
        access: TenantChange User UserChange Token TokenRequest NewToken IssuedToken Login LoginCode LoggedIn
            Caller PasswordChange;
        callbacks: Callback CallbackChange NewCallback Delivery DeliveryTry WholeDelivery;
        operation: Queue UsageInterval Usage AuditEntry AuditPage AuditBreak AuditCheck
            SecretsStatus Registration Ready Heartbeat Worker Problem;
    }
    all
}
