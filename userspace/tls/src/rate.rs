//! How often somebody may do something.

use std::collections::HashMap;
use std::hash::Hash;
use std::num::NonZeroU32;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Bounds the rate of each key by itself: so many in a minute, and at once as many as come in `burst`.
///
/// This is the generic cell rate algorithm (ITU-T I.371): of each key only the time is kept at which its next one is
/// due. At most `keys` are kept; beyond that the one that is due first is forgotten, which does it a favour and nobody
/// harm.
#[derive(Debug)]
pub struct RateLimiter<K> {
    keys: usize,
    burst: Duration,
    due: Mutex<HashMap<K, Instant>>,
}

impl<K: Hash + Eq + Clone> RateLimiter<K> {
    /// See the type.
    pub fn new(keys: usize, burst: Duration) -> Self {
        Self {
            keys: keys.max(1),
            burst,
            due: Mutex::default(),
        }
    }

    /// Counts one of `key` at `now`, of at most `per_minute`.
    ///
    /// # Errors
    ///
    /// How long `key` has to wait, if it has had its share; then nothing is counted.
    pub fn take(&self, key: &K, per_minute: NonZeroU32, now: Instant) -> Result<(), Duration> {
        let each = Duration::from_secs(60) / per_minute.get();
        let mut all = self.due.lock().unwrap_or_else(PoisonError::into_inner);
        let due = all.get(key).map_or(now, |due| (*due).max(now));
        let ahead = due.saturating_duration_since(now);
        // One is let through in any case, however long the time between two is.
        if !ahead.is_zero() && ahead + each > self.burst {
            return Err((ahead + each).saturating_sub(self.burst).min(ahead));
        }
        if all.len() >= self.keys && !all.contains_key(key) {
            all.retain(|_, due| *due > now);
            if all.len() >= self.keys {
                let first = all.iter().min_by_key(|(_, due)| **due);
                if let Some(first) = first.map(|(key, _)| key.clone()) {
                    all.remove(&first);
                }
            }
        }
        all.insert(key.clone(), due + each);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_key_has_its_own_rate_and_few_are_kept() {
        let limiter = RateLimiter::new(2, Duration::from_secs(10));
        let rate = NonZeroU32::new(60).unwrap();
        let begin = Instant::now();
        let after = |s| begin + Duration::from_secs(s);
        for _ in 0..10 {
            limiter.take(&"a", rate, begin).unwrap();
        }
        let wait = limiter.take(&"a", rate, begin).unwrap_err();
        assert_eq!(wait, Duration::from_secs(1));
        assert!(limiter.take(&"b", rate, begin).is_ok());
        assert!(limiter.take(&"a", rate, after(1)).is_ok());
        assert!(limiter.take(&"a", rate, after(1)).is_err());
        // b is due before a, so that it makes place.
        assert!(limiter.take(&"c", rate, after(1)).is_ok());
        assert!(limiter.take(&"a", rate, after(1)).is_err());
        assert_eq!(limiter.due.lock().unwrap().len(), 2);
        // One a minute lets one through.
        let slow = RateLimiter::new(2, Duration::from_secs(10));
        let rate = NonZeroU32::new(1).unwrap();
        assert!(slow.take(&"a", rate, begin).is_ok());
        let wait = slow.take(&"a", rate, begin).unwrap_err();
        assert_eq!(wait, Duration::from_secs(60));
        assert!(slow.take(&"a", rate, after(60)).is_ok());
    }
}
