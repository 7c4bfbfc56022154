//! Lines as they lie in a chunk: plain bytes, with no database in sight.
//!
//! ```text
//!   lines, bytes of times, bytes of lengths: three numbers of 4 bytes
//!   a letter for each line's stream
//!   each line's time, as the difference to the one before      (varint of the zigzag)
//!   each line's length                                        (varint)
//!   all texts, each with a line feed behind it
//! ```
//!
//! Like beside like compresses well, and a text is looked for in all lines at once.

use std::ops::Range;

use super::{OutputLine, Stream};
use crate::error::StoreError;

/// What a line of a chunk has of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineRef<'a> {
    pub at_ms: i64,
    pub stream: Stream,
    pub text: &'a str,
}

impl<'a> From<&'a OutputLine> for LineRef<'a> {
    fn from(line: &'a OutputLine) -> Self {
        Self { at_ms: line.at_ms, stream: line.stream, text: &line.text }
    }
}

/// Puts lines together. Times are told as differences, the first to `first_ms`.
pub fn write<'a>(lines: impl Iterator<Item = LineRef<'a>>, first_ms: i64) -> Vec<u8> {
    let (mut streams, mut times, mut lengths, mut text) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut before = first_ms;
    for line in lines {
        streams.push(line.stream.letter());
        let difference = line.at_ms.wrapping_sub(before);
        put(&mut times, ((difference << 1) ^ (difference >> 63)).cast_unsigned());
        put(&mut lengths, line.text.len() as u64);
        text.extend_from_slice(line.text.as_bytes());
        text.push(b'\n');
        before = line.at_ms;
    }
    let mut bytes = Vec::with_capacity(12 + streams.len() + times.len() + lengths.len() + text.len());
    for length in [streams.len(), times.len(), lengths.len()] {
        bytes.extend_from_slice(&u32::try_from(length).unwrap_or(u32::MAX).to_le_bytes());
    }
    for part in [streams, times, lengths, text] {
        bytes.extend_from_slice(&part);
    }
    bytes
}

/// Lines put together by [`write`].
#[derive(Debug)]
pub struct Block {
    bytes: Vec<u8>,
    streams: Range<usize>,
    times: Range<usize>,
    lengths: Range<usize>,
    first_ms: i64,
}

impl Block {
    /// Finds the parts.
    ///
    /// # Errors
    /// When it is no block.
    pub fn read(bytes: Vec<u8>, first_ms: i64) -> Result<Self, StoreError> {
        let number = |at: usize| {
            let found = bytes.get(at..at + 4)?.try_into().ok()?;
            usize::try_from(u32::from_le_bytes(found)).ok()
        };
        let parts = || {
            let (streams, times, lengths) = (number(0)?, number(4)?, number(8)?);
            let streams = 12..streams.checked_add(12)?;
            let times = streams.end..streams.end.checked_add(times)?;
            let lengths = times.end..times.end.checked_add(lengths)?;
            (lengths.end <= bytes.len()).then_some((streams, times, lengths))
        };
        let (streams, times, lengths) = parts().ok_or_else(|| broken("its parts are longer than it is"))?;
        Ok(Self { streams, times, lengths, first_ms, bytes })
    }

    /// One line, as it lies in a chunk of its own: behind a letter for its stream.
    ///
    /// # Errors
    /// When there is none.
    pub fn of_line(data: &[u8], first_ms: i64) -> Result<Self, StoreError> {
        let (letter, text) = data.split_first().ok_or_else(|| broken("it is empty"))?;
        let text = str::from_utf8(text).map_err(|_| broken("its text is not UTF-8"))?;
        let line = LineRef { at_ms: first_ms, stream: Stream::of_letter(*letter)?, text };
        Self::read(write(std::iter::once(line), first_ms), first_ms)
    }

    /// All texts, each with a line feed behind it.
    pub fn text(&self) -> &[u8] {
        self.bytes.get(self.lengths.end..).unwrap_or_default()
    }

    /// Where in [`Self::text`] each line lies, without its line feed.
    ///
    /// # Errors
    /// When the lengths are not those of the text.
    pub fn spans(&self) -> Result<Vec<Range<usize>>, StoreError> {
        let mut lengths = self.bytes.get(self.lengths.clone()).unwrap_or_default();
        let mut spans = Vec::with_capacity(self.streams.len());
        let mut start = 0_usize;
        while !lengths.is_empty() {
            let length = usize::try_from(take(&mut lengths)?).unwrap_or(usize::MAX);
            let end = start.checked_add(length).filter(|end| *end < self.text().len());
            let end = end.ok_or_else(|| broken("a line is longer than the text"))?;
            spans.push(start..end);
            start = end + 1;
        }
        if spans.len() != self.streams.len() {
            return Err(broken("it has not as many lengths as lines"));
        }
        Ok(spans)
    }

    /// All lines in order.
    ///
    /// # Errors
    /// When it is damaged.
    pub fn lines(&self) -> Result<Vec<LineRef<'_>>, StoreError> {
        let mut times = self.bytes.get(self.times.clone()).unwrap_or_default();
        let streams = self.bytes.get(self.streams.clone()).unwrap_or_default();
        let text = str::from_utf8(self.text()).map_err(|_| broken("its text is not UTF-8"))?;
        let mut before = self.first_ms;
        let line = |(span, letter): (Range<usize>, &u8)| {
            let zigzag = take(&mut times)?;
            before = before.wrapping_add((zigzag >> 1).cast_signed() ^ -((zigzag & 1).cast_signed()));
            let text = text.get(span).ok_or_else(|| broken("a line ends within a letter"))?;
            Ok(LineRef { at_ms: before, stream: Stream::of_letter(*letter)?, text })
        };
        self.spans()?.into_iter().zip(streams).map(line).collect()
    }
}

fn broken(cause: &str) -> StoreError {
    StoreError::corrupt("a chunk of a task's output", cause)
}

fn put(bytes: &mut Vec<u8>, mut number: u64) {
    while let Ok(low) = u8::try_from(number & 0x7f) {
        number >>= 7;
        if number == 0 {
            bytes.push(low);
            return;
        }
        bytes.push(low | 0x80);
    }
}

fn take(bytes: &mut &[u8]) -> Result<u64, StoreError> {
    let mut number = 0_u64;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = bytes.split_first().ok_or_else(|| broken("a number breaks off"))?;
        *bytes = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Ok(number);
        }
    }
    Err(broken("a number is too long"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn any_line() -> impl Strategy<Value = (i64, Stream, String)> {
        let stream = prop_oneof![Just(Stream::Stdout), Just(Stream::Stderr), Just(Stream::System)];
        (any::<i64>(), stream, "(?s).{0,40}")
    }

    proptest! {
        #[test]
        fn lines_come_back_as_they_were(lines in proptest::collection::vec(any_line(), 0..50), first: i64) {
            let lines: Vec<LineRef<'_>> =
                lines.iter().map(|(at_ms, stream, text)| LineRef { at_ms: *at_ms, stream: *stream, text }).collect();
            let block = Block::read(write(lines.iter().copied(), first), first).unwrap();
            prop_assert_eq!(block.lines().unwrap(), lines);
        }

        #[test]
        fn no_bytes_make_it_panic(bytes: Vec<u8>, first: i64) {
            let _ = Block::of_line(&bytes, first).and_then(|block| block.lines().map(drop));
            let _ = Block::read(bytes, first).and_then(|block| block.lines().map(drop));
        }
    }
}
