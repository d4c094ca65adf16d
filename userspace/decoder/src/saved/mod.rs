//! Saved logs: whatever `dmesg`, `journalctl`, a syslog daemon or `cat /dev/kmsg` wrote, line by
//! line, in any mixture. Each line's prefix is found and stripped on its own.

mod ansi;
mod date;
mod journal;
mod parsed;
mod prefix;
mod unknown;
mod wrapped;

use std::borrow::Cow;
use std::collections::VecDeque;
use std::ops::Range;

use gtrace_event::{LogLine, Occurrence, Timestamp};
use memchr::memmem;

use crate::{Decoder, LogRecord, Options, kmsg};
use parsed::{Origin, Parsed, Style};

/// The part of a line beyond this many bytes is not read.
pub const MAX_LINE: usize = 64 * 1024;
/// Some editors begin a file with it.
const BOM: &[u8] = "\u{feff}".as_bytes();
/// Longest quotation of a line that could not be read, bytes.
const MAX_QUOTE: usize = 200;
/// What a driver error's line has in it: `NVRM: Xid (`, `SXid (`.
const MARK: &[u8] = b"Xid";

/// Lines with a code of the driver that were not read, as what stands before it is not known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unread {
    /// How many.
    pub lines: u64,
    /// Number and beginning of the first.
    pub first: Option<(u64, String)>,
}

/// A line, and what is known of it.
#[derive(Clone, Copy)]
struct Line<'a> {
    bytes: &'a [u8],
    /// The same, if it is known to be UTF-8.
    text: Option<&'a str>,
    /// Whether it has [`MARK`].
    marked: bool,
    /// Whether it has a byte that begins an escape.
    escaped: bool,
}

/// The first byte that begins an escape: of a terminal, or of what wrote the log.
fn find_escape(bytes: &[u8]) -> Option<usize> {
    memchr::memchr2(ansi::ESC, b'\\', bytes)
}

/// As much of it as is UTF-8.
fn valid(bytes: &[u8]) -> &str {
    match str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => bytes
            .get(..error.valid_up_to())
            .and_then(|bytes| str::from_utf8(bytes).ok())
            .unwrap_or_default(),
    }
}

/// The part of a record of several lines beyond this many bytes is not read.
const MAX_RECORD: usize = 128 * 1024;

/// Reads a saved log and gives its occurrences in the order of their first lines.
///
/// Memory is bounded, however long the log and its lines are.
#[derive(Debug, Default)]
pub struct SavedLog {
    decoder: Decoder,
    lines: u64,
    /// Bytes of a line that has not ended.
    partial: Vec<u8>,
    current: Current,
    /// Occurrences that wait for a group that began before them.
    held: Vec<Occurrence>,
    /// Where the lines are from that a group may have begun with, by number.
    origins: VecDeque<(u64, Box<LogLine>)>,
    /// Host of a log with `[seconds] host tag: ` lines.
    host: Option<String>,
    unread: Unread,
    unknown: unknown::Drivers,
}

/// The record that further lines may belong to.
#[derive(Debug, Default)]
struct Current {
    state: CurrentState,
    text: String,
    facility: Option<u8>,
    level: Option<u8>,
    timestamp_us: Option<u64>,
    time: Option<Timestamp>,
    device: Option<String>,
    /// Empty where it is not known.
    host: String,
    /// Date and time as written, if they are no known time.
    written: String,
    repeated: Option<u64>,
    first: u64,
    last: u64,
    /// How many of its lines have a code of the driver, and the first of them.
    marked: u64,
    quote: Option<(u64, String)>,
}

impl Current {
    /// What the prefix says besides; `None` if that is nothing.
    fn origin(&self) -> Option<Box<LogLine>> {
        let text = |text: &String| Some(text.clone()).filter(|text| !text.is_empty());
        let line = LogLine {
            host: text(&self.host),
            time: text(&self.written),
            repeated: self.repeated,
        };
        (line != LogLine::default()).then(|| Box::new(line))
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum CurrentState {
    /// No record.
    #[default]
    None,
    /// A record with a prefix: indented lines belong to it.
    Prefixed,
    /// A record of `/dev/kmsg`: dictionary lines belong to it.
    Kmsg,
    /// A line of a process: nothing to decode, nor in indented lines that belong to it.
    Foreign,
    /// A line without prefix: nothing belongs to it.
    Raw,
}

impl SavedLog {
    /// A reader at the first line.
    pub fn new(options: Options) -> Self {
        Self {
            decoder: Decoder::new(options),
            ..Self::default()
        }
    }

    /// Lines that have `NVRM: Xid` or `SXid (` and gave nothing, after [`finish`](Self::finish). They may be a process's
    /// that quotes.
    pub fn unread(&self) -> &Unread {
        &self.unread
    }

    /// Drivers whose errors are not read, and how many lines of errors each wrote.
    pub fn unknown_drivers(&self) -> Vec<(&'static str, u64)> {
        self.unknown.seen()
    }

    /// How many lines were read.
    pub fn lines(&self) -> u64 {
        self.lines
    }

    /// Reads a piece of the log, cut anywhere. Occurrences that are complete go to `out`.
    pub fn feed_bytes(&mut self, mut bytes: &[u8], out: &mut Vec<Occurrence>) {
        // What is done once for the whole piece costs less than for each line.
        let mut text = valid(bytes);
        let mut mark = memmem::find(bytes, MARK);
        let mut escape = find_escape(bytes);
        while let Some(at) = memchr::memchr(b'\n', bytes) {
            let (line, rest) = bytes.split_at(at);
            bytes = rest.get(1..).unwrap_or_default();
            let line = Line {
                bytes: line,
                text: text.get(..at),
                marked: mark.is_some_and(|mark| mark < at),
                escaped: escape.is_some_and(|escape| escape < at),
            };
            text = text.get(at + 1..).unwrap_or_default();
            mark = match line.marked {
                true => memmem::find(bytes, MARK),
                false => mark.map(|mark| mark - at - 1),
            };
            escape = match line.escaped {
                true => find_escape(bytes),
                false => escape.map(|escape| escape - at - 1),
            };
            if self.partial.is_empty() {
                self.line(line, out);
            } else {
                self.keep_partial(line.bytes);
                let mut whole = std::mem::take(&mut self.partial);
                self.feed_line(&whole, out);
                whole.clear();
                self.partial = whole;
            }
        }
        self.keep_partial(bytes);
    }

    fn keep_partial(&mut self, bytes: &[u8]) {
        // One byte more than is used, so that a line is seen to be cut all the same.
        let room = (MAX_LINE + 1).saturating_sub(self.partial.len());
        self.partial
            .extend_from_slice(bytes.get(..room).unwrap_or(bytes));
    }

    /// Reads one line, with or without its line ending.
    pub fn feed_line(&mut self, line: &[u8], out: &mut Vec<Occurrence>) {
        let line = Line {
            bytes: line,
            text: None,
            marked: memmem::find(line, MARK).is_some(),
            escaped: find_escape(line).is_some(),
        };
        self.line(line, out);
    }

    fn line(&mut self, whole: Line<'_>, out: &mut Vec<Occurrence>) {
        self.lines += 1;
        let line = whole.bytes;
        let line = line.get(..MAX_LINE).unwrap_or(line);
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let start = match line.strip_prefix(BOM) {
            Some(_) if self.lines == 1 => BOM.len(),
            _ => 0,
        };
        let end = line
            .iter()
            .rposition(|b| !matches!(b, b'\r' | 0))
            .map_or(0, |at| at + 1);
        let line = line.get(start..end).unwrap_or_default();
        // Without an escape the text is what stands there.
        let text = whole.text.filter(|_| !whole.escaped);
        let text = text.and_then(|text| text.get(start..end));
        let line = match whole.escaped {
            true => ansi::strip(line),
            false => Cow::Borrowed(line),
        };
        if !self.continues(&line) {
            self.end_record(out);
            self.begin_record(&line, text, whole.escaped);
        }
        if whole.marked {
            self.mark(&line);
        }
    }

    /// Notes a line that may have a code of the driver.
    fn mark(&mut self, line: &[u8]) {
        let has = |needle: &[u8]| memmem::find(line, needle).is_some();
        if !has(b"NVRM: Xid") && !has(b"SXid (") {
            return;
        }
        let current = &mut self.current;
        current.marked += 1;
        let quote = line.get(..MAX_QUOTE).unwrap_or(line);
        let quote = || (self.lines, String::from_utf8_lossy(quote).trim().to_owned());
        current.quote.get_or_insert_with(quote);
    }

    /// Reads what is left. The log is at its end.
    pub fn finish(&mut self, out: &mut Vec<Occurrence>) {
        if !self.partial.is_empty() {
            let whole = std::mem::take(&mut self.partial);
            self.feed_line(&whole, out);
        }
        self.end_record(out);
        let before = self.held.len();
        self.decoder.flush(&mut self.held);
        self.name_origins(before);
        self.release(out);
    }

    /// Whether the line belongs to the record before it; if so, it is added.
    fn continues(&mut self, line: &[u8]) -> bool {
        if !matches!(line.first(), Some(b' ' | b'\t')) {
            return false;
        }
        let current = &mut self.current;
        match current.state {
            CurrentState::None | CurrentState::Raw => false,
            CurrentState::Foreign => true,
            CurrentState::Kmsg => {
                if let Some((b"DEVICE", value)) = kmsg::dictionary(line) {
                    current.device = Some(kmsg::unescape(value).into_owned());
                }
                current.last = self.lines;
                true
            }
            CurrentState::Prefixed => {
                if current.text.len() + line.len() < MAX_RECORD {
                    current.text.push('\n');
                    current.text.push_str(String::from_utf8_lossy(line).trim());
                }
                current.last = self.lines;
                true
            }
        }
    }

    /// `text` is the line, if it is known to be UTF-8.
    fn begin_record(&mut self, line: &[u8], text: Option<&str>, escaped: bool) {
        // The usual case first: looking for what is no UTF-8 reads byte by byte.
        let text = match text.map_or_else(|| str::from_utf8(line), Ok) {
            Ok(text) => Cow::Borrowed(text),
            Err(_) => String::from_utf8_lossy(line),
        };
        let Parsed {
            style,
            origin,
            text: at,
            message,
            facility,
            level,
            timestamp_us,
            time,
            written,
            host,
            repeated,
            device,
        } = take_apart(&text, self.host.as_deref());
        if let Style::Monotonic(host) = &style
            && self.host.is_none()
        {
            self.host = Some(host.clone());
        }
        let current = &mut self.current;
        current.first = self.lines;
        current.last = self.lines;
        current.device = device;
        current.host.clear();
        current.host.push_str(host.as_deref().unwrap_or(""));
        current.written.clear();
        current.written.push_str(written.as_deref().unwrap_or(""));
        current.repeated = repeated;
        current.facility = facility;
        current.level = level;
        current.timestamp_us = timestamp_us;
        current.time = time;
        current.state = match (origin, &style) {
            (Origin::Process, _) => CurrentState::Foreign,
            (_, Style::Raw | Style::Journal) => CurrentState::Raw,
            (_, Style::Kmsg) => CurrentState::Kmsg,
            _ => CurrentState::Prefixed,
        };
        current.text.clear();
        if origin != Origin::Process {
            match message {
                Some(message) => current.text.push_str(&message),
                None => current
                    .text
                    .push_str(&body(line, &text, at, &style, escaped)),
            }
        }
    }

    fn end_record(&mut self, out: &mut Vec<Occurrence>) {
        if self.current.state == CurrentState::None {
            return;
        }
        let current = &self.current;
        let record = LogRecord {
            text: &current.text,
            facility: current.facility,
            level: current.level,
            timestamp_us: current.timestamp_us,
            time: current.time,
            number: current.first,
            device: current.device.as_deref(),
        };
        let before = self.held.len();
        let codes = self.decoder.codes_read();
        self.decoder
            .feed_lines(&record, current.last, &mut self.held);
        let oldest = self.decoder.oldest_pending();
        if self.held.len() == before {
            self.unknown.read(&current.text, current.level);
        }
        // A group is reported later, and is from where its first line is.
        if (oldest.is_some() || self.held.len() > before)
            && let Some(origin) = current.origin()
        {
            self.origins.push_back((current.first, origin));
        }
        self.name_origins(before);
        let is_past = |(line, _): &(u64, _)| oldest.is_none_or(|oldest| *line < oldest);
        while self.origins.front().is_some_and(is_past) {
            self.origins.pop_front();
        }
        self.current.state = CurrentState::None;
        if self.current.marked > 0 {
            let read = self.decoder.codes_read() - codes;
            let unread = std::mem::take(&mut self.current.marked).saturating_sub(read);
            let quote = self.current.quote.take();
            if unread > 0 {
                self.unread.lines += unread;
                self.unread.first = self.unread.first.take().or(quote);
            }
        }
        if !self.held.is_empty() {
            self.release(out);
        }
    }

    /// Notes where the occurrences from number `before` on are from.
    fn name_origins(&mut self, before: usize) {
        for occurrence in self.held.iter_mut().skip(before) {
            let Some([first, _]) = occurrence.lines else {
                continue;
            };
            let at = self.origins.binary_search_by_key(&first, |(line, _)| *line);
            occurrence.log = at.ok().and_then(|at| Some(self.origins.get(at)?.1.clone()));
        }
    }

    /// Gives what no group that is still open precedes.
    fn release(&mut self, out: &mut Vec<Occurrence>) {
        let first = |o: &Occurrence| o.lines.map_or(0, |l| l[0]);
        self.held.sort_by_key(first);
        let end = match self.decoder.oldest_pending() {
            Some(oldest) => self.held.partition_point(|o| first(o) <= oldest),
            None => self.held.len(),
        };
        out.extend(self.held.drain(..end));
    }
}

/// The text after the prefix, escapes of the writer undone.
fn body<'a>(
    line: &'a [u8],
    text: &'a str,
    at: Range<usize>,
    style: &Style,
    escaped: bool,
) -> Cow<'a, str> {
    let text = text.get(at).unwrap_or("");
    match style {
        // Escapes stand for bytes, so they are undone before the bytes become text.
        Style::Kmsg if escaped && text.contains('\\') => match kmsg::header(line) {
            Ok((_, text)) => kmsg::unescape(text),
            Err(_) => Cow::Borrowed(text),
        },
        // rsyslog writes control characters as `#` and three octal digits.
        Style::Syslog if text.contains("#012") => Cow::Owned(text.replace("#012", "\n")),
        // Records of /dev/kmsg whose number fields somebody cut away, as many tools do.
        _ if escaped && text.contains(r"\x0a") => Cow::Owned(text.replace(r"\x0a", "\n")),
        _ => Cow::Borrowed(text),
    }
}
/// Takes a line apart. `host` is the host of earlier [`Style::Monotonic`] lines.
fn take_apart<'a>(line: &'a str, host: Option<&str>) -> Parsed<'a> {
    let mut parsed = Parsed::new(line);
    if line.starts_with('{') && journal::parse(line, &mut parsed) {
        parsed.message = parsed
            .message
            .take()
            .map(|message| prefix::of_relay(&message, &mut parsed));
        return parsed;
    }
    let parsed = prefix::plain(line, host);
    match parsed.style {
        Style::Raw => wrapped::parse(line).unwrap_or(parsed),
        _ => parsed,
    }
}
