//! Finds the end of a command in the endless output of a shell.

/// First byte of every marker: the ASCII record separator, which texts do not hold.
const SEPARATOR: u8 = 0x1e;
/// A value longer than this is not one of ours.
const VALUE_LIMIT: usize = 64;

/// Watches a stream for `<marker> <value>\n` and passes on everything before it.
#[derive(Debug)]
pub(super) struct MarkerScanner {
    /// Separator, nonce and a blank.
    marker: Vec<u8>,
    /// Bytes that may belong to the marker or to the value behind it.
    held: Vec<u8>,
    value: Option<String>,
}

impl MarkerScanner {
    /// For the marker of `nonce`, which must not occur in the stream by chance.
    pub(super) fn new(nonce: &str) -> Self {
        let mut marker = vec![SEPARATOR];
        marker.extend_from_slice(nonce.as_bytes());
        marker.push(b' ');
        Self { marker, held: Vec::new(), value: None }
    }

    /// What stood behind the marker, once it was seen.
    pub(super) fn value(&self) -> Option<&str> {
        self.value.as_deref()
    }

    /// Takes the next bytes and gives `data` those that come before the marker. What comes after it is dropped: it is
    /// from a process that outlived its command.
    pub(super) fn push(&mut self, bytes: &[u8], mut data: impl FnMut(&[u8])) {
        if self.value.is_some() {
            return;
        }
        let mut joined = std::mem::take(&mut self.held);
        let bytes = if joined.is_empty() {
            bytes
        } else {
            joined.extend_from_slice(bytes);
            &joined
        };
        let mut from = 0;
        while let Some(offset) = bytes[from..].iter().position(|byte| *byte == SEPARATOR) {
            let start = from + offset;
            match self.try_at(&bytes[start..]) {
                Match::No => from = start + 1,
                found => {
                    if start > 0 {
                        data(&bytes[..start]);
                    }
                    match found {
                        Match::Value(value) => self.value = Some(value),
                        _ => self.held = bytes[start..].to_vec(),
                    }
                    return;
                }
            }
        }
        if !bytes.is_empty() {
            data(bytes);
        }
    }

    /// What `bytes`, which begin with a separator, hold.
    fn try_at(&self, bytes: &[u8]) -> Match {
        let length = bytes.len().min(self.marker.len());
        if bytes[..length] != self.marker[..length] {
            return Match::No;
        }
        let value = &bytes[length..];
        match value.iter().position(|byte| *byte == b'\n') {
            Some(end) => Match::Value(String::from_utf8_lossy(&value[..end]).into_owned()),
            None if value.len() > VALUE_LIMIT => Match::No,
            None => Match::Perhaps,
        }
    }
}

/// Whether a marker begins at a place.
enum Match {
    No,
    /// Not enough bytes to tell.
    Perhaps,
    Value(String),
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pushes `text` in pieces of `size`; what came before the marker, and the value.
    fn scan(text: &[u8], size: usize) -> (Vec<u8>, Option<String>) {
        let mut scanner = MarkerScanner::new("abc");
        let mut data = Vec::new();
        for piece in text.chunks(size) {
            scanner.push(piece, |bytes| data.extend_from_slice(bytes));
        }
        (data, scanner.value().map(str::to_owned))
    }

    #[test]
    fn the_marker_is_found_however_the_stream_is_cut() {
        let text = b"no end of line\x1eab\x1e\x1eabc 17\nfrom a daemon";
        for size in 1..text.len() {
            let (data, value) = scan(text, size);
            assert_eq!(data, b"no end of line\x1eab\x1e", "pieces of {size}");
            assert_eq!(value.as_deref(), Some("17"), "pieces of {size}");
        }
    }

    #[test]
    fn what_only_looks_like_a_marker_is_data() {
        let mut text = b"\x1eabc ".to_vec();
        text.extend_from_slice(&[b'x'; VALUE_LIMIT + 1]);
        let (data, value) = scan(&text, 7);
        assert_eq!(value, None);
        assert_eq!(data, text);
    }
}
