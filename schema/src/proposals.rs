//! Changes to clusters that are stored to be made later: plans that were saved, and drafts. What they say is the caller's
//! matter; here each is carried out once, and nobody overwrites what somebody else has changed.

use cooperage_domain::id::ClusterId;
use diesel::prelude::*;

use crate::engine::Engine;
use crate::entity_state::Expected;
use crate::error::StoreError;
use crate::store::Store;
use crate::tables::proposals;

/// What a proposal is called in refusals.
const WHAT: &str = "proposal";

/// Which kind of proposal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ProposalKind {
    /// Carried out exactly as it was shown, or not at all.
    Plan,
    /// Worked on, and carried over to a later state where nothing is in its way.
    Draft,
    /// The same for a cluster that does not exist yet.
    NewCluster,
}

impl ProposalKind {
    /// As it is stored.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Plan => "plan",
            Self::Draft => "draft",
            Self::NewCluster => "new cluster",
        }
    }
}

/// A change that is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proposal {
    /// Of which cluster.
    pub cluster: ClusterId,
    /// Whose cluster that would be, while it does not say so itself: of drafts of new clusters only.
    pub tenant: Option<String>,
    /// From 1, in the order in which those of the cluster were made; 0 for one that is to be numbered.
    pub number: u64,
    /// Which kind.
    pub kind: ProposalKind,
    /// What it is for, in words.
    pub title: String,
    /// Number of the cluster's last event when it was made.
    pub base: u64,
    /// What is to be done, as JSON without secrets.
    pub document: String,
    /// What a plan would record, as JSON.
    pub decided: Option<String>,
    /// What was told of a plan, as JSON.
    pub preview: Option<String>,
    /// How often it was changed.
    pub edition: u64,
    /// When it was made, in milliseconds since 1970.
    pub created_ms: i64,
    /// By whom.
    pub created_by: String,
    /// When it was changed last.
    pub changed_ms: i64,
    /// By whom.
    pub changed_by: String,
    /// When it was carried out, and by whom.
    pub done: Option<(i64, String)>,
}

type Columns = (
    i64,
    i64,
    String,
    String,
    i64,
    String,
    Option<String>,
    Option<String>,
    i64,
    i64,
    String,
    i64,
    String,
    Option<i64>,
    Option<String>,
    Option<String>,
);

fn proposal(columns: Columns) -> Result<Proposal, StoreError> {
    let kind = match columns.2.as_str() {
        "plan" => ProposalKind::Plan,
        "draft" => ProposalKind::Draft,
        "new cluster" => ProposalKind::NewCluster,
        other => return Err(StoreError::corrupt("column proposals.kind", other)),
    };
    Ok(Proposal {
        cluster: ClusterId(columns.0.cast_unsigned()),
        number: columns.1.cast_unsigned(),
        kind,
        title: columns.3,
        base: columns.4.cast_unsigned(),
        document: columns.5,
        decided: columns.6,
        preview: columns.7,
        edition: columns.8.cast_unsigned(),
        created_ms: columns.9,
        created_by: columns.10,
        changed_ms: columns.11,
        changed_by: columns.12,
        done: columns.13.zip(columns.14),
        tenant: columns.15,
    })
}

fn find(engine: &mut Engine, cluster: ClusterId, number: u64) -> Result<Option<Proposal>, StoreError> {
    let key = (cluster.0.cast_signed(), number.cast_signed());
    let row: Option<Columns> = proposals::table.find(key).first(engine).optional()?;
    row.map(proposal).transpose()
}

fn open(engine: &mut Engine, cluster: ClusterId, number: u64) -> Result<Proposal, StoreError> {
    let name = format!("{number} of cluster {cluster}");
    let found = find(engine, cluster, number)?;
    let found = found.ok_or_else(|| StoreError::NotFound { what: WHAT, name: name.clone() })?;
    match &found.done {
        None => Ok(found),
        Some((_, by)) => Err(StoreError::Done { what: found.kind.as_str(), name, by: by.clone() }),
    }
}

impl Store {
    /// Stores a new proposal, and gives its number. Blocks until it is durable.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn add_proposal(&self, new: Proposal) -> Result<u64, StoreError> {
        self.write(move |engine| {
            let cluster = new.cluster.0.cast_signed();
            let last: Option<i64> = proposals::table
                .filter(proposals::cluster.eq(cluster))
                .select(diesel::dsl::max(proposals::number))
                .first(engine)?;
            let number = last.unwrap_or(0) + 1;
            diesel::insert_into(proposals::table)
                .values((
                    proposals::cluster.eq(cluster),
                    proposals::tenant.eq(new.tenant),
                    proposals::number.eq(number),
                    proposals::kind.eq(new.kind.as_str()),
                    proposals::title.eq(new.title),
                    proposals::base.eq(new.base.cast_signed()),
                    proposals::document.eq(new.document),
                    proposals::decided.eq(new.decided),
                    proposals::preview.eq(new.preview),
                    proposals::edition.eq(1),
                    proposals::created_ms.eq(new.created_ms),
                    proposals::created_by.eq(&new.created_by),
                    proposals::changed_ms.eq(new.created_ms),
                    proposals::changed_by.eq(&new.created_by),
                ))
                .execute(engine)?;
            Ok(number.cast_unsigned())
        })
    }

    /// One proposal of a cluster.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn proposal(&self, cluster: ClusterId, number: u64) -> Result<Option<Proposal>, StoreError> {
        self.read(|engine| find(engine, cluster, number))
    }

    /// A cluster's proposals of a kind, newest first.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn proposals(&self, cluster: ClusterId, kind: ProposalKind) -> Result<Vec<Proposal>, StoreError> {
        let rows: Vec<Columns> = self.read(|engine| {
            Ok(proposals::table
                .filter(proposals::cluster.eq(cluster.0.cast_signed()))
                .filter(proposals::kind.eq(kind.as_str()))
                .order(proposals::number.desc())
                .load(engine)?)
        })?;
        rows.into_iter().map(proposal).collect()
    }

    /// A tenant's drafts of clusters that do not exist yet, newest first.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn drafted_clusters(&self, tenant: &str) -> Result<Vec<Proposal>, StoreError> {
        let rows: Vec<Columns> = self.read(|engine| {
            Ok(proposals::table
                .filter(proposals::kind.eq(ProposalKind::NewCluster.as_str()))
                .filter(proposals::tenant.eq(tenant))
                .order(proposals::cluster.desc())
                .load(engine)?)
        })?;
        rows.into_iter().map(proposal).collect()
    }

    /// Changes a proposal that was not carried out, if it is in the edition that is expected: title, base and document
    /// become those of `new`, whose `changed_…` say when and by whom. Blocks until it is durable.
    ///
    /// # Errors
    /// When there is none, it was carried out, it is in another edition, or the database cannot be written.
    pub fn change_proposal(&self, new: Proposal, expected: Expected) -> Result<(), StoreError> {
        self.write(move |engine| {
            let found = open(engine, new.cluster, new.number)?;
            let now = found.edition.to_string();
            if !expected.is_met_by(Some(&now)) {
                let name = format!("{} of cluster {}", new.number, new.cluster);
                return Err(StoreError::Changed { what: WHAT, name, now: Some(now) });
            }
            diesel::update(proposals::table.find((new.cluster.0.cast_signed(), new.number.cast_signed())))
                .set((
                    proposals::title.eq(new.title),
                    proposals::base.eq(new.base.cast_signed()),
                    proposals::document.eq(new.document),
                    proposals::edition.eq(found.edition.cast_signed() + 1),
                    proposals::changed_ms.eq(new.changed_ms),
                    proposals::changed_by.eq(new.changed_by),
                ))
                .execute(engine)?;
            Ok(())
        })
    }

    /// Notes that a proposal is carried out, before it is: of several who do so at once, one succeeds. Blocks until it is
    /// durable.
    ///
    /// # Errors
    /// When there is none, it was carried out, it is in another edition, or the database cannot be written.
    pub fn take_proposal(&self, taken: &Proposal, at_ms: i64, by: &str) -> Result<(), StoreError> {
        let (cluster, number, edition, by) = (taken.cluster, taken.number, taken.edition, by.to_owned());
        self.write(move |engine| {
            let found = open(engine, cluster, number)?;
            if found.edition != edition {
                let name = format!("{number} of cluster {cluster}");
                return Err(StoreError::Changed { what: WHAT, name, now: Some(found.edition.to_string()) });
            }
            set_done(engine, cluster, number, Some((at_ms, by)))
        })
    }

    /// Takes the note back: it was not carried out after all. Blocks until it is durable.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn release_proposal(&self, cluster: ClusterId, number: u64) -> Result<(), StoreError> {
        self.write(move |engine| set_done(engine, cluster, number, None))
    }

    /// Forgets a proposal that was not carried out. Blocks until it is durable.
    ///
    /// # Errors
    /// When there is none, it was carried out, or the database cannot be written.
    pub fn delete_proposal(&self, cluster: ClusterId, number: u64) -> Result<(), StoreError> {
        self.write(move |engine| {
            open(engine, cluster, number)?;
            let key = (cluster.0.cast_signed(), number.cast_signed());
            diesel::delete(proposals::table.find(key)).execute(engine)?;
            Ok(())
        })
    }
}

fn set_done(
    engine: &mut Engine,
    cluster: ClusterId,
    number: u64,
    done: Option<(i64, String)>,
) -> Result<(), StoreError> {
    let (at, by) = done.unzip();
    diesel::update(proposals::table.find((cluster.0.cast_signed(), number.cast_signed())))
        .set((proposals::done_ms.eq(at), proposals::done_by.eq(by)))
        .execute(engine)?;
    Ok(())
}
