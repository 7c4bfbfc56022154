//! Every secret text that is open in memory, so that nothing of them gets into the log.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cooperage_domain::redact::Redactor;

/// The secret texts of all clusters that are open. Cheap to clone; all clones know the same.
#[derive(Clone, Default)]
pub struct KnownSecrets(Arc<Mutex<Known>>);

#[derive(Default)]
struct Known {
    /// How many clusters have each: most share their provider's.
    texts: HashMap<String, usize>,
    /// For the texts as they were last; `None` when they have changed.
    redactor: Option<Redactor>,
}

impl KnownSecrets {
    /// What finds all of them in text.
    #[must_use]
    pub fn redactor(&self) -> Redactor {
        let mut known = self.lock();
        if let Some(redactor) = &known.redactor {
            return redactor.clone();
        }
        let redactor = Redactor::new(known.texts.keys().map(String::as_str));
        known.redactor = Some(redactor.clone());
        redactor
    }

    /// Some cluster has these.
    pub fn learn(&self, texts: Vec<String>) {
        let mut known = self.lock();
        for text in texts {
            let count = known.texts.entry(text).or_default();
            *count += 1;
            if *count == 1 {
                known.redactor = None;
            }
        }
    }

    /// A cluster that had these is gone.
    pub fn forget(&self, texts: Vec<String>) {
        let mut known = self.lock();
        for text in texts {
            let Some(count) = known.texts.get_mut(&text) else { continue };
            *count -= 1;
            if *count == 0 {
                known.texts.remove(&text);
                known.redactor = None;
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        // A thread that panicked while it held the lock left whole entries behind.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Says how many there are.
impl fmt::Debug for KnownSecrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KnownSecrets({})", self.lock().texts.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_known_as_long_as_somebody_has_it() {
        let known = KnownSecrets::default();
        let clean = || known.redactor().text("the shared-secret").into_owned();
        known.learn(vec!["shared-secret".to_owned()]);
        known.learn(vec!["shared-secret".to_owned()]);
        known.forget(vec!["shared-secret".to_owned(), "never there".to_owned()]);
        assert_eq!(clean(), "the [redacted]");
        known.forget(vec!["shared-secret".to_owned()]);
        assert_eq!(clean(), "the shared-secret");
    }
}
