//! Dates and times at the front of a line.

use gtrace_event::Timestamp;

/// A date and time in ISO 8601.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Iso {
    /// Known where the text has a zone.
    pub(crate) time: Option<Timestamp>,
    /// `dmesg --time-format iso` writes a comma before the fraction; syslog a dot.
    pub(crate) comma: bool,
}

/// Fixed-width decimal digits.
fn digits(text: &[u8]) -> Option<u32> {
    text.iter().try_fold(0u32, |n, b| {
        b.is_ascii_digit().then(|| n * 10 + u32::from(b - b'0'))
    })
}

/// `2026-03-03T04:05:06[.123456][+00:00|+0000|Z]` at the front, or with a blank for the `T`.
pub(crate) fn iso(text: &str) -> Option<(Iso, &str)> {
    let bytes = text.as_bytes();
    let head = bytes.get(..19)?;
    let [
        y0,
        y1,
        y2,
        y3,
        b'-',
        mo0,
        mo1,
        b'-',
        d0,
        d1,
        b'T' | b' ',
        h0,
        h1,
        b':',
        mi0,
        mi1,
        b':',
        s0,
        s1,
    ] = head
    else {
        return None;
    };
    let year = digits(&[*y0, *y1, *y2, *y3])?;
    let month = digits(&[*mo0, *mo1])?;
    let day = digits(&[*d0, *d1])?;
    let hour = digits(&[*h0, *h1])?;
    let minute = digits(&[*mi0, *mi1])?;
    let second = digits(&[*s0, *s1])?;
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) || hour > 23 || minute > 59 {
        return None;
    }
    let mut rest = text.get(19..)?;
    let comma = rest.starts_with(',');
    let mut nanos = 0;
    if let Some(fraction) = rest.strip_prefix(['.', ',']) {
        let (value, after) = fraction_nanos(fraction)?;
        nanos = value;
        rest = after;
    }
    let (offset, rest) = zone(rest);
    let time = offset.and_then(|offset| {
        let days = days_from_civil(i64::from(year), i64::from(month), i64::from(day));
        // A leap second counts as the second after it.
        let second =
            days * 86_400 + i64::from(hour) * 3600 + i64::from(minute) * 60 + i64::from(second)
                - offset;
        Timestamp::new(second, nanos).ok()
    });
    Some((Iso { time, comma }, rest))
}

/// Digits after the point, as nanoseconds.
fn fraction_nanos(text: &str) -> Option<(i32, &str)> {
    let len = text.bytes().take_while(u8::is_ascii_digit).count();
    let (fraction, rest) = text.split_at(len);
    let mut nanos = 0;
    for at in 0..9 {
        let digit = fraction.as_bytes().get(at).map_or(0, |b| b - b'0');
        nanos = nanos * 10 + i32::from(digit);
    }
    (len > 0).then_some((nanos, rest))
}

/// Offset of a zone from UTC in seconds.
fn zone(text: &str) -> (Option<i64>, &str) {
    if let Some(rest) = text.strip_prefix('Z') {
        return (Some(0), rest);
    }
    let parse = || {
        let bytes = text.as_bytes();
        let sign = match bytes.first()? {
            b'+' => 1,
            b'-' => -1,
            _ => return None,
        };
        let hours = digits(bytes.get(1..3)?)?;
        let colon = usize::from(bytes.get(3) == Some(&b':'));
        let minutes = digits(bytes.get(3 + colon..5 + colon)?)?;
        let rest = text.get(5 + colon..)?;
        Some((sign * i64::from(hours * 3600 + minutes * 60), rest))
    };
    match parse() {
        Some((offset, rest)) => (Some(offset), rest),
        None => (None, text),
    }
}

/// Days since 1970-01-01 of a date in the Gregorian calendar (Hinnant's algorithm).
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let y = if month <= 2 { year - 1 } else { year };
    let era = y.div_euclid(400);
    let yoe = y.rem_euclid(400);
    let doy = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + yoe * 365 + yoe / 4 - yoe / 100 + doy - 719_468
}

/// Seconds since the epoch or since boot, with a fraction: whole seconds and nanoseconds.
pub(crate) fn seconds(text: &str) -> Option<(u64, i32, &str)> {
    let (whole, rest) = crate::scan::number::<u64>(text)?;
    let (nanos, rest) = fraction_nanos(rest.strip_prefix('.')?)?;
    Some((whole, nanos, rest))
}

/// `Mar 03 04:05:06`, `Mar  3 04:05:06.123456`: no year, no zone, so no time.
pub(crate) fn syslog(text: &str) -> Option<&str> {
    let rest = month(text)?.strip_prefix(' ')?;
    let rest = rest.strip_prefix(' ').unwrap_or(rest);
    let (day, rest) = crate::scan::number::<u32>(rest)?;
    let rest = clock(rest.strip_prefix(' ')?)?;
    (1..=31).contains(&day).then_some(rest)
}

/// ` 2026` after a date without year, where a blank follows it: what comes after the year.
pub(crate) fn year_after(text: &str) -> Option<&str> {
    let (year, rest) = crate::scan::number::<u32>(text.strip_prefix(' ')?)?;
    ((1970..2100).contains(&year) && rest.starts_with(' ')).then_some(rest)
}

/// `2026 Mar  3 04:05:06`: no zone, so no time.
pub(crate) fn year_first(text: &str) -> Option<&str> {
    let (year, rest) = crate::scan::number::<u32>(text)?;
    (1970..2100).contains(&year).then_some(())?;
    syslog(rest.strip_prefix(' ')?)
}

/// `Tue Mar  3 04:05:06 2026`: no zone, so no time.
pub(crate) fn ctime(text: &str) -> Option<&str> {
    // Some languages have a blank before the month.
    let rest = weekday(text)?.strip_prefix(' ')?.trim_start_matches(' ');
    let rest = syslog(rest)?;
    let (_, rest) = crate::scan::number::<u32>(rest.strip_prefix(' ')?)?;
    Some(rest)
}

/// `Mar 3 04:05` or `Mar03 04:05`: the times that `dmesg -e` writes once a minute.
pub(crate) fn minute(text: &str) -> Option<&str> {
    let rest = month(text)?.trim_start_matches(' ');
    let (_, rest) = crate::scan::number::<u32>(rest)?;
    let (_, rest) = crate::scan::number::<u32>(rest.strip_prefix(' ')?)?;
    let (_, rest) = crate::scan::number::<u32>(rest.strip_prefix(':')?)?;
    Some(rest)
}

/// `Tue`, or the name in another language.
pub(crate) fn weekday(text: &str) -> Option<&str> {
    const DAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
    named(text, &DAYS)
}

fn month(text: &str) -> Option<&str> {
    const MONTHS: [&str; 12] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ];
    named(text, &MONTHS)
}

/// What follows one of `names`, or a word that can be such a name in another language: `Mär`, `févr.`, `3月`. `journalctl` and `dmesg -T`
/// write those of the locale. The rest of the date shows whether it is one.
fn named<'a>(text: &'a str, names: &[&str]) -> Option<&'a str> {
    const MOST_BYTES: usize = 24;
    let is_of_name = |c: char| c.is_alphabetic() || c == '.';
    let known = names.iter().find_map(|name| text.strip_prefix(name));
    if let Some(rest) = known.filter(|rest| !rest.starts_with(is_of_name)) {
        return Some(rest);
    }
    let word = crate::scan::word(text);
    let name = word.trim_start_matches(|c: char| c.is_ascii_digit());
    let can_be = word.len() <= MOST_BYTES
        && name.starts_with(char::is_alphabetic)
        && name.chars().all(is_of_name);
    can_be.then(|| text.get(word.len()..))?
}

/// `04:05:06` with an optional fraction.
pub(crate) fn clock(text: &str) -> Option<&str> {
    let bytes = text.as_bytes().get(..8)?;
    let shape = bytes.iter().enumerate().all(|(at, b)| match at {
        2 | 5 => *b == b':',
        _ => b.is_ascii_digit(),
    });
    let rest = text.get(8..).filter(|_| shape)?;
    match rest.strip_prefix('.') {
        Some(fraction) => fraction_nanos(fraction).map(|(_, rest)| rest),
        None => Some(rest),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn iso_times() {
        for (text, want) in [
            (
                "2026-03-03T04:05:06.123456+00:00 x",
                Some("2026-03-03T04:05:06.123456Z"),
            ),
            (
                "2026-03-03T04:05:06,123456+01:00 x",
                Some("2026-03-03T03:05:06.123456Z"),
            ),
            ("2026-03-03T04:05:06+0530 x", Some("2026-03-02T22:35:06Z")),
            ("2026-03-03T04:05:06-08:00 x", Some("2026-03-03T12:05:06Z")),
            ("2024-02-29T23:59:59Z x", Some("2024-02-29T23:59:59Z")),
            ("2026-03-03 04:05:06 x", None),
            ("2026-03-03T04:05:06.5 x", None),
        ] {
            let (iso, rest) = iso(text).unwrap();
            assert_eq!(iso.time, want.map(|t| t.parse().unwrap()), "{text}");
            assert_eq!(rest, " x", "{text}");
        }
        for text in [
            "2026-13-03T04:05:06Z",
            "2026-03-03",
            "2026-03-03X04:05:06",
            "20é6-03-03T04:05:06Z",
        ] {
            assert!(iso(text).is_none(), "{text}");
        }
    }
}
