//! The kernel log of the time: from the running kernel, or from a file that somebody saved.

use std::collections::HashSet;
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead as _, BufReader, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use gtrace_decoder::kmsg;
use gtrace_engine::clock::{LogClock, wall_time};
use gtrace_event::{MissingEvidence, Timestamp};
use gtrace_report::{LogRecord, Loss, Material, Window, missing};

use super::facts::Place;

/// A record of /dev/kmsg is at most so long (CONSOLE_EXT_LOG_MAX, kernel/printk/internal.h), bytes.
const RECORD_MAX: usize = 8192;

/// Adds the log: what the flight recorder has of it, with the numbers of the records, and what another source has besides.
pub(super) fn add(
    material: &mut Material,
    file: Option<&Path>,
    place: &Place,
    recorded: Vec<(u64, LogRecord)>,
) {
    let window = material.window;
    let read = match (file, place) {
        (Some(file), _) => saved(file, material).map(|log| around(log, &recorded, window)),
        (None, Place::ThisBoot) => running().map(|log| unknown(log, &recorded)),
        (None, Place::EarlierBoot) => {
            Err("the host has booted since; give a saved log with --kernel-log".to_owned())
        }
        (None, Place::OtherHost) => {
            Err("the records are of another host; give its saved log with --kernel-log".to_owned())
        }
        (None, Place::NotKnown) => Err(
            "no record says which boot this time was in; give a saved log with --kernel-log"
                .to_owned(),
        ),
    };
    let (others, why) = match read {
        Ok(others) => (others, "the log has no line of this time".to_owned()),
        Err(why) => (Vec::new(), why),
    };
    let recorded = recorded.into_iter().map(|(_, record)| record);
    let mut records: Vec<LogRecord> = recorded.chain(others).collect();
    records.retain(|record| window.holds(record.time));
    records.sort_by_key(|record| record.time);
    material.kernel_log = records;
    if !material.kernel_log.is_empty() {
        return;
    }
    let gap = MissingEvidence::new(missing::KERNEL_LOG, why);
    material.missing.push(gap);
}

/// What a saved log has of the time before and after the recorded records: it has the same ones at times that differ a
/// little.
fn around(
    mut log: Vec<LogRecord>,
    recorded: &[(u64, LogRecord)],
    window: Window,
) -> Vec<LogRecord> {
    let times = recorded.iter().map(|(_, record)| record.time);
    let times = || times.clone().filter(move |time| window.holds(*time));
    if let (Some(first), Some(last)) = (times().min(), times().max()) {
        log.retain(|record| record.time < first || record.time > last);
    }
    log
}

/// What the running kernel's log has that is not recorded. Times do not show that: the wall clock's offset from the kernel's,
/// by which a record gets its time, is another one now.
fn unknown(log: Vec<(u64, LogRecord)>, recorded: &[(u64, LogRecord)]) -> Vec<LogRecord> {
    let known = recorded.iter();
    let known: HashSet<(u64, &str)> = known
        .map(|(seq, record)| (*seq, record.text.as_str()))
        .collect();
    let log = log.into_iter();
    log.filter(|(seq, record)| !known.contains(&(*seq, record.text.as_str())))
        .map(|(_, record)| record)
        .collect()
}

/// What the kernel's ring buffer holds, with the numbers of the records.
fn running() -> Result<Vec<(u64, LogRecord)>, String> {
    let nonblock = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
    let opened = OpenOptions::new()
        .read(true)
        .custom_flags(nonblock)
        .open("/dev/kmsg");
    let file = opened.map_err(|error| {
        format!("/dev/kmsg cannot be opened ({error}); run as root, or give a saved log with --kernel-log")
    })?;
    let clock = LogClock::new();
    let mut records = Vec::new();
    let mut buffer = [0; RECORD_MAX];
    loop {
        match (&file).read(&mut buffer) {
            Ok(0) => break,
            Ok(length) => records.extend(kmsg::parse(&buffer[..length]).ok().map(|record| {
                let time = wall_time(clock.boottime_ns(record.timestamp_us));
                let priority = Some(record.level);
                let text = record.text;
                (
                    record.seq,
                    LogRecord {
                        time,
                        priority,
                        text,
                    },
                )
            })),
            // The record was overwritten before it was read: the next read goes on with the oldest that is there.
            Err(error) if error.raw_os_error() == Some(rustix::io::Errno::PIPE.raw_os_error()) => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
            Err(error) => return Err(format!("/dev/kmsg cannot be read: {error}")),
        }
    }
    Ok(records)
}

/// A saved log. Lines whose time is not known are counted as lost.
fn saved(path: &Path, material: &mut Material) -> Result<Vec<LogRecord>, String> {
    let failed = |error: io::Error| format!("{} cannot be read: {error}", path.display());
    let lines = BufReader::new(File::open(path).map_err(failed)?);
    let boot = boot_time(material);
    let (mut records, mut without_time) = (Vec::new(), 0);
    for line in lines.split(b'\n') {
        let line = line.map_err(failed)?;
        match record(&line, boot) {
            Some(record) => records.push(record),
            None if line.trim_ascii().is_empty() => {}
            None => without_time += 1,
        }
    }
    if without_time > 0 {
        material.losses.push(Loss {
            what: format!("lines of {}", path.display()),
            count: Some(without_time),
            why: "they have no time that can be read; `dmesg --time-format iso` and /dev/kmsg have one".to_owned(),
        });
    }
    Ok(records)
}

/// When the host booted, by the events that have both times: the median, as the wall clock may have been set.
fn boot_time(material: &Material) -> Option<i128> {
    let boot = |event: &gtrace_event::Event| {
        Some(event.time.as_nanosecond() - i128::from(event.boottime_ns?))
    };
    let mut all: Vec<i128> = material.events.iter().filter_map(boot).collect();
    all.sort_unstable();
    all.get(all.len() / 2).copied()
}

/// A line of `/dev/kmsg`, of `dmesg` (seconds since boot), or with a time of ISO 8601 that has a zone
/// (`dmesg --time-format iso`, `journalctl -k -o short-iso`).
fn record(line: &[u8], boot: Option<i128>) -> Option<LogRecord> {
    let at = |us: u64| Timestamp::from_nanosecond(boot? + i128::from(us) * 1000).ok();
    let first = line.first()?;
    if first.is_ascii_digit()
        && let Ok(record) = kmsg::parse(line)
    {
        return Some(LogRecord {
            time: at(record.timestamp_us)?,
            priority: Some(record.level),
            text: record.text,
        });
    }
    let line = String::from_utf8_lossy(line);
    let (priority, line) = level(&line);
    if let Some((stamp, text)) = line.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        let (seconds, micros) = stamp.trim().split_once('.')?;
        let micros: u64 = format!("{micros:0<6}").get(..6)?.parse().ok()?;
        let us = seconds
            .parse::<u64>()
            .ok()?
            .checked_mul(1_000_000)?
            .checked_add(micros)?;
        return Some(LogRecord {
            time: at(us)?,
            priority,
            text: text.trim_start().to_owned(),
        });
    }
    let (stamp, text) = line.split_once(' ')?;
    Some(LogRecord {
        time: iso(stamp)?,
        priority,
        text: text.to_owned(),
    })
}

/// The level in front of a line of `dmesg --raw`: `<6>`.
fn level(line: &str) -> (Option<u8>, &str) {
    let raw = line.strip_prefix('<').and_then(|rest| rest.split_once('>'));
    match raw.and_then(|(level, rest)| Some((level.parse::<u8>().ok()? & 7, rest))) {
        Some((level, rest)) => (Some(level), rest),
        None => (None, line),
    }
}

/// A time with a zone; util-linux writes a comma before the fraction.
fn iso(stamp: &str) -> Option<Timestamp> {
    let stamp = stamp.replace(',', ".");
    stamp.parse().ok().or_else(|| {
        // `+0100`, as journalctl writes it.
        let at = stamp
            .len()
            .checked_sub(2)
            .filter(|at| stamp.is_char_boundary(*at))?;
        let (head, minutes) = stamp.split_at(at);
        format!("{head}:{minutes}").parse().ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_there_once_although_the_clocks_have_drifted_since_it_was_recorded() {
        let record = |seq: u64, ms: i64, text: &str| {
            let record = LogRecord {
                time: Timestamp::from_millisecond(ms).unwrap(),
                priority: Some(4),
                text: text.to_owned(),
            };
            (seq, record)
        };
        let recorded = [record(7, 1_000, "NVRM: Xid"), record(8, 1_001, "NVRM: Xid")];
        let log = vec![
            record(6, 999, "usb"),
            record(7, 1_004, "NVRM: Xid"),
            record(8, 1_005, "NVRM: Xid"),
            record(9, 1_000, "NVRM: Xid"),
        ];
        let added = unknown(log, &recorded);
        let times: Vec<i64> = added.iter().map(|r| r.time.as_millisecond()).collect();
        assert_eq!(times, [999, 1_000]);
    }

    #[test]
    fn lines_are_read_as_every_tool_writes_them() {
        let boot: Timestamp = "2026-03-03T04:00:00Z".parse().unwrap();
        let of = |line: &str| {
            let record = record(line.as_bytes(), Some(boot.as_nanosecond()))?;
            Some((record.time.to_string(), record.priority, record.text))
        };
        let want = |time: &str, level, text: &str| Some((time.to_owned(), level, text.to_owned()));
        assert_eq!(
            of("3,17,5250000,-;NVRM: Xid"),
            want("2026-03-03T04:00:05.25Z", Some(3), "NVRM: Xid")
        );
        assert_eq!(
            of("[    5.250000] NVRM: Xid"),
            want("2026-03-03T04:00:05.25Z", None, "NVRM: Xid")
        );
        assert_eq!(
            of("<4>[    5.25] NVRM: Xid"),
            want("2026-03-03T04:00:05.25Z", Some(4), "NVRM: Xid")
        );
        assert_eq!(
            of("2026-03-03T05:00:05,250000+01:00 NVRM: Xid"),
            want("2026-03-03T04:00:05.25Z", None, "NVRM: Xid")
        );
        assert_eq!(
            of("2026-03-03T05:00:05+0100 h kernel: NVRM: Xid"),
            want("2026-03-03T04:00:05Z", None, "h kernel: NVRM: Xid")
        );
        assert_eq!(of("Mar  3 04:00:05 h kernel: NVRM: Xid"), None);
        assert_eq!(record(b"[    5.25] x", None), None);
    }
}
