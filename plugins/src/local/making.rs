//! Making a machine: a list of steps, each of which finds what an earlier try made and goes on from there.

use std::path::PathBuf;

use cooperage_domain::invalid::Invalid;
use cooperage_domain::task::TaskOrder;
use tokio_util::sync::CancellationToken;

use super::LocalProvider;
use super::blocking::blocking;
use super::bridge::Bridges;
use super::fault::{LocalError, Refusal};
use super::flavor::{Limits, read_flavor};
use super::guest_files::{Personality, guest_files, write_all};
use super::host_network::resolv_conf;
use super::overlay::Disk;
use super::record::{Record, Stage, machine_id, short_hash};
use super::reservation::lock_host;
use super::settings::Wishes;
use super::{boot, images, keys, namespace};

/// What is made of a machine, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step {
    /// Its record, with its address and its keys. Until then nothing is made.
    Record,
    /// Its disk, mounted.
    Disk,
    /// The files that set it apart from its image. Only before it first runs.
    Personality,
    /// The bridge, if it is not there.
    Bridge,
    /// Its network namespace.
    Namespace,
    /// The cable between its namespace and the bridge.
    Cable,
    /// Its control groups with its limits.
    Groups,
    /// Its processes.
    Boot,
}

impl Step {
    /// All steps in their order.
    pub const ALL: [Self; 8] = [
        Self::Record,
        Self::Disk,
        Self::Personality,
        Self::Bridge,
        Self::Namespace,
        Self::Cable,
        Self::Groups,
        Self::Boot,
    ];
}

/// Name of the file with a machine's private host key, in its directory.
const HOST_KEY: &str = "ssh_host_ed25519_key";
/// The longest host name Linux knows.
const LONGEST_HOSTNAME: usize = 64;
/// Who machines let in.
pub(super) const USER: &str = "root";

/// What a task asks for, checked.
struct Wanted {
    node: String,
    hostname: Option<String>,
    base: PathBuf,
    limits: Limits,
    wishes: Wishes,
}

impl LocalProvider {
    /// Carries out the steps of making the machine for a task's node, up to and including `last`, as far as they are not
    /// done. Making it is going up to [`Step::Boot`].
    ///
    /// # Errors
    /// When the task asks for something this host cannot give (then nothing is made), or a step fails (then it can be
    /// given again, or the machine deleted).
    pub async fn make(
        &self,
        order: &TaskOrder,
        last: Step,
        cancel: &CancellationToken,
    ) -> Result<Record, LocalError> {
        let id = machine_id(&self.installation().await?, order.node_id.as_str());
        let lock = self.lock_machine(&id).await?;
        let made = self.make_locked(&id, order, last, cancel).await;
        if self.record(&id).await?.is_none() {
            lock.remove()?;
        }
        made
    }

    async fn make_locked(
        &self,
        id: &str,
        order: &TaskOrder,
        last: Step,
        cancel: &CancellationToken,
    ) -> Result<Record, LocalError> {
        if self.record(id).await?.is_some_and(|record| record.stage == Stage::Deleting) {
            self.unmake(id).await?;
        }
        let mut record = match self.record(id).await? {
            Some(record) => record,
            None if cancel.is_cancelled() => return Err(LocalError::Cancelled(id.to_owned())),
            None => self.put_on_record(id, self.wanted(order)?).await?,
        };
        for step in Step::ALL.into_iter().filter(|step| *step <= last) {
            if cancel.is_cancelled() {
                return Err(LocalError::Cancelled(id.to_owned()));
            }
            self.carry_out(step, &mut record).await?;
        }
        Ok(record)
    }

    /// Makes whatever a machine lacks to run: after a power cut its processes, after a reboot of the host all but its disk.
    pub(super) async fn carry_out(&self, step: Step, record: &mut Record) -> Result<(), LocalError> {
        let directory = self.records.directory(&record.id);
        match step {
            Step::Disk => Disk::new(&directory).mount(&record.base).await,
            Step::Personality if record.stage == Stage::Making => self.give_personality(record).await,
            // Its record is what brought us here.
            Step::Personality | Step::Record => Ok(()),
            Step::Bridge => {
                let _lock = lock_host().await?;
                let bridges = Bridges { owner: &self.settings.state_dir };
                bridges.ensure(&record.bridge, record.network).await
            }
            Step::Namespace => namespace::ensure(&record.id).await,
            Step::Cable => namespace::connect(record).await,
            Step::Groups => self.hierarchies()?.make(&record.id, record.limits),
            Step::Boot => boot::switch_on(self.hierarchies()?, &directory, record).await,
        }
    }

    fn wanted(&self, order: &TaskOrder) -> Result<Wanted, LocalError> {
        let node = &order.config.node;
        if !matches!(node.sshuser.as_str(), "" | USER) {
            let remedy = "set the image type's sshuser for this provider to root";
            return Err(
                Invalid::new("sshuser", &node.sshuser, "is not let in by local machines", remedy).into()
            );
        }
        if let Some(name) = &node.hostname {
            check_hostname(name)?;
        }
        let wishes = Wishes::read(&self.settings, &order.config.provider.provisioner)?;
        Ok(Wanted {
            node: order.node_id.to_string(),
            hostname: node.hostname.clone(),
            base: images::find(&self.settings.images_dir, &node.image)?,
            limits: read_flavor(&node.flavor, wishes.limits)?,
            wishes,
        })
    }

    /// Gives the machine an address and keys, durably, before anything is made of it.
    async fn put_on_record(&self, id: &str, wanted: Wanted) -> Result<Record, LocalError> {
        let installation = self.installation().await?;
        let network_wish = wanted.wishes.network.map(|network| network.to_string()).unwrap_or_default();
        let bridge = wanted
            .wishes
            .bridge
            .unwrap_or_else(|| format!("coopbr-{}", short_hash(&[&installation, &network_wish], 3)));
        let _lock = lock_host().await?;
        let records = self.records.clone();
        let all = blocking(move || records.all()).await?;
        let known = all.iter().find(|record| record.bridge == bridge).map(|record| record.network);
        let bridges = Bridges { owner: &self.settings.state_dir };
        let network = bridges.choose(&bridge, wanted.wishes.network, known).await?;
        let taken =
            all.iter().filter(|record| record.bridge == bridge).map(|record| record.address).collect();
        let address = network.first_free(&taken).ok_or_else(|| {
            let fault = format!("has no address left; {} machines are on bridge {bridge}", taken.len());
            Refusal::new(
                format!("network {network}"),
                fault,
                "delete machines, or set a larger network with another bridge",
            )
        })?;
        let keys = keys::generate(id)?;
        let record = Record {
            id: id.to_owned(),
            node: wanted.node,
            hostname: wanted.hostname.unwrap_or_else(|| id.to_owned()),
            base: wanted.base,
            bridge,
            network,
            address,
            limits: wanted.limits,
            host_key: keys.public,
            stage: Stage::Making,
        };
        let (records, added) = (self.records.clone(), record.clone());
        blocking(move || records.add(&added, &[(HOST_KEY, keys.private.as_bytes())])).await?;
        Ok(record)
    }

    async fn give_personality(&self, record: &mut Record) -> Result<(), LocalError> {
        let identity = self.identity().await?;
        let (records, copy) = (self.records.clone(), record.clone());
        *record = blocking(move || {
            use super::fault::At;
            let mut record = copy;
            let directory = records.directory(&record.id);
            let key_file = directory.join(HOST_KEY);
            let authorized_key = identity.public_key().to_openssh().map_err(std::io::Error::other);
            let personality = Personality {
                host_key: std::fs::read_to_string(&key_file).at("read", &key_file)?,
                authorized_key: authorized_key.at("read", &directory)?,
                resolv_conf: resolv_conf(),
            };
            write_all(&Disk::new(&directory).root, &guest_files(&record, personality))?;
            records.set_stage(&mut record, Stage::Ready)?;
            Ok(record)
        })
        .await?;
        Ok(())
    }
}

fn check_hostname(name: &str) -> Result<(), Invalid> {
    let label = |label: &str| {
        let letters = label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
        letters && (1..=63).contains(&label.len()) && !label.starts_with('-') && !label.ends_with('-')
    };
    if name.len() <= LONGEST_HOSTNAME && name.split('.').all(label) {
        return Ok(());
    }
    let remedy =
        "use a shorter cluster name or DNS suffix; letters, digits, '-' and '.', at most 64 characters";
    Err(Invalid::new("hostname", name, "is not a host name", remedy))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn host_names_are_checked() {
        for good in ["a", "web-1.example.org", &"x".repeat(63)] {
            assert_eq!(check_hostname(good), Ok(()));
        }
        for bad in ["", "a b", "a..b", "-a", "a\nb", "ä", &"x".repeat(64), &"x.".repeat(40)] {
            assert_eq!(check_hostname(bad).unwrap_err().field, "hostname", "{bad:?}");
        }
    }
}
