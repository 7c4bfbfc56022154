//! Sealing bytes: XChaCha20-Poly1305 under a random nonce, bound to the place where they belong.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use chacha20poly1305::aead::{Aead, AeadCore, KeyInit, OsRng, Payload};
use chacha20poly1305::{Key, XChaCha20Poly1305, XNonce};
use zeroize::Zeroizing;

/// Length of a key, in bytes.
pub(crate) const KEY_LENGTH: usize = 32;
/// Length of a nonce, in bytes.
const NONCE_LENGTH: usize = 24;

/// A key; overwritten in memory when it goes. Never printed.
pub(crate) type SecretKey = Zeroizing<[u8; KEY_LENGTH]>;

/// A new random key.
pub(crate) fn new_key() -> SecretKey {
    Zeroizing::new(XChaCha20Poly1305::generate_key(&mut OsRng).into())
}

/// Seals bytes; they open only with the same key and the same place. In base64.
pub(crate) fn seal(key: &SecretKey, place: &[&str], bytes: &[u8]) -> String {
    let nonce = XChaCha20Poly1305::generate_nonce(&mut OsRng);
    let place = associated(place);
    let payload = Payload { msg: bytes, aad: &place };
    // Sealing fails only for more than 256 GiB.
    let sealed = cipher(key).encrypt(&nonce, payload).unwrap_or_default();
    STANDARD.encode([nonce.as_slice(), &sealed].concat())
}

/// The bytes, if they were sealed with this key for this place.
pub(crate) fn open(key: &SecretKey, place: &[&str], sealed: &str) -> Option<Zeroizing<Vec<u8>>> {
    open_bound(key, &associated(place), sealed)
}

/// As [`open`], for bytes that were bound to these.
pub(crate) fn open_bound(key: &SecretKey, bound: &[u8], sealed: &str) -> Option<Zeroizing<Vec<u8>>> {
    let bytes = STANDARD.decode(sealed).ok()?;
    let (nonce, sealed) = bytes.split_at_checked(NONCE_LENGTH)?;
    let payload = Payload { msg: sealed, aad: bound };
    cipher(key).decrypt(XNonce::from_slice(nonce), payload).ok().map(Zeroizing::new)
}

fn cipher(key: &SecretKey) -> XChaCha20Poly1305 {
    XChaCha20Poly1305::new(Key::from_slice(key.as_slice()))
}

/// The parts of a place, each with its length in front, so that no two places read the same.
fn associated(place: &[&str]) -> Vec<u8> {
    let part = |part: &&str| [&(part.len() as u64).to_be_bytes()[..], part.as_bytes()].concat();
    place.iter().flat_map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_opens_only_with_its_key_in_its_place_and_unchanged() {
        let (key, other) = (new_key(), new_key());
        let sealed = seal(&key, &["t", "p", "ab"], b"text");
        assert_eq!(open(&key, &["t", "p", "ab"], &sealed).unwrap().as_slice(), b"text");
        assert_ne!(sealed, seal(&key, &["t", "p", "ab"], b"text"), "the nonce is new each time");
        assert!(open(&other, &["t", "p", "ab"], &sealed).is_none());
        for place in [&["t", "pa", "b"][..], &["t", "p", "ac"], &["u", "p", "ab"], &["t", "p"]] {
            assert!(open(&key, place, &sealed).is_none(), "{place:?}");
        }
        let mut bytes = STANDARD.decode(&sealed).unwrap();
        for at in 0..bytes.len() {
            bytes[at] ^= 1;
            assert!(open(&key, &["t", "p", "ab"], &STANDARD.encode(&bytes)).is_none(), "byte {at}");
            bytes[at] ^= 1;
        }
        assert!(open(&key, &["t", "p", "ab"], "short").is_none());
    }
}
