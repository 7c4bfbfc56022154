//! Cooperage: schema.
