//! How often an organization and each of its keys may call, as RateLimit headers of the IETF HTTPAPI working group tell it.

use std::collections::HashMap;
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant};

use axum::http::{HeaderMap, HeaderValue, header};
use governor::clock::{Clock, DefaultClock};
use governor::middleware::StateInformationMiddleware;
use governor::state::{InMemoryState, NotKeyed};
use governor::{Quota, RateLimiter};
use uuid::Uuid;

use super::Caller;
use crate::problem::{Problem, TOO_MANY};

/// Seconds in which a limit is counted.
const WINDOW: u32 = 60;
/// Limiters that are remembered; past it those go that are full again, since nobody used them for a whole window.
const REMEMBERED: usize = 100_000;

type Limiter = RateLimiter<NotKeyed, InMemoryState, DefaultClock, StateInformationMiddleware>;

/// How often everybody has called lately.
#[derive(Debug, Default)]
pub(crate) struct Limits {
    limiters: RwLock<HashMap<(Uuid, NonZeroU32), Arc<Remembered>>>,
    clock: DefaultClock,
}

/// A limiter, and when it was used last.
#[derive(Debug)]
struct Remembered {
    limiter: Limiter,
    used: Mutex<Instant>,
}

/// How near a caller is to their limits.
#[derive(Debug, Default)]
pub(super) struct Pace {
    counted: Vec<Counted>,
}

#[derive(Debug)]
struct Counted {
    policy: &'static str,
    quota: NonZeroU32,
    /// Calls that are left, or the seconds until there is one.
    left: Result<u32, u64>,
}

impl Limits {
    /// Counts a call, for the key and for the organization.
    pub(super) fn count(&self, caller: &Caller) -> Pace {
        let own = caller.requests_per_minute.and_then(NonZeroU32::new);
        let all = caller.quotas.requests_per_minute;
        // What the organization has set is counted beside what the server allows, so that setting it anew gives nothing.
        let set = caller.settings.requests_per_minute.and_then(NonZeroU32::new);
        let set = set.filter(|set| all.is_none_or(|all| *set < all));
        let organization = caller.store.organization().0;
        let mut pace = Pace::default();
        for (policy, subject, quota) in [
            ("key", caller.credential.id(), own),
            ("settings", organization, set),
            ("organization", organization, all),
        ] {
            let Some(quota) = quota else { continue };
            let left = match self.limiter(subject, quota).limiter.check() {
                Ok(state) => Ok(state.remaining_burst_capacity()),
                Err(wait) => Err(wait.wait_time_from(self.clock.now()).as_secs() + 1),
            };
            pace.counted.push(Counted { policy, quota, left });
            // What the key may not do is not counted against the others.
            if left.is_err() {
                break;
            }
        }
        pace
    }

    fn limiter(&self, subject: Uuid, quota: NonZeroU32) -> Arc<Remembered> {
        let (place, now) = ((subject, quota), Instant::now());
        let known = self.limiters.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(limiter) = known.get(&place) {
            *limiter.used.lock().unwrap_or_else(PoisonError::into_inner) = now;
            return Arc::clone(limiter);
        }
        drop(known);
        let mut limiters = self.limiters.write().unwrap_or_else(PoisonError::into_inner);
        if limiters.len() >= REMEMBERED {
            let window = Duration::from_secs(WINDOW.into());
            limiters.retain(|_, limiter| {
                let used = *limiter.used.lock().unwrap_or_else(PoisonError::into_inner);
                now.duration_since(used) < window
            });
        }
        let made = || {
            let limiter = RateLimiter::direct(Quota::per_minute(quota)).with_middleware();
            Arc::new(Remembered { limiter, used: Mutex::new(now) })
        };
        Arc::clone(limiters.entry(place).or_insert_with(made))
    }
}

impl Pace {
    pub(super) fn is_exceeded(&self) -> bool {
        self.counted.iter().any(|counted| counted.left.is_err())
    }

    pub(super) fn problem(&self) -> Problem {
        let exceeded = self.counted.iter().find_map(|counted| {
            counted.left.err().map(|seconds| (counted.policy, counted.quota, seconds))
        });
        let (policy, quota, seconds) = exceeded.unwrap_or(("key", NonZeroU32::MIN, 1));
        let detail = format!("the {policy} may make {quota} requests in {WINDOW} seconds");
        Problem::new(TOO_MANY, detail).hint(format!("try again in {seconds} s"))
    }

    /// Writes the limits into the headers of an answer.
    pub(super) fn tell(&self, headers: &mut HeaderMap) {
        if self.counted.is_empty() {
            return;
        }
        let (mut policies, mut states, mut wait) = (Vec::new(), Vec::new(), None);
        for Counted { policy, quota, left } in &self.counted {
            policies.push(format!("\"{policy}\";q={quota};w={WINDOW}"));
            let (remaining, seconds) = match left {
                Ok(remaining) => (*remaining, u64::from(WINDOW)),
                Err(seconds) => (0, *seconds),
            };
            states.push(format!("\"{policy}\";r={remaining};t={seconds}"));
            wait = wait.or(left.err());
        }
        let mut set = |name: &'static str, value: String| {
            if let Ok(value) = HeaderValue::from_str(&value) {
                headers.insert(name, value);
            }
        };
        set("ratelimit-policy", policies.join(", "));
        set("ratelimit", states.join(", "));
        if let Some(seconds) = wait {
            set(header::RETRY_AFTER.as_str(), seconds.to_string());
        }
    }
}
