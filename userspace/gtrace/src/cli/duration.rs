//! Durations as people write them.

use std::time::Duration;

/// Reads `10`, `500ms`, `2m`, `1h`: from 0.1 s to 30 days.
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
        unit => return Err(format!("`{unit}` is no unit of time: ms, s, m, h")),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_people_write_them() {
        let of = |text| seconds(text).map(|time| time.as_millis());
        assert_eq!(of("10"), Ok(10_000));
        assert_eq!(of("500ms"), Ok(500));
        assert_eq!(of("1.5m"), Ok(90_000));
        for wrong in ["", "x", "5y", "0", "-3", "nan", "1e99"] {
            assert!(of(wrong).is_err(), "{wrong}");
        }
    }
}
