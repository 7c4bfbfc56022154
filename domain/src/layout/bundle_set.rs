//! A small set of bundles, as bits.

use std::ops::{BitAnd, BitOr, Sub};

/// Largest number of bundles a problem may have.
pub(super) const MAX_BUNDLES: usize = u128::BITS as usize;

/// Indices of bundles, below [`MAX_BUNDLES`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct BundleSet(u128);

impl BundleSet {
    pub(super) const EMPTY: Self = Self(0);

    /// The bundles `0..count`.
    pub(super) fn first(count: usize) -> Self {
        (0..count).collect()
    }

    pub(super) fn with(self, bundle: usize) -> Self {
        Self(self.0 | 1 << bundle)
    }

    pub(super) fn without(self, bundle: usize) -> Self {
        Self(self.0 & !(1 << bundle))
    }

    pub(super) fn contains(self, bundle: usize) -> bool {
        self.0 >> bundle & 1 == 1
    }

    pub(super) fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(super) fn len(self) -> u32 {
        self.0.count_ones()
    }

    pub(super) fn is_subset(self, other: Self) -> bool {
        (self - other).is_empty()
    }

    /// Its lowest index.
    pub(super) fn lowest(self) -> Option<usize> {
        (!self.is_empty()).then(|| self.0.trailing_zeros() as usize)
    }

    /// Its indices, ascending.
    pub(super) fn iter(self) -> impl Iterator<Item = usize> {
        let mut rest = self;
        std::iter::from_fn(move || {
            let bundle = rest.lowest()?;
            rest = rest.without(bundle);
            Some(bundle)
        })
    }
}

impl BitAnd for BundleSet {
    type Output = Self;

    fn bitand(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

impl BitOr for BundleSet {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl Sub for BundleSet {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }
}

impl FromIterator<usize> for BundleSet {
    fn from_iter<I: IntoIterator<Item = usize>>(bundles: I) -> Self {
        bundles.into_iter().fold(Self::EMPTY, Self::with)
    }
}
