//! Cooperage: actors.
