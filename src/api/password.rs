//! Passwords: argon2id, a few at a time.

use argon2::password_hash::rand_core::OsRng;
use argon2::password_hash::{PasswordHash, PasswordHasher, PasswordVerifier, SaltString};
use argon2::{Algorithm, Argon2, Params, Version};
use cooperage_domain::invalid::Invalid;

use super::problem::Problem;

/// Shortest password, in characters (NIST SP 800-63B says at least 8; without other rules, so longer).
const MIN_LENGTH: usize = 12;
/// Longest password, in bytes: nobody's work is to hash megabytes.
const MAX_LENGTH: usize = 1024;

/// The hasher: the first choice of OWASP's password storage cheat sheet for argon2id (19 MiB, 2 passes).
fn hasher() -> Argon2<'static> {
    Argon2::new(Algorithm::Argon2id, Version::V0x13, Params::DEFAULT)
}

/// The hash that is kept of a password. Takes some hundredths of a second.
///
/// # Errors
/// When the password is too short or too long.
pub fn hash(password: &str) -> Result<String, Problem> {
    let length = password.chars().count();
    if length < MIN_LENGTH || password.len() > MAX_LENGTH {
        let fault = format!("has {length} characters");
        let remedy = format!("use {MIN_LENGTH} characters or more, and at most {MAX_LENGTH} bytes");
        return Err(Invalid::new("password", "(not shown)", fault, remedy).into());
    }
    let salt = SaltString::generate(&mut OsRng);
    let hashed = hasher().hash_password(password.as_bytes(), &salt).map_err(Problem::internal)?;
    Ok(hashed.to_string())
}

/// Whether a password is the one of the hash. Without a hash it is not, and it takes as long to say so: who asks does not learn
/// which users there are.
pub fn is_right(password: &str, hash: Option<&str>) -> bool {
    // Of nobody's password.
    const NONE: &str =
        "$argon2id$v=19$m=19456,t=2,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
    if password.len() > MAX_LENGTH {
        return false;
    }
    let Ok(parsed) = PasswordHash::new(hash.unwrap_or(NONE)) else { return false };
    hasher().verify_password(password.as_bytes(), &parsed).is_ok() && hash.is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_right_one_is() {
        let hashed = hash("correct horse battery").unwrap();
        assert!(hashed.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"));
        assert!(is_right("correct horse battery", Some(&hashed)));
        assert!(!is_right("correct horse batterz", Some(&hashed)));
        assert!(!is_right("correct horse battery", None));
        assert!(!is_right("", Some("")));
        assert_ne!(hash("correct horse battery").unwrap(), hashed, "salted");
    }

    #[test]
    fn short_and_endless_ones_are_refused_and_not_shown() {
        for bad in ["hunter2".to_owned(), "x".repeat(MAX_LENGTH + 1)] {
            let refused = hash(&bad).unwrap_err();
            assert_eq!((refused.status, refused.field.as_deref()), (400, Some("password")));
            assert!(!refused.detail.contains(&bad));
        }
    }
}
