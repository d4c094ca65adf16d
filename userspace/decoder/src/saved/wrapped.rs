//! Lines of the kernel log that another program put into a line of its own: `pdsh` and `clush` write the host before it,
//! `grep` the file, programs that ship logs a time or fields.

use std::borrow::Cow;

use gtrace_event::Timestamp;
use serde_json::{Map, Value};

use super::parsed::{Origin, Parsed, Style};
use super::{date, prefix};
use crate::scan;

/// So many programs may have wrapped a line.
const DEPTH: usize = 4;
/// Names of hosts and files are no longer.
const MAX_NAME: usize = 256;
/// A name has so many colons at most, less one: `messages-20240501:123:`.
const COLONS: usize = 3;

/// Takes a line apart whose beginning no writer of the kernel log wrote; `None` if no known program wrapped it.
pub(super) fn parse(line: &str) -> Option<Parsed<'_>> {
    unwrap(line, DEPTH)
}

fn unwrap(line: &str, depth: usize) -> Option<Parsed<'_>> {
    let depth = depth.checked_sub(1)?;
    match line.as_bytes().first()? {
        b'{' => json(line, depth),
        b'I' | b'W' | b'E' | b'F' if line.as_bytes().get(1).is_some_and(u8::is_ascii_digit) => {
            klog(line, depth).or_else(|| named(line, depth))
        }
        _ => logfmt(line, depth).or_else(|| named(line, depth)),
    }
}

/// The text that a program passed on: with a prefix of the kernel log, wrapped again, or as the kernel gave it.
fn inner(text: &str, depth: usize) -> Parsed<'_> {
    let parsed = prefix::plain(text, None);
    match parsed.style {
        Style::Raw => unwrap(text, depth).unwrap_or(parsed),
        _ => parsed,
    }
}

/// `parsed`, the text of which begins `before` bytes into the line.
fn moved(mut parsed: Parsed<'_>, before: usize) -> Parsed<'_> {
    parsed.text = parsed.text.start + before..parsed.text.end + before;
    parsed
}

/// `gpu01: text` (pdsh, clush), `/var/log/messages:text`, `messages-20240501:123:text` (grep -H, grep -n), `123:text`. What
/// follows has a prefix of the kernel log, else any word with a colon would do.
fn named(line: &str, depth: usize) -> Option<Parsed<'_>> {
    let bytes = line.as_bytes();
    let head = bytes.get(..MAX_NAME.min(bytes.len()))?;
    for at in memchr::memchr_iter(b':', head).take(COLONS) {
        let name = line.get(..at)?;
        if name.is_empty() || name.contains([' ', '\t', '"', '[', '(', '{', '=']) {
            return None;
        }
        let rest = line.get(at + 1..)?;
        let text = rest.strip_prefix(' ').unwrap_or(rest);
        let begins = text.as_bytes().first();
        if !begins.is_some_and(|b| b"[<{/.".contains(b) || b.is_ascii_alphanumeric()) {
            continue;
        }
        let parsed = inner(text, depth);
        if parsed.style == Style::Raw {
            continue;
        }
        let mut parsed = moved(parsed, line.len() - text.len());
        // grep writes no blank; a name with a slash is a file's all the same.
        let is_host = text.len() < rest.len() && !name.contains(['/', ':']);
        if is_host && parsed.host.is_none() {
            parsed.host = Some(name.into());
        }
        return Some(parsed);
    }
    None
}

/// `E1125 10:11:12.123456    1234 file.go:12] text`, as programs of Kubernetes write.
fn klog(line: &str, depth: usize) -> Option<Parsed<'_>> {
    let (day, rest) = line.get(1..)?.split_once(' ')?;
    let is_day = day.len() == 4 && day.bytes().all(|b| b.is_ascii_digit());
    let rest = is_day.then(|| date::clock(rest))??;
    let stamp = line.get(1..line.len() - rest.len())?;
    let (place, text) = rest.split_once("] ")?;
    place
        .rsplit_once(':')
        .and_then(|(_, n)| n.parse::<u32>().ok())?;
    let parsed = inner(text, depth);
    let mut parsed = moved(parsed, line.len() - text.len());
    if parsed.time.is_none() && parsed.written.is_none() {
        parsed.written = Some(stamp.into());
    }
    Some(shipped(parsed))
}

/// `time=2026-03-03T04:05:06Z level=error msg="text"`
fn logfmt(line: &str, depth: usize) -> Option<Parsed<'_>> {
    let (key, _) = line.get(..16.min(line.len()))?.split_once('=')?;
    if key.is_empty() || !key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') {
        return None;
    }
    let mut fields = Fields::default();
    let mut rest = line;
    while let Some((key, after)) = rest.split_once('=') {
        let (value, after) = value(after)?;
        // A word without value may stand before a key.
        fields.take(scan::last_word(key), value);
        rest = after.trim_start();
    }
    fields.parsed(depth)
}

/// A value of logfmt: a word, or a text in quotes with the escapes of JSON.
fn value(text: &str) -> Option<(Cow<'_, str>, &str)> {
    if !text.starts_with('"') {
        let end = text.find(' ').unwrap_or(text.len());
        let (value, rest) = text.split_at(end);
        return Some((value.into(), rest));
    }
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<String>();
    let value = values.next()?.ok()?;
    Some((value.into(), text.get(values.byte_offset()..)?))
}

/// `{"log":"text\n","stream":"stderr","time":"2026-03-03T04:05:06Z"}` (Docker), `{"time":"…","msg":"text"}`
fn json(line: &str, depth: usize) -> Option<Parsed<'_>> {
    let find = |key: &str| memchr::memmem::find(line.as_bytes(), key.as_bytes()).is_some();
    if !Fields::TEXT.iter().any(|key| find(key)) {
        return None;
    }
    let Ok(Value::Object(object)) = serde_json::from_str::<Value>(line) else {
        return None;
    };
    Fields::of(object).parsed(depth)
}

/// What a line of fields says.
#[derive(Default)]
struct Fields<'a> {
    text: Option<Cow<'a, str>>,
    time: Option<Cow<'a, str>>,
    /// Seconds since 1970, where the time is a number.
    seconds: Option<f64>,
    host: Option<Cow<'a, str>>,
}

impl<'a> Fields<'a> {
    const TEXT: [&'static str; 3] = ["log", "msg", "message"];

    fn of(object: Map<String, Value>) -> Self {
        let mut fields = Self::default();
        for (key, value) in object {
            match value {
                Value::String(value) => fields.take(&key, value.into()),
                Value::Number(value) if matches!(key.as_str(), "time" | "ts" | "timestamp") => {
                    fields.seconds = value.as_f64();
                }
                _ => {}
            }
        }
        fields
    }

    fn take(&mut self, key: &str, value: Cow<'a, str>) {
        match key {
            _ if Self::TEXT.contains(&key) => self.text = Some(value),
            "time" | "ts" | "timestamp" | "@timestamp" => self.time = Some(value),
            "host" | "hostname" | "_HOSTNAME" | "node" | "nodename" => self.host = Some(value),
            _ => {}
        }
    }

    fn parsed<'b>(self, depth: usize) -> Option<Parsed<'b>> {
        let text = self.text?;
        let inner = inner(text.trim_end(), depth);
        let message = match inner.message {
            Some(message) => message,
            None => text.get(inner.text)?.to_owned(),
        };
        let inner_host = inner.host.map(owned);
        let mut parsed = Parsed {
            style: Style::Journal,
            origin: inner.origin,
            text: 0..0,
            message: Some(message),
            facility: inner.facility,
            level: inner.level,
            timestamp_us: inner.timestamp_us,
            time: inner.time,
            written: inner.written.map(owned),
            host: inner_host.or(self.host.map(owned)),
            repeated: inner.repeated,
            device: inner.device,
        };
        if parsed.time.is_none() {
            let stamp = self.time.as_deref();
            let iso = stamp.and_then(date::iso).and_then(|(iso, _)| iso.time);
            parsed.time = iso.or_else(|| {
                // Whole microseconds are exact below 2^53.
                Timestamp::from_microsecond((self.seconds? * 1e6) as i64).ok()
            });
            if parsed.time.is_none() && parsed.written.is_none() {
                parsed.written = self.time.map(owned);
            }
        }
        Some(parsed)
    }
}

fn owned<'b>(text: Cow<'_, str>) -> Cow<'b, str> {
    Cow::Owned(text.into_owned())
}

/// A line that a program passed on is a record of its own kind, whatever its text looks like.
fn shipped(mut parsed: Parsed<'_>) -> Parsed<'_> {
    if parsed.style == Style::Raw && parsed.origin == Origin::KernelLog {
        parsed.style = Style::Dmesg;
    }
    parsed
}
