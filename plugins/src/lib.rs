//! Cooperage: plugins.
