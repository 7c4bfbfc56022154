//! Flavors: how much of the host a machine may use.

use cooperage_domain::invalid::Invalid;
use serde::{Deserialize, Serialize};

/// Upper bounds for one machine. They are not reserved: machines may together be promised more than the host has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Processor time, in thousandths of one processor; `None`: as much as there is.
    pub millicpus: Option<u64>,
    /// Memory in bytes; `None`: as much as there is.
    pub memory: Option<u64>,
}

/// Named sizes, in the written form.
const NAMED: [(&str, &str); 6] = [
    ("tiny", "1cpu-256m"),
    ("small", "1cpu-1g"),
    ("medium", "2cpu-2g"),
    ("large", "4cpu-4g"),
    ("xlarge", "8cpu-8g"),
    ("unlimited", ""),
];
/// The flavor that takes what the provider says.
const DEFAULT: &str = "default";
/// Below this a machine's own system does not come up.
const LEAST_MEMORY: u64 = 64 << 20;
const FORMS: &str = "use CPUS and MEMORY as in 2cpu-4g or 0.5cpu-512m, or one of tiny, small, medium, large, xlarge, \
                     unlimited, default";

/// Reads a flavor: `2cpu-4g`, `0.5cpu-512m`, a named size, or `default` (also when empty) for the provider's own limits.
///
/// # Errors
/// When it has none of these forms, or is too small for a machine to come up.
pub fn read_flavor(text: &str, default: Limits) -> Result<Limits, Invalid> {
    if text.is_empty() || text == DEFAULT {
        return Ok(default);
    }
    let written = NAMED.iter().find(|(name, _)| *name == text).map_or(text, |(_, written)| written);
    if written.is_empty() {
        return Ok(Limits::default());
    }
    let refuse = |fault: &str| Invalid::new("flavor", text, fault, FORMS);
    let (cpus, memory) =
        written.split_once("cpu-").ok_or_else(|| refuse("is not a size this provider knows"))?;
    Ok(Limits {
        millicpus: Some(read_cpus(cpus).ok_or_else(|| refuse("does not begin with a number of processors"))?),
        memory: Some(read_memory(memory).ok_or_else(|| refuse("does not end with at least 64m of memory"))?),
    })
}

/// Reads a number of processors such as `2` or `0.5`, as thousandths; at least a hundredth, at most 1024 processors.
pub(super) fn read_cpus(text: &str) -> Option<u64> {
    let plain = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    let cpus: f64 = plain.then(|| text.parse().ok())??;
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // the range is checked
    (0.01..=1024.0).contains(&cpus).then(|| (cpus * 1000.0).round() as u64)
}

/// Reads an amount of memory such as `512m` or `4g`, as bytes; at least 64 MiB.
pub(super) fn read_memory(text: &str) -> Option<u64> {
    let (number, shift) = match text.as_bytes().last()? {
        b'm' => (&text[..text.len() - 1], 20),
        b'g' => (&text[..text.len() - 1], 30),
        _ => return None,
    };
    let digits = !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit());
    let amount: u64 = digits.then(|| number.parse().ok())??;
    amount.checked_mul(1 << shift).filter(|bytes| *bytes >= LEAST_MEMORY)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NO_LIMIT: Limits = Limits { millicpus: None, memory: None };

    #[test]
    fn sizes_are_read() {
        let read = |text| read_flavor(text, NO_LIMIT).unwrap();
        assert_eq!(read("2cpu-4g"), Limits { millicpus: Some(2000), memory: Some(4 << 30) });
        assert_eq!(read("0.5cpu-512m"), Limits { millicpus: Some(500), memory: Some(512 << 20) });
        assert_eq!(read("small"), read("1cpu-1g"));
        assert_eq!(read("unlimited"), NO_LIMIT);
    }

    #[test]
    fn default_takes_the_providers_limits() {
        let limits = Limits { millicpus: Some(1), memory: None };
        assert_eq!(read_flavor("default", limits), Ok(limits));
        assert_eq!(read_flavor("", limits), Ok(limits));
        assert_eq!(read_flavor("unlimited", limits), Ok(NO_LIMIT));
    }

    #[test]
    fn unknown_flavors_are_refused_with_the_forms() {
        for text in [
            "huge",
            "cpu-1g",
            "1cpu-",
            "1cpu-1",
            "1cpu-1t",
            "-1cpu-1g",
            "0cpu-1g",
            "1cpu-8m",
            "1e3cpu-1g",
            "1cpu-+1g",
        ] {
            let fault = read_flavor(text, NO_LIMIT).unwrap_err();
            assert_eq!((fault.field.as_str(), fault.value.as_str()), ("flavor", text));
            assert!(fault.remedy.contains("2cpu-4g") && fault.remedy.contains("small"), "{fault}");
        }
    }

    #[test]
    fn named_sizes_are_well_formed() {
        for (name, _) in NAMED {
            assert!(read_flavor(name, NO_LIMIT).is_ok(), "{name}");
        }
    }
}
