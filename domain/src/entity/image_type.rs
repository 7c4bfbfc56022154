//! Hardware types and image types: what a node is made of, in each provider's own words.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::base::{Base, Entity, Kind, check_name};
use crate::invalid::Invalid;

/// Login used where an image type names none.
pub const DEFAULT_SSH_USER: &str = "root";

/// By provider **name**: that provider's words for this type.
pub type ProviderMap = BTreeMap<String, BTreeMap<String, String>>;

/// A size of machine. Usable with a provider only if its entry there has a `flavor`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct HardwareType {
    /// Common fields.
    #[serde(flatten)]
    pub base: Base,
    /// By provider name; `flavor` is what the provider plugin is given, `price` (optional) what a machine costs per hour.
    #[serde(default, deserialize_with = "crate::lenient::map_of_text_maps")]
    pub providermap: ProviderMap,
}

impl HardwareType {
    /// The provider's word for this size; `None` means it cannot be used there.
    #[must_use]
    pub fn flavor(&self, provider: &str) -> Option<&str> {
        self.providermap.get(provider)?.get("flavor").map(String::as_str)
    }

    /// What a machine of this size costs per hour there, in whatever money the operator counts. What is no number is no price.
    #[must_use]
    pub fn price(&self, provider: &str) -> Option<f64> {
        let price: f64 = self.providermap.get(provider)?.get("price")?.trim().parse().ok()?;
        (price.is_finite() && price >= 0.0).then_some(price)
    }
}

/// A system on a machine. Usable with a provider only if its entry there has an `image`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ImageType {
    /// Common fields.
    #[serde(flatten)]
    pub base: Base,
    /// By provider name; `image` is what the provider plugin is given, `sshuser` the login (default `root`).
    #[serde(default, deserialize_with = "crate::lenient::map_of_text_maps")]
    pub providermap: ProviderMap,
}

impl ImageType {
    /// The provider's word for this image; `None` means it cannot be used there.
    #[must_use]
    pub fn image(&self, provider: &str) -> Option<&str> {
        self.providermap.get(provider)?.get("image").map(String::as_str)
    }

    /// Who to log in as on a machine made from this image.
    #[must_use]
    pub fn ssh_user(&self, provider: &str) -> &str {
        self.providermap
            .get(provider)
            .and_then(|entry| entry.get("sshuser"))
            .filter(|user| !user.is_empty())
            .map_or(DEFAULT_SSH_USER, String::as_str)
    }
}

impl Entity for HardwareType {
    const KIND: Kind = Kind::HardwareType;

    fn base(&self) -> &Base {
        &self.base
    }

    fn base_mut(&mut self) -> &mut Base {
        &mut self.base
    }

    fn check(&self) -> Result<(), Invalid> {
        check_name("name", &self.base.name)
    }
}

impl Entity for ImageType {
    const KIND: Kind = Kind::ImageType;

    fn base(&self) -> &Base {
        &self.base
    }

    fn base_mut(&mut self) -> &mut Base {
        &mut self.base
    }

    fn check(&self) -> Result<(), Invalid> {
        check_name("name", &self.base.name)
    }
}
