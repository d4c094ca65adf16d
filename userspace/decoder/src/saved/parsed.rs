//! A line of a saved log, taken apart.

use std::borrow::Cow;
use std::ops::Range;

use gtrace_event::Timestamp;

/// How a line was written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Style {
    /// No prefix.
    #[default]
    Raw,
    /// `3,1234,5678,-;text`
    Kmsg,
    /// `[12345.678901] text`, with a date, a level or a facility too.
    Dmesg,
    /// `Mar 03 04:05:06 host kernel: text`, with any kind of date.
    Syslog,
    /// `[12345.678901] host kernel: text` (`journalctl -o short-monotonic`), or with a date in the
    /// brackets; holds the host.
    Monotonic(String),
    /// `{"MESSAGE":"text", ...}` (`journalctl -o json`)
    Journal,
}

/// Whose text it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Origin {
    /// The kernel log.
    #[default]
    KernelLog,
    /// A process that wrote to syslog or the journal.
    Process,
}

/// A line, taken apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Parsed<'a> {
    pub(crate) style: Style,
    pub(crate) origin: Origin,
    /// Where in the line the text is.
    pub(crate) text: Range<usize>,
    /// The text, where the line has it in another form.
    pub(crate) message: Option<String>,
    pub(crate) facility: Option<u8>,
    pub(crate) level: Option<u8>,
    pub(crate) timestamp_us: Option<u64>,
    pub(crate) time: Option<Timestamp>,
    /// Date and time as written, if they are no known time.
    pub(crate) written: Option<Cow<'a, str>>,
    pub(crate) host: Option<Cow<'a, str>>,
    /// `message repeated N times`
    pub(crate) repeated: Option<u64>,
    /// Dictionary entry `DEVICE=`.
    pub(crate) device: Option<String>,
}

impl Parsed<'_> {
    /// A line that is all text.
    pub(crate) fn new(line: &str) -> Self {
        Self {
            text: 0..line.len(),
            ..Self::default()
        }
    }
}
