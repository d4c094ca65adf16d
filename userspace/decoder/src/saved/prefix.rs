//! Finds the prefix of a line of a saved log.

use std::borrow::Cow;

use gtrace_event::Timestamp;

use super::date;
use super::parsed::{Origin, Parsed, Style};
use crate::kmsg;
use crate::scan;

/// A line with the prefix of one writer, if any.
pub(super) fn plain<'a>(line: &'a str, host: Option<&str>) -> Parsed<'a> {
    let mut parsed = Parsed::new(line);
    let mut rest = strip(line, host, &mut parsed).trim_start();
    let is_tagged = matches!(parsed.style, Style::Syslog | Style::Monotonic(_));
    if is_tagged && let Some(text) = relayed(rest, &mut parsed) {
        rest = text.trim_start();
    }
    let start = line.len() - rest.len();
    parsed.text = start..line.len();
    if let Some((times, text)) = repeated(rest) {
        let text = inner_bracket(text, &mut parsed).trim_start();
        // The closing bracket is not of the text.
        let end = line.len() - 1;
        parsed.text = end - text.len()..end;
        parsed.repeated = Some(times);
    }
    parsed
}

/// The second prefix of `kernel: Mar  3 04:05:06 host kernel: text`, which a line gets from a host that passes
/// it on. What it says counts, as it is of the host that the line is from.
fn relayed<'a>(text: &'a str, parsed: &mut Parsed<'a>) -> Option<&'a str> {
    let style = parsed.style.clone();
    let text = match text.strip_prefix("kernel: ") {
        Some(text) => Some(inner_bracket(text, parsed)),
        None => dated(text, parsed).or_else(|| hosted(text, parsed)),
    };
    parsed.style = style;
    text
}

/// A message of the journal, without the prefix of another host.
pub(super) fn of_relay(message: &str, parsed: &mut Parsed<'_>) -> String {
    let mut inner = Parsed::new(message);
    let Some(text) = relayed(message, &mut inner) else {
        return message.to_owned();
    };
    parsed.origin = inner.origin;
    parsed.time = inner.time.or(parsed.time);
    parsed.timestamp_us = inner.timestamp_us.or(parsed.timestamp_us);
    if let Some(host) = inner.host {
        parsed.host = Some(host.into_owned().into());
    }
    text.to_owned()
}

/// `message repeated 3 times: [ text]`, as rsyslog writes.
fn repeated(text: &str) -> Option<(u64, &str)> {
    let rest = text.strip_prefix("message repeated ")?;
    let (times, rest) = scan::number::<u64>(rest)?;
    let text = rest.strip_prefix(" times: [")?.strip_suffix(']')?;
    Some((times, text))
}

/// Strips the prefix and notes what it says.
fn strip<'a>(line: &'a str, host: Option<&str>, parsed: &mut Parsed<'a>) -> &'a str {
    let first = line.as_bytes().first().copied().unwrap_or(0);
    if first.is_ascii_digit() {
        if let Ok((header, text)) = kmsg::header(line.as_bytes()) {
            parsed.style = Style::Kmsg;
            parsed.facility = Some(header.facility);
            parsed.level = Some(header.level);
            parsed.timestamp_us = Some(header.timestamp_us);
            return line.get(line.len() - text.len()..).unwrap_or("");
        }
        if let Some(text) = dated(line, parsed).or_else(|| at_clock(line, parsed)) {
            return text;
        }
        return hosted(line, parsed).unwrap_or(line);
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
            written(rest, after, parsed);
            return caller(after.strip_prefix(' ').unwrap_or(after));
        }
    } else if first != b'['
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
    hosted(rest, parsed).unwrap_or(rest)
}

/// `host kernel: text` without any date.
fn hosted<'a>(rest: &'a str, parsed: &mut Parsed<'a>) -> Option<&'a str> {
    let host = scan::word(rest);
    let is_name = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'_');
    if host.is_empty() || !host.bytes().all(is_name) {
        return None;
    }
    let text = rest.get(host.len()..)?.strip_prefix(" kernel: ")?;
    parsed.style = Style::Syslog;
    parsed.host = Some(host.into());
    Some(inner_bracket(text, parsed))
}

/// Notes the date and time at the front of `line`, before `rest`, if they are no known time.
fn written<'a>(line: &'a str, rest: &str, parsed: &mut Parsed<'a>) {
    if parsed.time.is_none() {
        let stamp = line.get(..line.len() - rest.len());
        parsed.written = stamp.map(|stamp| Cow::Borrowed(stamp.trim()));
    }
}

/// `04:05:06 text`, as some consoles and programs that copy the kernel log write.
fn at_clock<'a>(line: &'a str, parsed: &mut Parsed<'a>) -> Option<&'a str> {
    let rest = date::clock(line)?;
    let text = rest.strip_prefix(' ')?;
    written(line, rest, parsed);
    Some(after_time(text, parsed))
}

/// What comes after a time without host: a text of the kernel, with or without its own prefix.
fn after_time<'a>(text: &'a str, parsed: &mut Parsed<'a>) -> &'a str {
    let text = match text.strip_prefix("kernel: ") {
        Some(text) => inner_bracket(text, parsed),
        None => hosted(text, parsed).unwrap_or_else(|| inner_bracket(text, parsed)),
    };
    if parsed.style == Style::Raw {
        parsed.style = Style::Dmesg;
    }
    text
}

/// A line that begins with a date and goes on with host and tag.
fn dated<'a>(line: &'a str, parsed: &mut Parsed<'a>) -> Option<&'a str> {
    if let Some(rest) = date::year_first(line) {
        written(line, rest, parsed);
        return tagged(rest.strip_prefix(' ')?, parsed);
    }
    if let Some(rest) = date::syslog(line) {
        let rest = date::year_after(rest).unwrap_or(rest);
        written(line, rest, parsed);
        return tagged(rest.strip_prefix(' ')?, parsed);
    }
    if let Some((iso, rest)) = date::iso(line) {
        parsed.time = iso.time.or(parsed.time);
        written(line, rest, parsed);
        let rest = rest.strip_prefix(' ')?;
        if iso.comma {
            parsed.style = Style::Dmesg;
            return Some(caller(rest));
        }
        // `2026-03-03T04:05:06.123456789Z stdout F text` (containerd, CRI-O)
        let of_container = |stream| rest.strip_prefix(stream);
        if let Some(text) = of_container("stdout F ").or_else(|| of_container("stderr F ")) {
            return Some(after_time(text, parsed));
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
        written(line, after, parsed);
        return tagged(after, parsed);
    }
    // `1772510706.123456 host kernel: ` (journalctl -o short-unix)
    let (seconds, nanos, rest) = date::seconds(line)?;
    let rest = rest.strip_prefix(' ')?;
    parsed.time = Timestamp::new(i64::try_from(seconds).ok()?, nanos).ok();
    tagged(rest, parsed)
}

/// `host kernel: text`, `kernel: text`, or a process: `host tag[pid]: text`.
fn tagged<'a>(rest: &'a str, parsed: &mut Parsed<'a>) -> Option<&'a str> {
    parsed.style = Style::Syslog;
    let host = scan::word(rest);
    let after_host = rest.get(host.len()..)?.trim_start();
    let (tag, text) = if host.ends_with(':') {
        (host, after_host)
    } else {
        let tag = scan::word(after_host);
        parsed.host = Some(host.into());
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
fn inner_bracket<'a>(text: &'a str, parsed: &mut Parsed<'a>) -> &'a str {
    match bracket(text.trim_start(), parsed) {
        Some(text) => {
            parsed.style = Style::Syslog;
            caller(text)
        }
        None => text,
    }
}

/// `1 2026-03-03T04:05:06.123Z host kernel - - - text` after the priority (RFC 5424).
fn rfc5424<'a>(line: &'a str, parsed: &mut Parsed<'a>) -> Option<&'a str> {
    let (iso, rest) = date::iso(line)?;
    let mut parts = rest.strip_prefix(' ')?.splitn(6, ' ');
    let (host, tag) = (parts.next()?, parts.next()?);
    let (_pid, _id, data) = (parts.next()?, parts.next()?, parts.next()?);
    let text = parts.next().unwrap_or("");
    parsed.time = iso.time;
    written(line, rest, parsed);
    parsed.host = Some(host.into()).filter(|host| host != "-");
    parsed.style = Style::Syslog;
    if tag == "kernel" && data == "-" {
        return Some(inner_bracket(text, parsed));
    }
    parsed.origin = Origin::Process;
    Some("")
}

/// `kern  :err   : ` (`dmesg -x`)
fn facility_and_level<'a>(line: &'a str, parsed: &mut Parsed<'a>) -> Option<&'a str> {
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

/// So many seconds are since 1970, as no host runs for thirty years.
const SINCE_1970: u64 = 1_000_000_000;

/// What follows the CPU in `[12345.678901@3]`, as the kernels of some vendors write.
fn on_cpu(tail: &str) -> &str {
    let cpu = tail.strip_prefix('@').and_then(scan::number::<u32>);
    cpu.map_or(tail, |(_, rest)| rest)
}

/// `[12345.678901] `, `[1772510706] `, `[Tue Mar  3 04:05:06 2026] `, `[  +0.000012] `, `[Mar 3 04:05] `,
/// `[12345.678901 <    0.000012>] `
fn bracket<'a>(text: &'a str, parsed: &mut Parsed<'a>) -> Option<&'a str> {
    let (inner, rest) = in_brackets(text)?;
    let inner = inner.trim_start();
    let mut stamp = None;
    let tail = if let Some((seconds, nanos, tail)) = date::seconds(inner) {
        if seconds >= SINCE_1970 {
            parsed.time = Timestamp::new(i64::try_from(seconds).ok()?, nanos).ok();
        } else {
            let micros = u64::try_from(nanos / 1000).ok()?;
            parsed.timestamp_us = seconds
                .checked_mul(1_000_000)
                .and_then(|s| s.checked_add(micros));
        }
        on_cpu(tail)
    } else if let Some((seconds, tail)) = scan::number::<i64>(inner)
        .filter(|(s, tail)| tail.is_empty() && u64::try_from(*s).is_ok_and(|s| s >= SINCE_1970))
    {
        parsed.time = Timestamp::new(seconds, 0).ok();
        tail
    } else if let Some(delta) = inner.strip_prefix('+') {
        date::seconds(delta)?.2
    } else if inner.starts_with('<') {
        inner
    } else if let Some((iso, tail)) = date::iso(inner) {
        parsed.time = iso.time;
        stamp = inner.get(..inner.len() - tail.len());
        tail
    } else {
        let tail = date::ctime(inner).or_else(|| date::minute(inner))?;
        stamp = inner.get(..inner.len() - tail.len());
        tail
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
    if parsed.time.is_none()
        && let Some(stamp) = stamp
    {
        parsed.written = Some(stamp.into());
    }
    Some(rest.strip_prefix(' ').unwrap_or(rest))
}

/// What stands in the brackets at the front, and after them.
fn in_brackets(text: &str) -> Option<(&str, &str)> {
    let text = text.strip_prefix('[')?;
    let end = memchr::memchr(b']', text.as_bytes())?;
    Some((text.get(..end)?, text.get(end + 1..)?))
}

/// `[   T12] ` or `[    C0] ` (CONFIG_PRINTK_CALLER)
fn caller(text: &str) -> &str {
    let strip = || {
        let (inner, rest) = in_brackets(text)?;
        let id = inner.trim_start().strip_prefix(['T', 'C'])?;
        let digits = !id.is_empty() && id.bytes().all(|b| b.is_ascii_digit());
        digits.then(|| rest.strip_prefix(' ').unwrap_or(rest))
    };
    strip().unwrap_or(text)
}

/// `host kernel: text` after `[seconds] ` or `[date] `. Only such a line shows that the log is of this kind;
/// from then on a line of the same host with another tag is a process's.
fn monotonic<'a>(text: &'a str, known: Option<&str>, parsed: &mut Parsed<'a>) -> &'a str {
    let host = scan::word(text);
    let is_timed = parsed.timestamp_us.is_some() || parsed.time.is_some();
    let is_timed = is_timed || parsed.written.is_some();
    if host.is_empty() || host.ends_with(':') || !is_timed {
        return text;
    }
    let Some(after) = text.get(host.len() + 1..) else {
        return text;
    };
    if let Some(text) = after.strip_prefix("kernel: ") {
        parsed.style = Style::Monotonic(host.to_owned());
        parsed.host = Some(host.into());
        return text;
    }
    if known == Some(host) && scan::word(after).ends_with(':') {
        parsed.style = Style::Monotonic(host.to_owned());
        if after.starts_with("gtrace-inject") {
            parsed.host = Some(host.into());
            return after;
        }
        parsed.origin = Origin::Process;
        return "";
    }
    text
}
