//! Times as people type them.

use gtrace_event::Timestamp;
use jiff::tz::TimeZone;
use jiff::{Zoned, civil};

/// Reads a time as the API does, or as a person writes it in local time: a date, a date and time, or a time of day,
/// which is the newest that has been; also as gtrace prints it, without the year or with the zone's name.
pub(in crate::cli) fn parse_local_time(text: &str) -> Result<Timestamp, String> {
    local_time(text, Timestamp::now(), &TimeZone::system(), Day::Newest)
}

/// Where a stretch of time ends.
#[derive(Clone, Copy, Debug)]
pub(in crate::cli) struct End {
    newest: Timestamp,
    /// The same of today, where the stretch begins later than the newest: it may be to come.
    today: Timestamp,
}

impl End {
    /// The end of a stretch that begins at `since`: after midnight `--since 22:00 --until 23:00` is an hour of the evening before.
    pub(in crate::cli) fn after(self, since: Option<Timestamp>) -> Timestamp {
        match since {
            Some(since) if self.newest <= since => self.today,
            _ => self.newest,
        }
    }
}

/// Reads the end of a stretch of time as [`parse_local_time`] reads its begin.
pub(in crate::cli) fn parse_end_time(text: &str) -> Result<End, String> {
    end_time(text, Timestamp::now(), &TimeZone::system())
}

fn end_time(text: &str, now: Timestamp, zone: &TimeZone) -> Result<End, String> {
    Ok(End {
        newest: local_time(text, now, zone, Day::Newest)?,
        today: local_time(text, now, zone, Day::Today)?,
    })
}

/// Which day a time of day is of, and which year a date without one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Day {
    /// Today, or yesterday where it has not come yet: after midnight 23:50 is that of the evening before.
    Newest,
    Today,
}

fn local_time(text: &str, now: Timestamp, zone: &TimeZone, day: Day) -> Result<Timestamp, String> {
    let error = match gtrace_http::parse_time(text, now) {
        Ok(time) => return Ok(time),
        Err(error) => error,
    };
    let today = now.to_zoned(zone.clone()).date();
    let begin = |date: civil::Date| in_zone(date.at(0, 0, 0, 0), zone, None);
    let found = match text.to_ascii_lowercase().as_str() {
        "now" => Some(now),
        "today" => begin(today),
        "yesterday" => today.yesterday().ok().and_then(begin),
        _ => written(text, now, zone, day),
    };
    found.ok_or_else(|| match error.contains("too far") {
        true => error,
        false => format!("{error}, or local time (2026-03-03 04:05, 04:05, today, yesterday)"),
    })
}

/// The time that `text` says by a clock.
fn written(text: &str, now: Timestamp, zone: &TimeZone, day: Day) -> Option<Timestamp> {
    let last = text.rsplit_once(' ');
    let named = last.filter(|(_, name)| name.starts_with(|c: char| !c.is_ascii_digit()));
    let (clock, name) = match named {
        Some((clock, name)) => (clock, Some(name)),
        None => (text, None),
    };
    let utc = TimeZone::UTC;
    [zone, &utc].into_iter().find_map(|zone| {
        let (shown, before) = clocks(clock, now.to_zoned(zone.clone()).date(), day)?;
        let time = in_zone(shown, zone, name)?;
        let before = before.and_then(|before| in_zone(before, zone, name));
        Some(before.filter(|_| time > now).unwrap_or(time))
    })
}

/// What a clock shows that `text` quotes, and what is meant instead where that has not come yet.
fn clocks(
    text: &str,
    today: civil::Date,
    day: Day,
) -> Option<(civil::DateTime, Option<civil::DateTime>)> {
    if let Ok(whole) = text.parse() {
        return Some((whole, None));
    }
    let of_year = |year: i16| format!("{year:04}-{text}").parse::<civil::DateTime>().ok();
    let (shown, before) = match of_year(today.year()) {
        Some(shown) => (shown, of_year(today.year() - 1)),
        None => {
            let clock: civil::Time = text.parse().ok()?;
            let yesterday = today.yesterday().ok();
            (
                today.to_datetime(clock),
                yesterday.map(|date| date.to_datetime(clock)),
            )
        }
    };
    Some((shown, before.filter(|_| day == Day::Newest)))
}

/// When the clocks of `zone` show `civil`, while the zone has that name.
fn in_zone(civil: civil::DateTime, zone: &TimeZone, name: Option<&str>) -> Option<Timestamp> {
    let Some(name) = name else {
        return civil
            .to_zoned(zone.clone())
            .ok()
            .map(|zoned| zoned.timestamp());
    };
    // An hour of autumn comes twice, by two names.
    let ambiguous = zone.to_ambiguous_zoned(civil);
    let both = [ambiguous.clone().earlier(), ambiguous.later()];
    let has_name = |zoned: &Zoned| zoned.strftime("%Z").to_string().eq_ignore_ascii_case(name);
    let found = both.into_iter().flatten().find(has_name);
    found.map(|zoned| zoned.timestamp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn local_times_are_read_as_people_write_them() {
        let now = "2026-03-03T12:00:00Z".parse().unwrap();
        let zone = TimeZone::fixed(jiff::tz::offset(1));
        let at = |text: &str| local_time(text, now, &zone, Day::Newest).map(|t| t.to_string());
        assert_eq!(at("1h").unwrap(), "2026-03-03T11:00:00Z");
        assert_eq!(at("2026-03-03T04:05:06Z").unwrap(), "2026-03-03T04:05:06Z");
        assert_eq!(at("2026-03-02 04:05").unwrap(), "2026-03-02T03:05:00Z");
        assert_eq!(at("2026-03-02").unwrap(), "2026-03-01T23:00:00Z");
        assert_eq!(at("04:05").unwrap(), "2026-03-03T03:05:00Z");
        assert_eq!(at("1h30m").unwrap(), "2026-03-03T10:30:00Z");
        assert_eq!(at("-5m").unwrap(), "2026-03-03T11:55:00Z");
        assert_eq!(at("today").unwrap(), "2026-03-02T23:00:00Z");
        assert_eq!(at("Yesterday").unwrap(), "2026-03-01T23:00:00Z");
        assert!(at("noon").unwrap_err().contains("local time"));
        assert_eq!(at("2026-03-04 04:05").unwrap(), "2026-03-04T03:05:00Z");
        for far in ["99999999999d", "99999999999999999999d"] {
            let error = at(far).unwrap_err();
            assert!(error.contains("too far in the past"), "{error}");
            assert!(!error.contains("local time"), "{error}");
        }
    }

    #[test]
    fn a_time_of_day_that_has_not_come_is_that_of_the_evening_before() {
        let zone = TimeZone::fixed(jiff::tz::offset(1));
        let now = "2026-01-01T00:10:00+01:00".parse().unwrap();
        let at = |text: &str, day| local_time(text, now, &zone, day).unwrap().to_string();
        assert_eq!(at("23:50", Day::Newest), "2025-12-31T22:50:00Z");
        assert_eq!(at("00:05", Day::Newest), "2025-12-31T23:05:00Z");
        assert_eq!(at("12-31 23:50:07", Day::Newest), "2025-12-31T22:50:07Z");
        assert_eq!(at("01-01 00:05:00", Day::Newest), "2025-12-31T23:05:00Z");
        // A stretch may end later than now.
        assert_eq!(at("23:50", Day::Today), "2026-01-01T22:50:00Z");
        assert_eq!(at("12-31 23:50:07", Day::Today), "2026-12-31T22:50:07Z");
    }

    #[test]
    fn a_stretch_ends_at_the_newest_time_of_day_that_is_after_its_begin() {
        let zone = TimeZone::fixed(jiff::tz::offset(1));
        let now: Timestamp = "2026-01-01T00:10:00+01:00".parse().unwrap();
        let end = |text: &str, since: Option<&str>| {
            let since = since.map(|since| local_time(since, now, &zone, Day::Newest).unwrap());
            let end = end_time(text, now, &zone).unwrap();
            end.after(since).to_string()
        };
        assert_eq!(end("23:00", Some("22:00")), "2025-12-31T22:00:00Z");
        assert_eq!(end("23:00", None), "2025-12-31T22:00:00Z");
        // It has begun after the newest 23:50, and may end later than now.
        assert_eq!(end("23:50", Some("00:05")), "2026-01-01T22:50:00Z");
        assert_eq!(end("5m", Some("00:01")), "2025-12-31T23:05:00Z");
    }

    #[test]
    fn a_time_is_read_as_gtrace_prints_it() {
        // Summer time ends at 03:00 on 25 October.
        let zone = TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").unwrap();
        let now = "2026-11-30T06:12:00Z".parse().unwrap();
        let at = |text: &str| local_time(text, now, &zone, Day::Newest).map(|t| t.to_string());
        for time in [
            "2026-11-30T06:10:27.638Z",
            "2026-10-25T00:30:00Z",
            "2026-10-25T01:30:00Z",
        ] {
            for zone in [&zone, &TimeZone::UTC] {
                let shown = time.parse::<Timestamp>().unwrap().to_zoned(zone.clone());
                let shown = shown.strftime("%Y-%m-%d %H:%M:%S%.3f %Z").to_string();
                assert_eq!(at(&shown).unwrap(), time, "{shown}");
            }
        }
        assert_eq!(
            at("2026-11-30 06:10:27 UTC").unwrap(),
            "2026-11-30T06:10:27Z"
        );
        assert_eq!(at("06:10 utc").unwrap(), "2026-11-30T06:10:00Z");
        // Neither this host's zone nor UTC, and no summer time.
        assert!(at("2026-11-30 06:10:27 PST").is_err());
        assert!(at("2026-11-30 06:10:27 CEST").is_err());
    }
}
