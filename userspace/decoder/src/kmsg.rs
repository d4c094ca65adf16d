//! Records of `/dev/kmsg`: `level,seq,usec,flags[,key=value…];text`, then dictionary lines that
//! begin with a blank. Source: Documentation/ABI/testing/dev-kmsg.

use std::borrow::Cow;

use crate::LogRecord;

/// One record of `/dev/kmsg`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KmsgRecord {
    /// syslog level, 0 (emergency) to 7 (debug).
    pub level: u8,
    /// syslog facility; 0 is the kernel.
    pub facility: u8,
    /// Sequence number; a gap is a loss.
    pub seq: u64,
    /// Clock of the kernel log: microseconds since boot.
    pub timestamp_us: u64,
    /// A piece of a record that is still being written (`c` or `+`).
    pub cont: bool,
    /// Who printed, with CONFIG_PRINTK_CALLER.
    pub caller: Option<Caller>,
    /// The text, escapes undone: it may hold newlines.
    pub text: String,
    /// `DEVICE=` of the dictionary.
    pub device: Option<String>,
    /// `SUBSYSTEM=` of the dictionary.
    pub subsystem: Option<String>,
}

/// Context that printed a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Caller {
    /// Thread id (`caller=T12`).
    Thread(u32),
    /// CPU number, in an interrupt (`caller=C0`).
    Cpu(u32),
}

/// Bytes that are no record of `/dev/kmsg`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KmsgError {
    /// There is no `;` that ends the header.
    #[error("a /dev/kmsg record has no `;` after its header: it is cut short or no such record")]
    NoHeader,
    /// A number of the header is none, or too large.
    #[error("a /dev/kmsg record's {0} is no number: it is cut short or no such record")]
    BadNumber(&'static str),
}

/// Reads what one read(2) of `/dev/kmsg` gave.
///
/// # Errors
/// The bytes are no record.
pub fn parse(bytes: &[u8]) -> Result<KmsgRecord, KmsgError> {
    let (first, rest) = match memchr::memchr(b'\n', bytes) {
        Some(at) => (bytes.get(..at), bytes.get(at + 1..)),
        None => (Some(bytes), None),
    };
    let (mut record, text) = header(first.unwrap_or_default())?;
    record.text = unescape(text).into_owned();
    for line in rest.unwrap_or_default().split(|b| *b == b'\n') {
        if let Some((key, value)) = dictionary(line) {
            match key {
                b"DEVICE" => record.device = Some(unescape(value).into_owned()),
                b"SUBSYSTEM" => record.subsystem = Some(unescape(value).into_owned()),
                _ => {}
            }
        }
    }
    Ok(record)
}

impl KmsgRecord {
    /// The record as the decoder takes it, numbered by its sequence number.
    pub fn log_record(&self) -> LogRecord<'_> {
        LogRecord {
            text: &self.text,
            facility: Some(self.facility),
            level: Some(self.level),
            timestamp_us: Some(self.timestamp_us),
            time: None,
            number: self.seq,
            device: self.device.as_deref(),
        }
    }
}

/// Splits the first line of a record: what its header says, and the text, escapes and all.
pub(crate) fn header(line: &[u8]) -> Result<(KmsgRecord, &[u8]), KmsgError> {
    let end = memchr::memchr(b';', line).ok_or(KmsgError::NoHeader)?;
    let head = line.get(..end).and_then(|h| std::str::from_utf8(h).ok());
    let mut fields = head.ok_or(KmsgError::NoHeader)?.split(',');
    let mut number = |name| {
        fields
            .next()
            .filter(|f| !f.is_empty() && f.bytes().all(|b| b.is_ascii_digit()))
            .and_then(|f| f.parse::<u64>().ok())
            .ok_or(KmsgError::BadNumber(name))
    };
    let priority = number("priority")?;
    let seq = number("sequence number")?;
    let timestamp_us = number("timestamp")?;
    let facility = u8::try_from(priority >> 3).map_err(|_| KmsgError::BadNumber("priority"))?;
    let flags = fields.next().unwrap_or("-");
    let caller = fields.find_map(|f| {
        let caller = f.strip_prefix("caller=")?;
        if let Some(id) = caller.strip_prefix('T') {
            id.parse().ok().map(Caller::Thread)
        } else {
            caller.strip_prefix('C')?.parse().ok().map(Caller::Cpu)
        }
    });
    let record = KmsgRecord {
        // Three bits.
        level: (priority & 7) as u8,
        facility,
        seq,
        timestamp_us,
        cont: flags.contains(['c', '+']),
        caller,
        text: String::new(),
        device: None,
        subsystem: None,
    };
    Ok((record, line.get(end + 1..).unwrap_or_default()))
}

/// ` KEY=value`
pub(crate) fn dictionary(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let line = line.strip_prefix(b" ")?;
    let at = memchr::memchr(b'=', line)?;
    let (key, value) = (line.get(..at)?, line.get(at + 1..)?);
    let plain = !key.is_empty() && key.iter().all(|b| b.is_ascii_uppercase() || *b == b'_');
    plain.then_some((key, value))
}

/// Undoes `\xNN`. Bytes that are no UTF-8 become U+FFFD.
pub(crate) fn unescape(text: &[u8]) -> Cow<'_, str> {
    if memchr::memchr(b'\\', text).is_none() {
        return String::from_utf8_lossy(text);
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte == b'\\'
            && let [b'x', high, low, after @ ..] = rest
            && let (Some(high), Some(low)) = (nibble(*high), nibble(*low))
        {
            bytes.push(high << 4 | low);
            rest = after;
        } else {
            bytes.push(byte);
        }
    }
    Cow::Owned(String::from_utf8_lossy(&bytes).into_owned())
}

fn nibble(digit: u8) -> Option<u8> {
    // One hex digit: below 16.
    (digit as char).to_digit(16).map(|d| d as u8)
}
