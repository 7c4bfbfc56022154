//! Plugin resources: which files plugins use, in which versions. The bytes are on disk; here is what is known of them.

use diesel::prelude::*;

use crate::counters;
use crate::engine::Engine;
use crate::error::StoreError;
use crate::resource_status::ResourceStatus;
use crate::sql::{Statement, Value};
use crate::store::Store;
use crate::tables::resources;

/// What sort of plugin uses a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PluginSide {
    /// A provider.
    Provider,
    /// An automator.
    Automator,
}

impl PluginSide {
    /// As it is stored, and as it stands in the paths of the API.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Provider => "providertypes",
            Self::Automator => "automatortypes",
        }
    }

    /// The side that is written like this.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        [Self::Provider, Self::Automator].into_iter().find(|side| side.as_str() == text)
    }
}

/// The resources of one type, of one plugin, of one tenant.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ResourcePath {
    /// Id of the tenant.
    pub tenant: String,
    /// What sort of plugin.
    pub side: PluginSide,
    /// Name of the plugin.
    pub plugin: String,
    /// The type, as the plugin declares it.
    pub kind: String,
}

/// One version of a resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resource {
    /// Whose it is.
    pub of: ResourcePath,
    /// Its name.
    pub name: String,
    /// Its version, from 1; never given again for the name.
    pub version: u64,
    /// Where it stands.
    pub status: ResourceStatus,
    /// Hash of the bytes, in hexadecimal.
    pub sha256: String,
    /// How many bytes.
    pub size: u64,
}

type Columns = (String, String, String, String, String, i64, String, String, i64);

fn resource(columns: Columns) -> Result<Resource, StoreError> {
    let (tenant, side, plugin, kind, name, version, status, sha256, size) = columns;
    let side = PluginSide::parse(&side).ok_or_else(|| StoreError::corrupt("column resources.side", side))?;
    let status = ResourceStatus::parse(&status)
        .ok_or_else(|| StoreError::corrupt("column resources.status", status))?;
    Ok(Resource {
        of: ResourcePath { tenant, side, plugin, kind },
        name,
        version: version.cast_unsigned(),
        status,
        sha256,
        size: size.cast_unsigned(),
    })
}

const SET_STATUS: &str = "UPDATE resources SET status = ? WHERE tenant = ? AND side = ? AND plugin = ? \
    AND kind = ? AND name = ? AND version = ?";

fn set_status(engine: &mut Engine, row: &Resource, status: ResourceStatus) -> QueryResult<()> {
    if row.status == status {
        return Ok(());
    }
    let values = [
        Value::text(status.as_str()),
        Value::text(&row.of.tenant),
        Value::text(row.of.side.as_str()),
        Value::text(&row.of.plugin),
        Value::text(&row.of.kind),
        Value::text(&row.name),
        Value::unsigned(row.version),
    ];
    Statement::<_>::new(SET_STATUS, &values).execute(engine)?;
    Ok(())
}

/// All versions of a type, or of one name of it, by name and version.
fn select(engine: &mut Engine, of: &ResourcePath, name: Option<&str>) -> Result<Vec<Resource>, StoreError> {
    let mut query = resources::table
        .filter(resources::tenant.eq(&of.tenant))
        .filter(resources::side.eq(of.side.as_str()))
        .filter(resources::plugin.eq(&of.plugin))
        .filter(resources::kind.eq(&of.kind))
        .into_boxed::<<Engine as Connection>::Backend>();
    if let Some(name) = name {
        query = query.filter(resources::name.eq(name));
    }
    let rows: Vec<Columns> = query.load(engine)?;
    sorted(rows)
}

fn select_tenant(engine: &mut Engine, tenant: &str) -> Result<Vec<Resource>, StoreError> {
    sorted(resources::table.filter(resources::tenant.eq(tenant)).load(engine)?)
}

/// Sorted here, since the order of text in the database depends on how it was set up.
fn sorted(rows: Vec<Columns>) -> Result<Vec<Resource>, StoreError> {
    let mut all: Vec<Resource> = rows.into_iter().map(resource).collect::<Result<_, _>>()?;
    all.sort_by(|a, b| (&a.of, &a.name, a.version).cmp(&(&b.of, &b.name, b.version)));
    Ok(all)
}

fn insert(engine: &mut Engine, row: &Resource) -> QueryResult<()> {
    diesel::insert_into(resources::table)
        .values((
            resources::tenant.eq(&row.of.tenant),
            resources::side.eq(row.of.side.as_str()),
            resources::plugin.eq(&row.of.plugin),
            resources::kind.eq(&row.of.kind),
            resources::name.eq(&row.name),
            resources::version.eq(row.version.cast_signed()),
            resources::status.eq(row.status.as_str()),
            resources::sha256.eq(&row.sha256),
            resources::size.eq(row.size.cast_signed()),
        ))
        .execute(engine)?;
    Ok(())
}

fn delete(engine: &mut Engine, row: &Resource) -> Result<(), StoreError> {
    if row.status != ResourceStatus::Inactive {
        return Err(StoreError::InUse {
            what: "version of a plugin resource",
            name: format!("{}/{}", row.name, row.version),
            status: row.status.as_str().to_owned(),
            remedy: "recall it and sync first",
        });
    }
    let of = &row.of;
    let key = (&of.tenant, of.side.as_str(), &of.plugin, &of.kind, &row.name, row.version.cast_signed());
    diesel::delete(resources::table.find(key)).execute(engine)?;
    Ok(())
}

fn no_version(name: &str, version: u64) -> StoreError {
    StoreError::NotFound { what: "version of a plugin resource", name: format!("{name}/{version}") }
}

/// Under which name versions are counted: they outlive the rows, so that none is given twice.
fn counter(of: &ResourcePath, name: &str) -> String {
    format!("resource/{}/{}/{}/{}/{name}", of.tenant, of.side.as_str(), of.plugin, of.kind)
}

impl Store {
    /// The number of a new version of a name: one above the highest there ever was.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn number_resource(&self, of: &ResourcePath, name: &str) -> Result<u64, StoreError> {
        self.next_number(&counter(of, name), 1, 1)
    }

    /// Makes a version known whose bytes are in their place.
    ///
    /// # Errors
    /// [`StoreError::Contended`] when the name has this version, or when the database cannot be written.
    pub fn add_resource(&self, row: Resource) -> Result<(), StoreError> {
        self.write(move |engine| Ok(insert(engine, &row)?))
    }

    /// The versions of all resources of a type, or of one name, by name and version.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn resources(&self, of: &ResourcePath, name: Option<&str>) -> Result<Vec<Resource>, StoreError> {
        self.read(|engine| select(engine, of, name))
    }

    /// The versions a tenant's plugins use now: those that are active, and those recalled but not synced.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn live_resources(&self, tenant: &str) -> Result<Vec<Resource>, StoreError> {
        let mut all = self.read(|engine| select_tenant(engine, tenant))?;
        all.retain(|row| matches!(row.status, ResourceStatus::Active | ResourceStatus::Recalled));
        Ok(all)
    }

    /// Wants a version in use from the next sync on, and every other version of the name out of it.
    ///
    /// # Errors
    /// [`StoreError::NotFound`], or when the database cannot be written.
    pub fn stage_resource(&self, of: &ResourcePath, name: &str, version: u64) -> Result<(), StoreError> {
        self.change_resource(of, name, version, move |row| {
            if row.version == version { row.status.staged() } else { row.status.displaced() }
        })
    }

    /// Wants a version out of use from the next sync on.
    ///
    /// # Errors
    /// [`StoreError::NotFound`], or when the database cannot be written.
    pub fn recall_resource(&self, of: &ResourcePath, name: &str, version: u64) -> Result<(), StoreError> {
        self.change_resource(of, name, version, move |row| {
            if row.version == version { row.status.recalled() } else { row.status }
        })
    }

    fn change_resource(
        &self,
        of: &ResourcePath,
        name: &str,
        version: u64,
        status: impl Fn(&Resource) -> ResourceStatus + Send + 'static,
    ) -> Result<(), StoreError> {
        let (of, name) = (of.clone(), name.to_owned());
        self.write(move |engine| {
            let all = select(engine, &of, Some(&name))?;
            if !all.iter().any(|row| row.version == version) {
                return Err(no_version(&name, version));
            }
            for row in &all {
                set_status(engine, row, status(row))?;
            }
            Ok(())
        })
    }

    /// Makes what is wanted so, for all resources of a tenant, and gives the versions in use from now on.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn sync_resources(&self, tenant: &str) -> Result<Vec<Resource>, StoreError> {
        let tenant = tenant.to_owned();
        self.write(move |engine| {
            let mut all = select_tenant(engine, &tenant)?;
            for row in &mut all {
                set_status(engine, row, row.status.synced())?;
                row.status = row.status.synced();
            }
            all.retain(|row| row.status == ResourceStatus::Active);
            Ok(all)
        })
    }

    /// Forgets one version of a name.
    ///
    /// # Errors
    /// [`StoreError::NotFound`]; [`StoreError::InUse`] when it is not inactive; or when the database cannot be written.
    pub fn delete_resource(&self, of: &ResourcePath, name: &str, version: u64) -> Result<(), StoreError> {
        let (of, name) = (of.clone(), name.to_owned());
        self.write(move |engine| {
            let all = select(engine, &of, Some(&name))?;
            let row = all.iter().find(|row| row.version == version);
            delete(engine, row.ok_or_else(|| no_version(&name, version))?)
        })
    }

    /// Forgets all versions of a name, or none: gives how many there were.
    ///
    /// # Errors
    /// [`StoreError::InUse`] when one is not inactive, or when the database cannot be written.
    pub fn delete_resources(&self, of: &ResourcePath, name: &str) -> Result<usize, StoreError> {
        let (of, name) = (of.clone(), name.to_owned());
        self.write(move |engine| {
            let all = select(engine, &of, Some(&name))?;
            for row in &all {
                delete(engine, row)?;
            }
            Ok(all.len())
        })
    }
}

/// Gives one tenant every version another has, with numbers and status.
pub(crate) fn copy(engine: &mut Engine, from: &str, to: &str) -> Result<(), StoreError> {
    for row in select_tenant(engine, from)? {
        let mut copy = row;
        to.clone_into(&mut copy.of.tenant);
        insert(engine, &copy)?;
        counters::raise(engine, &counter(&copy.of, &copy.name), copy.version)?;
    }
    Ok(())
}

const FORGET_NUMBERS: &str = "DELETE FROM counters WHERE name LIKE ?";

/// Forgets everything of a tenant that is gone, the numbers given included.
pub(crate) fn clear(engine: &mut Engine, tenant: &str) -> QueryResult<()> {
    diesel::delete(resources::table.filter(resources::tenant.eq(tenant))).execute(engine)?;
    let names = format!("resource/{tenant}/%");
    Statement::<_>::new(FORGET_NUMBERS, &[Value::text(&names)]).execute(engine)?;
    Ok(())
}
