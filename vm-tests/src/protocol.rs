//! What host and guest say to each other: one line a message, over a serial port.
//!
//! The host asks for one case at a time, so that it alone decides what runs and in which order:
//!
//! ```text
//! guest: ready 6.12.95+deb12-amd64
//! host:  run smoke_boot
//! guest: start smoke_boot
//! guest: monitor info pci           (while the case runs, any number of times)
//! host:  ok Bus  0, device   0 …
//! guest: pass smoke_boot 0.214
//! host:  off
//! guest: bye                        (and the machine ends)
//! ```
//!
//! Texts of more than one line are escaped; see [`escape`].

use std::fmt;
use std::str::FromStr;

/// QEMU's exit status after the guest has ended as it should: `isa-debug-exit` makes
/// `value << 1 | 1` of the [`EXIT_VALUE`] that was written.
pub const EXIT_STATUS: i32 = ((EXIT_VALUE as i32) << 1) | 1;

/// What the guest writes to port [`EXIT_PORT`] to end the machine.
pub const EXIT_VALUE: u8 = 0x2a;

/// I/O port of QEMU's `isa-debug-exit` device.
pub const EXIT_PORT: u16 = 0x501;

/// What the guest says.
#[derive(Clone, Debug, PartialEq)]
pub enum FromGuest {
    /// PID 1 has set up the system, or is done with a case, and takes a [`ToGuest`].
    Ready {
        /// `uname -r`.
        release: String,
    },
    /// A case begins.
    Start {
        /// Its name.
        name: String,
    },
    /// A case passed.
    Pass {
        /// Its name.
        name: String,
        /// How long it took.
        seconds: f64,
    },
    /// A case failed.
    Fail {
        /// Its name.
        name: String,
        /// How long it took.
        seconds: f64,
        /// Why, in one or more lines.
        message: String,
    },
    /// A case found that it cannot test anything here.
    Skip {
        /// Its name.
        name: String,
        /// Why.
        reason: String,
    },
    /// A note of a case: a measured figure, a sign of life.
    Note {
        /// What.
        text: String,
    },
    /// The running case asks for a command of QEMU's human monitor.
    Monitor {
        /// The command.
        command: String,
    },
    /// The running case wants the machine to lose its power, and come up again. It is run again then, from its beginning.
    PowerCycle,
    /// After a case: the system cannot be used for another one.
    Spoilt {
        /// What the case left behind.
        why: String,
    },
    /// The last line.
    Bye,
}

/// What the host says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ToGuest {
    /// Run this case. Answered by `start` and one of `pass`, `fail` and `skip`.
    Run {
        /// Its name.
        name: String,
    },
    /// What the monitor printed.
    Ok {
        /// The text.
        text: String,
    },
    /// The monitor refused.
    Error {
        /// Why.
        text: String,
    },
    /// End the machine.
    Off,
}

/// A line that is no message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoMessage(
    /// The line.
    pub String,
);

impl fmt::Display for NoMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} is no message between host and guest", self.0)
    }
}

impl std::error::Error for NoMessage {}

impl fmt::Display for FromGuest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ready { release } => write!(f, "ready {release}"),
            Self::Start { name } => write!(f, "start {name}"),
            Self::Pass { name, seconds } => write!(f, "pass {name} {seconds:.3}"),
            Self::Fail {
                name,
                seconds,
                message,
            } => write!(f, "fail {name} {seconds:.3} {}", escape(message)),
            Self::Skip { name, reason } => write!(f, "skip {name} {}", escape(reason)),
            Self::Note { text } => write!(f, "note {}", escape(text)),
            Self::Monitor { command } => write!(f, "monitor {}", escape(command)),
            Self::PowerCycle => f.write_str("power-cycle"),
            Self::Spoilt { why } => write!(f, "spoilt {}", escape(why)),
            Self::Bye => f.write_str("bye"),
        }
    }
}

impl FromStr for FromGuest {
    type Err = NoMessage;

    fn from_str(line: &str) -> Result<Self, NoMessage> {
        let (verb, rest) = line.split_once(' ').unwrap_or((line, ""));
        let no_message = || NoMessage(line.to_owned());
        let name_and_rest = || rest.split_once(' ').ok_or_else(no_message);
        let seconds = |text: &str| text.parse::<f64>().map_err(|_| no_message());
        Ok(match verb {
            "ready" => Self::Ready {
                release: rest.to_owned(),
            },
            "start" => Self::Start {
                name: rest.to_owned(),
            },
            "pass" => {
                let (name, time) = name_and_rest()?;
                Self::Pass {
                    name: name.to_owned(),
                    seconds: seconds(time)?,
                }
            }
            "fail" => {
                let (name, rest) = name_and_rest()?;
                let (time, message) = rest.split_once(' ').ok_or_else(no_message)?;
                Self::Fail {
                    name: name.to_owned(),
                    seconds: seconds(time)?,
                    message: unescape(message),
                }
            }
            "skip" => {
                let (name, reason) = name_and_rest()?;
                Self::Skip {
                    name: name.to_owned(),
                    reason: unescape(reason),
                }
            }
            "note" => Self::Note {
                text: unescape(rest),
            },
            "monitor" => Self::Monitor {
                command: unescape(rest),
            },
            "spoilt" => Self::Spoilt {
                why: unescape(rest),
            },
            "power-cycle" if rest.is_empty() => Self::PowerCycle,
            "bye" if rest.is_empty() => Self::Bye,
            _ => return Err(no_message()),
        })
    }
}

impl fmt::Display for ToGuest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Run { name } => write!(f, "run {name}"),
            Self::Ok { text } => write!(f, "ok {}", escape(text)),
            Self::Error { text } => write!(f, "error {}", escape(text)),
            Self::Off => f.write_str("off"),
        }
    }
}

impl FromStr for ToGuest {
    type Err = NoMessage;

    fn from_str(line: &str) -> Result<Self, NoMessage> {
        let (verb, rest) = line.split_once(' ').unwrap_or((line, ""));
        Ok(match verb {
            "run" => Self::Run {
                name: rest.to_owned(),
            },
            "ok" => Self::Ok {
                text: unescape(rest),
            },
            "error" => Self::Error {
                text: unescape(rest),
            },
            "off" if rest.is_empty() => Self::Off,
            _ => return Err(NoMessage(line.to_owned())),
        })
    }
}

/// `text` in one line of printable characters: `\n`, `\t` and `\\` as in Rust, other control
/// characters as `\xNN`.
pub fn escape(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\\' => line.push_str(r"\\"),
            '\n' => line.push_str(r"\n"),
            '\t' => line.push_str(r"\t"),
            c if c.is_ascii_control() => line.push_str(&format!("\\x{:02x}", c as u32)),
            c => line.push(c),
        }
    }
    line
}

/// The inverse of [`escape`]. What was not escaped by it is kept as it is.
pub fn unescape(line: &str) -> String {
    let mut text = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find('\\') {
        text.push_str(&rest[..at]);
        let code = &rest[at + 1..];
        let (c, taken) = match code.as_bytes().first() {
            Some(b'n') => ('\n', 1),
            Some(b't') => ('\t', 1),
            Some(b'x') => match code.get(1..3).map(|hex| u8::from_str_radix(hex, 16)) {
                Some(Ok(byte)) => (char::from(byte), 3),
                _ => ('\\', 0),
            },
            Some(b'\\') => ('\\', 1),
            _ => ('\\', 0),
        };
        text.push(c);
        rest = &code[taken..];
    }
    text.push_str(rest);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_message_of_the_guest_is_read_back() {
        let name = || "driver_xid".to_owned();
        let text = || "two\nlines, \x1b[1m\ttab \\ and \\n · done ".to_owned();
        for message in [
            FromGuest::Ready {
                release: "6.12.95+deb12-amd64".into(),
            },
            FromGuest::Start { name: name() },
            FromGuest::Pass {
                name: name(),
                seconds: 1.25,
            },
            FromGuest::Fail {
                name: name(),
                seconds: 0.5,
                message: text(),
            },
            FromGuest::Fail {
                name: name(),
                seconds: 0.5,
                message: String::new(),
            },
            FromGuest::Skip {
                name: name(),
                reason: text(),
            },
            FromGuest::Note { text: text() },
            FromGuest::Monitor {
                command: "device_del gpu0".into(),
            },
            FromGuest::PowerCycle,
            FromGuest::Spoilt { why: text() },
            FromGuest::Bye,
        ] {
            let line = message.to_string();
            assert!(!line.contains('\n'), "{line}");
            assert_eq!(line.parse(), Ok(message));
        }
    }

    #[test]
    fn every_message_of_the_host_is_read_back() {
        for message in [
            ToGuest::Run {
                name: "smoke_boot".into(),
            },
            ToGuest::Ok {
                text: String::new(),
            },
            ToGuest::Ok {
                text: "a\r\nb\n".into(),
            },
            ToGuest::Error {
                text: "Device 'gpu1' not found".into(),
            },
            ToGuest::Off,
        ] {
            let line = message.to_string();
            assert!(!line.contains('\n'), "{line}");
            assert_eq!(line.parse(), Ok(message));
        }
    }

    #[test]
    fn what_is_no_message_is_refused_and_not_guessed_at() {
        for line in [
            "",
            "pass",
            "pass name",
            "pass name soon",
            "fail name 1.0",
            "bye now",
            "hello",
        ] {
            assert!(line.parse::<FromGuest>().is_err(), "{line:?}");
        }
        assert!("running x".parse::<ToGuest>().is_err());
    }

    #[test]
    fn a_lone_backslash_stays() {
        assert_eq!(unescape(r"a\q \x1 \"), r"a\q \x1 \");
    }
}
