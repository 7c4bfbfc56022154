//! Unpacking gzip, up to a limit.

use std::cell::Cell;
use std::io::{self, Read};
use std::rc::Rc;

use flate2::read::MultiGzDecoder;

/// So much may come out of one byte, once [`FREE`] bytes have come: text that repeats itself reaches some 100.
const MAX_RATIO: u64 = 200;
/// Bytes that may come out before the ratio counts.
const FREE: u64 = 16 << 20;

/// More came out than may.
#[derive(Debug, thiserror::Error)]
pub(super) enum Excess {
    #[error("the archive unpacks to more than {0} bytes")]
    Bytes(u64),
    #[error("the archive unpacks to more than {MAX_RATIO} times its size, as only bombs do")]
    Ratio,
}

/// What comes out of gzip, up to a limit.
pub(super) struct Bounded<R> {
    inner: MultiGzDecoder<Metered<R>>,
    packed: Rc<Cell<u64>>,
    unpacked: u64,
    limit: u64,
}

impl<R: Read> Bounded<R> {
    pub(super) fn new(packed: R, limit: u64) -> Self {
        let meter = Rc::new(Cell::new(0));
        let inner = MultiGzDecoder::new(Metered { inner: packed, read: Rc::clone(&meter) });
        Self { inner, packed: meter, unpacked: 0, limit }
    }
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.unpacked += read as u64;
        if self.unpacked > self.limit {
            return Err(io::Error::other(Excess::Bytes(self.limit)));
        }
        if self.unpacked > FREE && self.unpacked / MAX_RATIO > self.packed.get() {
            return Err(io::Error::other(Excess::Ratio));
        }
        Ok(read)
    }
}

/// Counts what goes in.
struct Metered<R> {
    inner: R,
    read: Rc<Cell<u64>>,
}

impl<R: Read> Read for Metered<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.read.set(self.read.get() + read as u64);
        Ok(read)
    }
}
