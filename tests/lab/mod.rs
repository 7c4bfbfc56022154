//! A server of a test's own: started, killed, asked over HTTP, and gone when the test ends.

// Each test binary uses a part of it.
#![allow(dead_code, unused_imports)]

mod catalog;
mod client;
mod server;

pub use catalog::{apply, apply_folder, upload};
pub use client::{Answer, Client};
pub use server::Server;

use std::time::{Duration, Instant};

/// Asks again and again until there is an answer.
///
/// # Panics
/// When there is none within `limit`.
pub fn wait_for<T>(what: &str, limit: Duration, mut look: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + limit;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < deadline, "{what}: not within {limit:?}");
        std::thread::sleep(Duration::from_millis(20));
    }
}
