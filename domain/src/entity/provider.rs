//! Providers: accounts at something that makes machines.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::base::{Base, Entity, Kind, check_name};
use crate::invalid::Invalid;

/// An account at something that makes machines, with the administrator's values for its type's fields.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Provider {
    /// Common fields.
    #[serde(flatten)]
    pub base: Base,
    /// Name of the provider type that knows how to use it.
    pub providertype: String,
    /// Values for the fields of the provider type.
    #[serde(default, deserialize_with = "crate::lenient::null_as_default")]
    #[schema(value_type = Object)]
    pub provisioner: Map<String, Value>,
}

/// Names its values and does not show them: some are secrets, and which ones only its type knows.
impl fmt::Debug for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Provider")
            .field("base", &self.base)
            .field("providertype", &self.providertype)
            .field("provisioner", &self.provisioner.keys().collect::<Vec<_>>())
            .finish()
    }
}

impl Entity for Provider {
    const KIND: Kind = Kind::Provider;

    fn base(&self) -> &Base {
        &self.base
    }

    fn base_mut(&mut self) -> &mut Base {
        &mut self.base
    }

    fn check(&self) -> Result<(), Invalid> {
        check_name("name", &self.base.name)?;
        if self.providertype.is_empty() {
            return Err(Invalid::new("providertype", "", "is empty", "name the provider type to use"));
        }
        Ok(())
    }
}
