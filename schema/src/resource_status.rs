//! How a version of a plugin resource comes into use and goes out of it.
//!
//! In two steps: staging and recalling say what is wanted, and a sync makes it so, for all of a tenant's resources at once.

/// Where a version stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ResourceStatus {
    /// Not in use.
    Inactive,
    /// In use from the next sync on.
    Staged,
    /// In use.
    Active,
    /// In use until the next sync.
    Recalled,
}

impl ResourceStatus {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Inactive, Self::Staged, Self::Active, Self::Recalled];

    /// As it is stored and shown.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Inactive => "inactive",
            Self::Staged => "staged",
            Self::Active => "active",
            Self::Recalled => "recalled",
        }
    }

    /// The status of this name, in any case.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str().eq_ignore_ascii_case(text))
    }

    /// Once this version is staged.
    #[must_use]
    pub const fn staged(self) -> Self {
        match self {
            Self::Inactive | Self::Staged => Self::Staged,
            // It still is in use: taking the recall back is all there is to do.
            Self::Active | Self::Recalled => Self::Active,
        }
    }

    /// Once another version of the same name is staged: only one can be in use after the next sync.
    #[must_use]
    pub const fn displaced(self) -> Self {
        match self {
            Self::Inactive | Self::Staged => Self::Inactive,
            Self::Active | Self::Recalled => Self::Recalled,
        }
    }

    /// Once this version is recalled.
    #[must_use]
    pub const fn recalled(self) -> Self {
        match self {
            Self::Inactive | Self::Staged => Self::Inactive,
            Self::Active | Self::Recalled => Self::Recalled,
        }
    }

    /// After a sync.
    #[must_use]
    pub const fn synced(self) -> Self {
        match self {
            Self::Inactive | Self::Recalled => Self::Inactive,
            Self::Staged | Self::Active => Self::Active,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::ResourceStatus::{Active, Inactive, Recalled, Staged};
    use super::*;

    #[test]
    fn the_life_of_a_version() {
        for (status, staged, displaced, recalled, synced) in [
            (Inactive, Staged, Inactive, Inactive, Inactive),
            (Staged, Staged, Inactive, Inactive, Active),
            (Active, Active, Recalled, Recalled, Active),
            (Recalled, Active, Recalled, Recalled, Inactive),
        ] {
            assert_eq!(status.staged(), staged, "{status:?} staged");
            assert_eq!(status.displaced(), displaced, "{status:?} displaced");
            assert_eq!(status.recalled(), recalled, "{status:?} recalled");
            assert_eq!(status.synced(), synced, "{status:?} synced");
        }
    }

    #[test]
    fn words_are_read_in_any_case() {
        assert_eq!(ResourceStatus::parse("Staged"), Some(Staged));
        assert_eq!(ResourceStatus::parse("live"), None);
    }
}
