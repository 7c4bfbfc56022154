//! A server of a test's own: started, killed, asked over HTTP, and gone when the test ends.

#![allow(dead_code, unused_imports, reason = "each test binary uses a part of it")]

mod catalog;
mod client;
mod server;

pub use catalog::{apply, apply_folder, upload};
pub use client::{Answer, Client, http};
pub use server::Server;

use std::time::{Duration, Instant};

/// Asks again and again until there is an answer.
///
/// # Panics
/// When there is none within `limit`.
pub fn wait_for<T>(what: &str, limit: Duration, look: impl FnMut() -> Option<T>) -> T {
    within(limit, look).unwrap_or_else(|| panic!("{what}: not within {limit:?}"))
}

/// Asks again and again until there is an answer; `None` when there is none within `limit`.
pub fn within<T>(limit: Duration, mut look: impl FnMut() -> Option<T>) -> Option<T> {
    let deadline = Instant::now() + limit;
    loop {
        let found = look();
        if found.is_some() || Instant::now() > deadline {
            return found;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}
