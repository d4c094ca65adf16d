//! Durations as people write them.

use std::time::Duration;

/// Reads `10`, `500ms`, `2m`, `1h`, `7d`, `1w`: from 0.1 s to 30 days.
///
/// # Errors
///
/// What is wrong with it.
pub(super) fn seconds(text: &str) -> Result<Duration, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let factor = match &text[digits.len()..] {
        "ms" => 0.001,
        "" | "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        "d" => 86_400.0,
        "w" => 604_800.0,
        unit => return Err(format!("`{unit}` is no unit of time: ms, s, m, h, d, w")),
    };
    let number: f64 = digits
        .parse()
        .map_err(|_| format!("`{text}` is not a duration"))?;
    let seconds = number * factor;
    if !(0.1..=30.0 * 86_400.0).contains(&seconds) {
        return Err("between 0.1 s and 30 days".to_owned());
    }
    Ok(Duration::from_secs_f64(seconds))
}

/// Whole seconds, and not less than `length`.
pub(super) fn whole_seconds(length: Duration) -> u32 {
    u32::try_from(length.as_nanos().div_ceil(1_000_000_000)).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_people_write_them() {
        let of = |text| seconds(text).map(|time| time.as_millis());
        assert_eq!(of("10"), Ok(10_000));
        assert_eq!(of("500ms"), Ok(500));
        assert_eq!(of("1.5m"), Ok(90_000));
        assert_eq!((of("7d"), of("1w")), (Ok(604_800_000), Ok(604_800_000)));
        for wrong in ["", "x", "5y", "0", "-3", "nan", "1e99"] {
            assert!(of(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_part_of_a_second_is_one() {
        let of = |text| seconds(text).map(whole_seconds);
        assert_eq!(of("500ms"), Ok(1));
        assert_eq!(of("90.2s"), Ok(91));
        assert_eq!(of("2"), Ok(2));
        assert_eq!(of("2.0001"), Ok(3));
    }
}
