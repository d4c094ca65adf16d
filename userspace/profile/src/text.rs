//! Durations and sizes for people, and text that cannot do harm.

/// A time in three digits: `950ns`, `1.25us`, `30.1ms`, `2.00s`.
pub fn duration(ns: u64) -> String {
    let (value, unit) = match ns {
        0..1_000 => return format!("{ns}ns"),
        // Three digits of 999.5 and more are those of the next unit.
        1_000..999_500 => (ns as f64 / 1e3, "us"),
        999_500..999_500_000 => (ns as f64 / 1e6, "ms"),
        _ => (ns as f64 / 1e9, "s"),
    };
    let digits = match value {
        ..9.995 => 2,
        9.995..99.95 => 1,
        _ => 0,
    };
    format!("{value:.digits$}{unit}")
}

/// A size in powers of 1024: `17 B`, `4.0 KiB`.
pub fn bytes(count: u64) -> String {
    const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let (mut value, mut unit) = (count as f64, "B");
    for next in UNITS {
        if value < 1023.95 {
            break;
        }
        (value, unit) = (value / 1024.0, next);
    }
    match unit {
        "B" => format!("{count} B"),
        unit => format!("{value:.1} {unit}"),
    }
}

/// Makes text harmless for a terminal and for a line: control characters and those that change the
/// reading order become `?`.
pub(crate) fn clean(text: &str) -> String {
    let harmless = |c: char| {
        let odd = matches!(c,
            '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}'
            | '\u{061c}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}');
        if odd || c.is_control() { '?' } else { c }
    };
    text.chars().map(harmless).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_follow_the_value() {
        assert_eq!(
            [7, 950, 1_250, 30_100_000, 2_000_000_000, 125_000_000_000].map(duration),
            ["7ns", "950ns", "1.25us", "30.1ms", "2.00s", "125s"]
        );
        assert_eq!(
            [9_999, 99_960, 999_499, 999_999, 999_600_000].map(duration),
            ["10.0us", "100us", "999us", "1.00ms", "1.00s"]
        );
        assert_eq!(
            [17, 1023, 4096, (1 << 20) - 1, u64::MAX].map(bytes),
            ["17 B", "1023 B", "4.0 KiB", "1.0 MiB", "16.0 EiB"]
        );
        assert_eq!(clean("a\u{1b}[2J\u{202e}é"), "a?[2J?é");
    }
}
