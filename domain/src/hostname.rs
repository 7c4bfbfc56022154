//! Host names of nodes, and the domains they end in.

use crate::id::ClusterId;
use crate::invalid::Invalid;

/// Domain of clusters for which neither request nor template names one.
pub const DEFAULT_SUFFIX: &str = "local";

/// Longest label of a host name, in characters; a rule of DNS.
const MAX_LABEL: usize = 63;

/// Longest domain, in characters: with the longest label and a dot it makes 255.
const MAX_SUFFIX: usize = 191;

/// The host name of node `number` of a cluster: `web42-1000.dev.example.com`.
///
/// The first label is the cluster's name in lower case with `_` and `.` turned into `-`, followed by the cluster's
/// number, `-` and the node's number; the name is cut so that the label has at most 63 characters. What the name begins
/// with before its first letter is dropped, since programs take such labels for numbers or options. (Coopr drops digits
/// only, and so makes labels that begin with a dash.) An absent or empty `suffix` means [`DEFAULT_SUFFIX`]; one leading
/// dot of it is dropped.
#[must_use]
pub fn host_name(cluster_name: &str, cluster: ClusterId, number: u32, suffix: Option<&str>) -> String {
    let numbers = format!("{}-{number}", cluster.0);
    let prefix: String = cluster_name
        .trim_start_matches(|c: char| !c.is_ascii_alphabetic())
        .chars()
        .take(MAX_LABEL.saturating_sub(numbers.len()))
        .map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' })
        .collect();
    let suffix = suffix.map(|suffix| suffix.strip_prefix('.').unwrap_or(suffix));
    let suffix = suffix.filter(|suffix| !suffix.trim().is_empty()).unwrap_or(DEFAULT_SUFFIX);
    format!("{prefix}{numbers}.{suffix}")
}

/// Checks the domain that host names of a cluster are to end in: at most 191 characters; between dots, labels of 1 to 63
/// letters, digits and dashes that neither begin nor end with a dash.
///
/// # Errors
/// Names `field`, the domain, the fault and the rule.
pub fn check_dns_suffix(field: &str, suffix: &str) -> Result<(), Invalid> {
    let refuse = |fault: String| {
        Err(Invalid::new(
            field,
            suffix,
            format!("is not a valid DNS suffix: {fault}"),
            "use labels of letters, digits and inner dashes with dots between them, as in dev.example.com",
        ))
    };
    let length = suffix.chars().count();
    if length > MAX_SUFFIX {
        return refuse(format!("it has {length} characters, at most {MAX_SUFFIX} are allowed"));
    }
    for label in suffix.split('.') {
        if label.is_empty() {
            return refuse("it has an empty label".to_owned());
        }
        if label.chars().count() > MAX_LABEL {
            return refuse(format!("label {label:?} is longer than {MAX_LABEL} characters"));
        }
        if let Some(c) = label.chars().find(|c| !(c.is_ascii_alphanumeric() || *c == '-')) {
            return refuse(format!("label {label:?} holds {c:?}"));
        }
        if label.starts_with('-') || label.ends_with('-') {
            return refuse(format!("label {label:?} begins or ends with a dash"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_labels() {
        for (name, id, suffix, expected) in [
            ("9Web_site.Prod", 42, Some("dev.example.com"), "web-site-prod42-1000.dev.example.com"),
            ("2024", 7, Some(""), "7-1000.local"),
            ("web", 7, None, "web7-1000.local"),
            ("web", 7, Some(".lab.example.com"), "web7-1000.lab.example.com"),
            ("_.-web", 7, None, "web7-1000.local"),
            ("1-web", 7, None, "web7-1000.local"),
        ] {
            assert_eq!(host_name(name, ClusterId(id), 1000, suffix), expected, "{name}");
        }
    }

    #[test]
    fn labels_have_at_most_63_characters() {
        let name = host_name(&"a".repeat(255), ClusterId(12_345_678), 1000, None);
        let label = name.strip_suffix(".local").unwrap();
        assert_eq!(label.len(), 63);
        assert!(label.ends_with("a12345678-1000"));
        assert_eq!(host_name(&"a".repeat(57), ClusterId(7), 1000, None).find('.'), Some(63));
    }

    #[test]
    fn suffixes_follow_the_rules_of_dns() {
        let longest = format!("{0}.{0}.{0}", "a".repeat(63));
        assert_eq!(longest.len(), 191);
        for good in ["local", "dev.example.com", "a-b.c1", "9.x", &longest] {
            assert_eq!(check_dns_suffix("dnsSuffix", good), Ok(()), "{good}");
        }
        let long_label = "a".repeat(64);
        let too_long = format!("{longest}a");
        let words = [
            ("", "empty label"),
            (".example.com", "empty label"),
            ("example.", "empty label"),
            ("bad_suffix-", "holds '_'"),
            ("bad-.com", "dash"),
            ("-bad.com", "dash"),
            ("ä.com", "holds 'ä'"),
            (&long_label, "longer than 63"),
            (&too_long, "192 characters"),
        ];
        for (bad, fault) in words {
            let message = check_dns_suffix("dnsSuffix", bad).unwrap_err().to_string();
            assert!(message.contains(fault) && message.contains("dnsSuffix"), "{bad}: {message}");
        }
    }
}
