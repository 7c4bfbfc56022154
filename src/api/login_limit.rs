//! How often somebody may try to log in: guessing must not pay, and hashing must not take the machine.

use std::num::NonZeroU32;
use std::sync::Arc;

use actix_web::http::StatusCode;
use governor::clock::{Clock, DefaultClock};
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::problem::Problem;

/// Tries per minute for one account, from wherever.
const PER_ACCOUNT: NonZeroU32 = NonZeroU32::new(10).expect("is not zero");
/// Tries per minute from one address, for whatever account.
const PER_ADDRESS: NonZeroU32 = NonZeroU32::new(30).expect("is not zero");
/// Passwords hashed at once; each takes 19 MiB while it is.
const AT_ONCE: usize = 2;
/// Accounts and addresses that are remembered before those that are quiet are forgotten.
const REMEMBERED: usize = 10_000;

/// The limits, with who has tried lately.
pub struct LoginLimit {
    accounts: DefaultKeyedRateLimiter<String>,
    addresses: DefaultKeyedRateLimiter<String>,
    hashing: Arc<Semaphore>,
}

impl Default for LoginLimit {
    fn default() -> Self {
        Self {
            accounts: RateLimiter::keyed(Quota::per_minute(PER_ACCOUNT)),
            addresses: RateLimiter::keyed(Quota::per_minute(PER_ADDRESS)),
            hashing: Arc::new(Semaphore::new(AT_ONCE)),
        }
    }
}

impl LoginLimit {
    /// Counts a try.
    ///
    /// # Errors
    /// 429 with the time to wait, when there were too many.
    pub fn count(&self, account: &str, address: &str) -> Result<(), Problem> {
        for (limiter, key) in [(&self.addresses, address), (&self.accounts, account)] {
            if limiter.len() > REMEMBERED {
                limiter.retain_recent();
            }
            limiter.check_key(&key.to_owned()).map_err(|until| {
                let seconds = until.wait_time_from(DefaultClock::default().now()).as_secs() + 1;
                Problem::new(StatusCode::TOO_MANY_REQUESTS, "too many tries to log in")
                    .with_remedy(format!("wait {seconds} s"))
                    .after_seconds(seconds)
            })?;
        }
        Ok(())
    }

    /// Waits for the turn to hash a password.
    ///
    /// # Errors
    /// None but that the server goes down.
    pub async fn turn(&self) -> Result<OwnedSemaphorePermit, Problem> {
        Arc::clone(&self.hashing).acquire_owned().await.map_err(Problem::internal)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_and_an_address_have_so_many_tries() {
        let limit = LoginLimit::default();
        let tries = |account: &str, addresses: &str| {
            (0..100).take_while(|n| limit.count(account, &format!("{addresses}{n}")).is_ok()).count()
        };
        assert_eq!(tries("ann", "10.0.0."), 10, "from many addresses");
        assert_eq!(tries("ben", "10.0.1."), 10, "one does not use up another's");
        let guessed = (0..100).take_while(|n| limit.count(&format!("u{n}"), "10.9.9.9").is_ok()).count();
        assert_eq!(guessed, 30, "many accounts from one address");
        let refused = limit.count("ann", "10.0.3.1").unwrap_err();
        assert_eq!(refused.status, 429);
        assert!(refused.retry_after.is_some_and(|seconds| (1..=7).contains(&seconds)));
    }
}
