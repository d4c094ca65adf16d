//! Finds the prefix of a line of a saved log.

use std::ops::Range;

use gtrace_event::Timestamp;

use super::date;
use crate::kmsg;
use crate::scan;

/// How a line was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    /// No prefix.
    Raw,
    /// `3,1234,5678,-;text`
    Kmsg,
    /// `[12345.678901] text`, with a date, a level or a facility too.
    Dmesg,
    /// `Mar 03 04:05:06 host kernel: text`, with any kind of date.
    Syslog,
    /// `[12345.678901] host kernel: text` (`journalctl -o short-monotonic`); holds the host.
    Monotonic(String),
}

/// Whose text it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// The kernel log.
    KernelLog,
    /// A process that wrote to syslog or the journal.
    Process,
}

/// A line, taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Parsed {
    pub(crate) style: Style,
    pub(crate) origin: Origin,
    /// Where in the line the text is.
    pub(crate) text: Range<usize>,
    pub(crate) facility: Option<u8>,
    pub(crate) level: Option<u8>,
    pub(crate) timestamp_us: Option<u64>,
    pub(crate) time: Option<Timestamp>,
}

/// Takes a line apart. `host` is the host of earlier [`Style::Monotonic`] lines.
pub(crate) fn parse(line: &str, host: Option<&str>) -> Parsed {
    let mut parsed = Parsed {
        style: Style::Raw,
        origin: Origin::KernelLog,
        text: 0..line.len(),
        facility: None,
        level: None,
        timestamp_us: None,
        time: None,
    };
    let rest = strip(line, host, &mut parsed);
    let start = line.len() - rest.trim_start().len();
    parsed.text = start..line.len();
    parsed
}

/// Strips the prefix and notes what it says.
fn strip<'a>(line: &'a str, host: Option<&str>, parsed: &mut Parsed) -> &'a str {
    let first = line.as_bytes().first().copied().unwrap_or(0);
    if first.is_ascii_digit() {
        if let Ok((header, text)) = kmsg::header(line.as_bytes()) {
            parsed.style = Style::Kmsg;
            parsed.facility = Some(header.facility);
            parsed.level = Some(header.level);
            parsed.timestamp_us = Some(header.timestamp_us);
            return line.get(line.len() - text.len()..).unwrap_or("");
        }
        return dated(line, parsed).unwrap_or(line);
    }
    let mut rest = line;
    if first == b'<'
        && let Some((priority, after)) = line.strip_prefix('<').and_then(scan::number::<u16>)
        && let Some(after) = after.strip_prefix('>')
        && let Ok(facility) = u8::try_from(priority >> 3)
    {
        parsed.style = Style::Dmesg;
        parsed.facility = Some(facility);
        // Three bits.
        parsed.level = Some((priority & 7) as u8);
        rest = after;
        if let Some(after) = rest.strip_prefix("1 ")
            && let Some(text) = rfc5424(after, parsed)
        {
            return text;
        }
        if let Some(text) = dated(rest, parsed) {
            return text;
        }
    } else if first.is_ascii_lowercase()
        && let Some(after) = facility_and_level(line, parsed)
    {
        parsed.style = Style::Dmesg;
        rest = after;
        if let Some((iso, after)) = date::iso(rest) {
            parsed.time = iso.time;
            return caller(after.strip_prefix(' ').unwrap_or(after));
        }
    } else if first.is_ascii_uppercase()
        && let Some(text) = dated(line, parsed)
    {
        return text;
    }
    if let Some(text) = bracket(rest, parsed) {
        return monotonic(caller(text), host, parsed);
    }
    if let Some(text) = rest.strip_prefix("kernel: ") {
        parsed.style = Style::Syslog;
        return inner_bracket(text, parsed);
    }
    rest
}

/// A line that begins with a date and goes on with host and tag.
fn dated<'a>(line: &'a str, parsed: &mut Parsed) -> Option<&'a str> {
    if let Some(rest) = date::syslog(line) {
        return tagged(rest.strip_prefix(' ')?, parsed);
    }
    if let Some((iso, rest)) = date::iso(line) {
        parsed.time = iso.time;
        let rest = rest.strip_prefix(' ')?;
        if iso.comma {
            parsed.style = Style::Dmesg;
            return Some(caller(rest));
        }
        return tagged(rest, parsed);
    }
    if let Some(rest) = date::weekday(line) {
        // `Tue 2026-03-03 04:05:06 UTC host kernel: ` (journalctl -o short-full)
        let rest = rest.strip_prefix(' ')?;
        let (_, after) = date::iso(rest)?;
        let (zone, after) = after.strip_prefix(' ')?.split_once(' ')?;
        if zone == "UTC" || zone == "GMT" {
            let stamp = rest.get(..rest.len() - after.len() - zone.len() - 2)?;
            parsed.time = date::iso(&format!("{stamp}Z")).and_then(|(iso, _)| iso.time);
        }
        return tagged(after, parsed);
    }
    // `1772510706.123456 host kernel: ` (journalctl -o short-unix)
    let (seconds, nanos, rest) = date::seconds(line)?;
    let rest = rest.strip_prefix(' ')?;
    parsed.time = Timestamp::new(i64::try_from(seconds).ok()?, nanos).ok();
    tagged(rest, parsed)
}

/// `host kernel: text`, `kernel: text`, or a process: `host tag[pid]: text`.
fn tagged<'a>(rest: &'a str, parsed: &mut Parsed) -> Option<&'a str> {
    parsed.style = Style::Syslog;
    let host = scan::word(rest);
    let after_host = rest.get(host.len()..)?.trim_start();
    let (tag, text) = if host.ends_with(':') {
        (host, after_host)
    } else {
        let tag = scan::word(after_host);
        (tag, after_host.get(tag.len()..)?)
    };
    if tag == "kernel:" {
        return Some(inner_bracket(
            text.strip_prefix(' ').unwrap_or(text),
            parsed,
        ));
    }
    // journald takes the mark of a drill, written to /dev/kmsg, for a tag.
    if tag.ends_with(':') && (tag == "gtrace-inject:" || tag.starts_with("gtrace-inject[")) {
        return rest.get(rest.len() - text.len() - tag.len()..);
    }
    parsed.origin = Origin::Process;
    Some("")
}

/// rsyslog keeps the kernel's own time: `kernel: [12345.678901] text`.
fn inner_bracket<'a>(text: &'a str, parsed: &mut Parsed) -> &'a str {
    match bracket(text.trim_start(), parsed) {
        Some(text) => {
            parsed.style = Style::Syslog;
            caller(text)
        }
        None => text,
    }
}

/// `1 2026-03-03T04:05:06.123Z host kernel - - - text` after the priority (RFC 5424).
fn rfc5424<'a>(rest: &'a str, parsed: &mut Parsed) -> Option<&'a str> {
    let (iso, rest) = date::iso(rest)?;
    let mut parts = rest.strip_prefix(' ')?.splitn(6, ' ');
    let (_host, tag) = (parts.next()?, parts.next()?);
    let (_pid, _id, data) = (parts.next()?, parts.next()?, parts.next()?);
    let text = parts.next().unwrap_or("");
    parsed.time = iso.time;
    parsed.style = Style::Syslog;
    if tag == "kernel" && data == "-" {
        return Some(inner_bracket(text, parsed));
    }
    parsed.origin = Origin::Process;
    Some("")
}

/// `kern  :err   : ` (`dmesg -x`)
fn facility_and_level<'a>(line: &'a str, parsed: &mut Parsed) -> Option<&'a str> {
    const FACILITIES: [&str; 12] = [
        "kern", "user", "mail", "daemon", "auth", "syslog", "lpr", "news", "uucp", "cron",
        "authpriv", "ftp",
    ];
    const LEVELS: [&str; 8] = [
        "emerg", "alert", "crit", "err", "warn", "notice", "info", "debug",
    ];
    let (facility, rest) = line.split_once(':')?;
    let (level, rest) = rest.split_once(':')?;
    let facility = facility.trim_end();
    let at = FACILITIES.iter().position(|f| *f == facility);
    let number = match at {
        Some(at) => u8::try_from(at).ok()?,
        None => {
            let local = facility.strip_prefix("local")?;
            let n: u8 = local.parse().ok().filter(|n| *n < 8)?;
            16 + n
        }
    };
    let level = level.trim_end();
    let level = LEVELS.iter().position(|l| *l == level)?;
    parsed.facility = Some(number);
    parsed.level = u8::try_from(level).ok();
    Some(rest.strip_prefix(' ').unwrap_or(rest))
}

/// `[12345.678901] `, `[Tue Mar  3 04:05:06 2026] `, `[  +0.000012] `, `[Mar 3 04:05] `,
/// `[12345.678901 <    0.000012>] `
fn bracket<'a>(text: &'a str, parsed: &mut Parsed) -> Option<&'a str> {
    let (inner, rest) = text.strip_prefix('[')?.split_once(']')?;
    let inner = inner.trim_start();
    let tail = if let Some((seconds, nanos, tail)) = date::seconds(inner) {
        let micros = u64::try_from(nanos / 1000).ok()?;
        parsed.timestamp_us = seconds
            .checked_mul(1_000_000)
            .and_then(|s| s.checked_add(micros));
        tail
    } else if let Some(delta) = inner.strip_prefix('+') {
        date::seconds(delta)?.2
    } else if inner.starts_with('<') {
        inner
    } else if let Some((iso, tail)) = date::iso(inner) {
        parsed.time = iso.time;
        tail
    } else {
        date::ctime(inner).or_else(|| date::minute(inner))?
    };
    let tail = tail.trim();
    let delta = tail
        .strip_prefix('<')
        .and_then(|t| t.strip_suffix('>'))
        .is_some_and(|t| date::seconds(t.trim_start_matches([' ', '+'])).is_some());
    if !tail.is_empty() && !delta {
        return None;
    }
    parsed.style = Style::Dmesg;
    Some(rest.strip_prefix(' ').unwrap_or(rest))
}

/// `[   T12] ` or `[    C0] ` (CONFIG_PRINTK_CALLER)
fn caller(text: &str) -> &str {
    let strip = || {
        let (inner, rest) = text.strip_prefix('[')?.split_once(']')?;
        let id = inner.trim_start().strip_prefix(['T', 'C'])?;
        let digits = !id.is_empty() && id.bytes().all(|b| b.is_ascii_digit());
        digits.then(|| rest.strip_prefix(' ').unwrap_or(rest))
    };
    strip().unwrap_or(text)
}

/// `host kernel: text` after `[seconds] `. Only such a line shows that the log is of this kind;
/// from then on a line of the same host with another tag is a process's.
fn monotonic<'a>(text: &'a str, known: Option<&str>, parsed: &mut Parsed) -> &'a str {
    let host = scan::word(text);
    if host.is_empty() || host.ends_with(':') || parsed.timestamp_us.is_none() {
        return text;
    }
    let Some(after) = text.get(host.len() + 1..) else {
        return text;
    };
    if let Some(text) = after.strip_prefix("kernel: ") {
        parsed.style = Style::Monotonic(host.to_owned());
        return text;
    }
    if known == Some(host) && scan::word(after).ends_with(':') {
        parsed.style = Style::Monotonic(host.to_owned());
        if after.starts_with("gtrace-inject") {
            return after;
        }
        parsed.origin = Origin::Process;
        return "";
    }
    text
}
