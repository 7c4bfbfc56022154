//! One round: the cluster is read, its nodes are probed, and what is new is told.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use actix::fut::wrap_future;
use actix::{ActorFutureExt, Addr, AsyncContext};
use cooperage_domain::cluster::{CareChange, Cluster, ClusterStatus, Command, made_by, to_probe};
use cooperage_domain::health::budget::next_turn;
use cooperage_domain::health::{Ailing, HealMode, Health, Situation, Verdict, judge};
use cooperage_domain::id::{ClusterId, NodeId};
use cooperage_domain::plan::{ClusterAction, UnitId};
use cooperage_schema::OpenSecrets;
use slog::{error, info, warn};

use super::HealthMonitor;
use super::watched::{Probing, Round};
use crate::cluster::GetState;
use crate::console::Context;
use crate::registry::{Look, Registry, Tell, read};
use crate::worker_pool::LOCAL_WORKER;

/// In whose name what is found is told, and machines are replaced.
pub(super) const HEALTH: &str = "health";

type Read = Result<(Arc<Cluster>, Arc<OpenSecrets>), String>;

impl HealthMonitor {
    /// A cluster may probe: it is read first, then its nodes are probed one by one.
    pub(super) fn begin(&mut self, id: ClusterId, ctx: &mut Context<Self>) {
        let Some(watched) = self.clusters.get_mut(&id) else { return };
        match &mut watched.round {
            None => {
                watched.round = Some(Round::Reading);
                self.read(id, ctx);
            }
            Some(Round::Probing(probing)) => {
                let Some(node) = probing.waiting.pop_front() else { return };
                probing.running += 1;
                let (cluster, secrets) = (Arc::clone(&probing.cluster), Arc::clone(&probing.secrets));
                self.probe(id, node, &cluster, secrets, ctx);
            }
            Some(Round::Reading | Round::Telling) => {}
        }
    }

    /// One that is live is asked; one that rests is read, and goes on resting.
    fn read(&self, id: ClusterId, ctx: &mut Context<Self>) {
        let (registry, store, vault) =
            (self.office.registry.clone(), self.office.store.clone(), self.office.vault.clone());
        let reading = async move {
            let live = match registry.send(Look { id }).await.ok().flatten() {
                Some(address) => address.send(GetState).await.ok().flatten(),
                None => None,
            };
            let read = move || {
                let secrets = vault.values(id).map_err(|fault| fault.to_string())?;
                let from_journal = || read(&store, id).map(Arc::new).map_err(|fault| fault.to_string());
                Ok((live.map_or_else(from_journal, Ok)?, secrets))
            };
            let read = actix_rt::task::spawn_blocking(read).await;
            read.unwrap_or_else(|fault| Err(fault.to_string()))
        };
        ctx.spawn(wrap_future(reading).map(move |read, monitor: &mut Self, ctx: &mut Context<Self>| {
            monitor.take_up(id, read, ctx);
        }));
    }

    /// The cluster has been read: its nodes may be probed, if it is at rest and wants to be.
    fn take_up(&mut self, id: ClusterId, read: Read, ctx: &mut Context<Self>) {
        let (now, settings) = (self.office.clock.now(), self.office.settings);
        let Some(watched) = self.clusters.get_mut(&id) else { return self.go_on(ctx) };
        watched.round = None;
        watched.turn = next_turn(id, settings.policy.interval, now);
        match read {
            Err(fault) => {
                warn!(self.office.logger, "cannot probe"; "cluster" => id.to_string(), "fault" => fault);
            }
            Ok((cluster, secrets)) => {
                let policy = cluster.health_policy(settings.policy);
                watched.turn = next_turn(id, policy.interval, now);
                let at_rest = matches!(cluster.status, ClusterStatus::Active | ClusterStatus::Inconsistent);
                if at_rest && policy.heal != HealMode::Off {
                    let units = to_probe(&cluster);
                    watched.meet(&cluster, &units);
                    let nodes: BTreeSet<&NodeId> = units.iter().map(|unit| &unit.node).collect();
                    let waiting: VecDeque<NodeId> = nodes.into_iter().cloned().collect();
                    let probing = Probing { cluster, secrets, policy, since: now, waiting, running: 0 };
                    watched.round = Some(Round::Probing(Box::new(probing)));
                } else {
                    watched.units.clear();
                    watched.alarm = None;
                }
            }
        }
        self.end_if_done(id, ctx);
        self.go_on(ctx);
    }

    /// Tells what is new when the last node of a round has been probed, and what is to be done about it.
    pub(super) fn end_if_done(&mut self, id: ClusterId, ctx: &mut Context<Self>) {
        let Some(watched) = self.clusters.get_mut(&id) else { return };
        let is_done = |probing: &Probing| probing.waiting.is_empty() && probing.running == 0;
        let probing = match watched.round.take() {
            Some(Round::Probing(probing)) if is_done(&probing) => probing,
            other => return watched.round = other,
        };
        watched.round = Some(Round::Telling);
        let news = watched.news(&probing.cluster);
        for change in &news {
            self.log(id, change);
        }
        let heal = self.decide(id, &probing);
        let registry = self.office.registry.clone();
        let telling = tell(registry, id, news, heal);
        ctx.spawn(wrap_future(telling).map(
            move |(told, healed), monitor: &mut Self, ctx: &mut Context<Self>| {
                if let Err(fault) = told {
                    warn!(monitor.office.logger, "a cluster did not take what was found out about its health";
                    "cluster" => id.to_string(), "fault" => fault);
                }
                if let Err(fault) = healed {
                    monitor.raise(id, Some(format!("machines that are down cannot be replaced: {fault}")));
                }
                if let Some(watched) = monitor.clusters.get_mut(&id) {
                    watched.round = None;
                }
                monitor.go_on(ctx);
            },
        ));
    }

    /// Judges a cluster, raises or ends its alarm, and gives the nodes whose machines are to be replaced.
    fn decide(&mut self, id: ClusterId, probing: &Probing) -> BTreeSet<NodeId> {
        let verdict = self.judge(id, probing);
        match verdict {
            Verdict::Nothing => self.raise(id, None),
            Verdict::Alarm(alarm) => self.raise(id, Some(alarm)),
            Verdict::Wait(_) => {}
            // Whether there is an alarm shows when it has been told.
            Verdict::Heal(nodes) => return nodes,
        }
        BTreeSet::new()
    }

    /// People are told what they have not been told, once; or that it is over.
    fn raise(&mut self, id: ClusterId, alarm: Option<String>) {
        let Some(watched) = self.clusters.get_mut(&id) else { return };
        match (&watched.alarm, &alarm) {
            (before, Some(now)) if before.as_ref() != Some(now) => {
                error!(self.office.logger, "health alarm"; "cluster" => id.to_string(), "alarm" => now);
            }
            (Some(_), None) => info!(self.office.logger, "health alarm is over"; "cluster" => id.to_string()),
            _ => {}
        }
        watched.alarm = alarm;
    }

    fn judge(&self, id: ClusterId, probing: &Probing) -> Verdict {
        let Some(watched) = self.clusters.get(&id) else { return Verdict::Nothing };
        let Probing { cluster, policy, .. } = probing;
        let down = watched.down(policy);
        if down.is_empty() {
            return Verdict::Nothing;
        }
        let elsewhere = |node: &&NodeId| made_by(cluster, node) != Some(LOCAL_WORKER);
        let of_provider = self
            .clusters
            .values()
            .filter(|other| (&other.tenant, &other.provider) == (&watched.tenant, &watched.provider));
        let provider =
            of_provider.map(super::watched::Watched::ailing).fold(Ailing::default(), |sum, one| Ailing {
                machines: sum.machines + one.machines,
                ailing: sum.ailing + one.ailing,
            });
        let by_itself =
            cluster.jobs.values().filter(|job| job.action == ClusterAction::ClusterHeal && job.by == HEALTH);
        let healed: Vec<i64> = by_itself.map(|job| job.started).collect();
        judge(&Situation {
            cluster: id.to_string(),
            policy: *policy,
            unproven: down.iter().filter(elsewhere).cloned().collect(),
            down,
            at_rest: cluster.status == ClusterStatus::Active,
            own: watched.ailing(),
            provider,
            healed: &healed,
            now: self.office.clock.now(),
        })
    }

    fn log(&self, id: ClusterId, change: &CareChange) {
        let CareChange::Health { node, service, health, reason } = change else { return };
        let unit = UnitId { node: node.clone(), service: service.clone() }.to_string();
        let (logger, cluster) = (&self.office.logger, id.to_string());
        if *health == Health::Down {
            warn!(logger, "found down"; "cluster" => cluster, "unit" => unit, "reason" => reason);
        } else {
            info!(logger, "found healthy again"; "cluster" => cluster, "unit" => unit);
        }
    }
}

/// Tells a cluster what is new, and has machines replaced; what went wrong with either.
async fn tell(
    registry: Addr<Registry>,
    id: ClusterId,
    changes: Vec<CareChange>,
    heal: BTreeSet<NodeId>,
) -> (Result<(), String>, Result<(), String>) {
    let by = || HEALTH.to_owned();
    let say = async |command: Command| match registry.send(Tell { id, command, who: by() }).await {
        Ok(Ok(_)) => Ok(()),
        Ok(Err(fault)) => Err(fault.to_string()),
        Err(fault) => Err(fault.to_string()),
    };
    let (mut told, mut healed) = (Ok(()), Ok(()));
    if !changes.is_empty() {
        told = say(Command::Care { changes, by: by() }).await;
    }
    if !heal.is_empty() {
        healed = say(Command::Replace { nodes: heal, lost: true, rollout: None, by: by() }).await;
    }
    (told, healed)
}
