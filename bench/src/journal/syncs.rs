//! How long the disk takes to make something durable: no commit is faster, and who waits for one waits at least so long.

use std::io::{Seek, SeekFrom, Write};
use std::time::Instant;

use serde::Serialize;

use crate::percentile::of_durations;
use crate::{BenchError, Grid};

/// What is written at a time: about what a commit of a busy server writes.
const SIZE: usize = 32 << 10;
/// After so many the file is written from its begin again, as a log is.
const AROUND: usize = 500;

/// How long the disk behind the folder for temporary files took, in ms.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Syncs {
    median: f64,
    p99: f64,
    longest: f64,
}

/// Writes and waits for the disk so many times, one after the other.
///
/// # Errors
/// When nothing can be written.
pub fn measure(times: usize) -> Result<Syncs, BenchError> {
    let mut file = tempfile::tempfile().map_err(BenchError::Folder)?;
    let written = vec![b'x'; SIZE];
    let mut taken = Vec::with_capacity(times);
    for number in 0..times {
        if number % AROUND == 0 {
            file.seek(SeekFrom::Start(0))?;
        }
        file.write_all(&written)?;
        let begun = Instant::now();
        file.sync_data()?;
        taken.push(begun.elapsed());
    }
    let of = |percent| of_durations(&taken, percent);
    Ok(Syncs { median: of(50.0), p99: of(99.0), longest: of(100.0) })
}

impl Syncs {
    /// For people.
    pub fn grid(&self) -> Grid {
        let row = [self.median, self.p99, self.longest].map(|taken| format!("{taken:.2} ms"));
        Grid::new(["32 KIB ON DISK", "P99", "LONGEST"], std::iter::once(row))
    }
}
