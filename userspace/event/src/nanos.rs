//! Times as numbers that databases compare.

use crate::Timestamp;

/// Nanoseconds since the Unix epoch; times outside the years 1677 to 2262 become the nearest end.
pub fn nanos(time: Timestamp) -> i64 {
    let nearest = match time < Timestamp::UNIX_EPOCH {
        true => i64::MIN,
        false => i64::MAX,
    };
    i64::try_from(time.as_nanosecond()).unwrap_or(nearest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_before_all_stays_before_all() {
        assert_eq!(nanos(Timestamp::UNIX_EPOCH), 0);
        assert_eq!(nanos(Timestamp::from_second(-2).unwrap()), -2_000_000_000);
        assert_eq!(nanos(Timestamp::MIN), i64::MIN);
        assert_eq!(nanos(Timestamp::MAX), i64::MAX);
    }
}
