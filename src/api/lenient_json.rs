//! JSON as old clients write it: single quotes, names without quotes, comments, a comma too many (JSON5).

use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// How deep values may lie in each other: each level costs stack.
const MAX_DEPTH: usize = 128;

/// Reads such JSON.
///
/// # Errors
/// When it is not even that, or too deep.
pub fn read(text: &str) -> Result<Value, json5::Error> {
    json5::from_str(text).map(|Document(value)| value)
}

/// A whole text.
struct Document(Value);

impl<'de> Deserialize<'de> for Document {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Nested { depth: MAX_DEPTH }.deserialize(deserializer).map(Self)
    }
}

/// A value in which others may lie so many levels deep.
#[derive(Clone, Copy)]
struct Nested {
    depth: usize,
}

impl Nested {
    fn inner<E: Error>(self) -> Result<Self, E> {
        let depth = self.depth.checked_sub(1);
        depth.map(|depth| Self { depth }).ok_or_else(|| E::custom("values lie too deep in each other"))
    }
}

impl<'de> DeserializeSeed<'de> for Nested {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Nested {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Value, E> {
        Ok(flag.into())
    }

    fn visit_i64<E>(self, number: i64) -> Result<Value, E> {
        Ok(number.into())
    }

    fn visit_u64<E>(self, number: u64) -> Result<Value, E> {
        Ok(number.into())
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Value, E> {
        Number::from_f64(number).map(Value::Number).ok_or_else(|| E::custom("a number that is none"))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(text.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let inner = self.inner()?;
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(inner)? {
            list.push(item);
        }
        Ok(list.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let inner = self.inner()?;
        let mut map = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            map.insert(key, entries.next_value_seed(inner)?);
        }
        Ok(map.into())
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::select;
    use serde_json::json;

    use super::*;

    const PIECES: &[&str] = &[
        "{", "}", "[", "]", ":", ",", "'", "\"", "a", "1", "-", ".5", "Infinity", "0x1F", "//", "/*", "*/",
        "\\u0000", "\\", "\n", "null", "+1", "1e999", "\u{2028}",
    ];

    #[test]
    fn what_old_clients_write_is_read() {
        let text = "{'a': 'x', b: [1, -2, 1.5, true, null,], /* why */ \"c\": {}, // so\n}";
        assert_eq!(read(text).unwrap(), json!({"a": "x", "b": [1, -2, 1.5, true, null], "c": {}}));
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text: String, pieces in vec(select(PIECES), 0..40)) {
            let _ = read(&text);
            let _ = read(&pieces.concat());
        }

        #[test]
        fn strict_json_means_the_same(text in "[ -~]{0,20}", number: i64, flag: bool) {
            let value = json!({ "a": [text, number, null], "b": { "c": flag } });
            prop_assert_eq!(read(&value.to_string()).unwrap(), value);
        }
    }

    #[test]
    fn the_rest_is_refused() {
        for text in ["", "[dsfm", "{{{", "zzz", "{a: Infinity}", "{} {}"] {
            assert!(read(text).is_err(), "{text}");
        }
        assert!(read(&"[".repeat(1_000_000)).is_err(), "and does not fill the stack");
        assert!(read(&format!("{}{}", "[".repeat(128), "]".repeat(128))).is_ok());
    }
}
