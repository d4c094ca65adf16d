//! What host and guest say to each other: one line of JSON a message, over a serial port.
//!
//! The host asks for one case at a time, so that it alone decides what runs and in which order:
//!
//! ```text
//! guest: {"ready":{"release":"6.12.95+deb12-amd64"}}
//! host:  {"run":{"name":"smoke_boot"}}
//! guest: {"start":{"name":"smoke_boot"}}
//! guest: {"monitor":{"command":"info pci"}}     (while the case runs, any number of times)
//! host:  {"ok":{"text":"Bus  0, device   0 …"}}
//! guest: {"pass":{"name":"smoke_boot","seconds":0.214}}
//! host:  "off"
//! guest: "bye"                                  (and the machine ends)
//! ```

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::scenario::Scenario;

/// QEMU's exit status after the guest has ended as it should: `isa-debug-exit` makes
/// `value << 1 | 1` of the [`EXIT_VALUE`] that was written.
pub const EXIT_STATUS: i32 = ((EXIT_VALUE as i32) << 1) | 1;

/// What the guest writes to port [`EXIT_PORT`] to end the machine.
pub const EXIT_VALUE: u8 = 0x2a;

/// I/O port of QEMU's `isa-debug-exit` device.
pub const EXIT_PORT: u16 = 0x501;

/// What the guest says.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
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
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
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

/// A case as `gtrace-vm-init list` prints it, in a line of JSON: what the host needs to know of it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct ListedCase {
    /// Its name.
    pub name: String,
    /// The machine that it wants.
    pub scenario: Scenario,
    /// After so long without a word it is taken to hang.
    pub patience: Duration,
    /// Whether it is one of the core set, which every run has.
    pub core: bool,
    /// Whether it waits most of its time, so that its machine runs beside others.
    pub idle: bool,
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

/// A message is written as its line, JSON, which escapes line breaks, and read from it.
macro_rules! lines {
    ($($message:ty)*) => {$(
        impl fmt::Display for $message {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&serde_json::to_string(self).map_err(|_| fmt::Error)?)
            }
        }

        impl FromStr for $message {
            type Err = NoMessage;

            fn from_str(line: &str) -> Result<Self, NoMessage> {
                serde_json::from_str(line).map_err(|_| NoMessage(line.to_owned()))
            }
        }
    )*};
}

lines!(FromGuest ToGuest);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_one_line_and_read_back() {
        let text = "two\nlines, \x1b[1m\r\ttab \\ and \\n · done ".to_owned();
        let message = FromGuest::Fail {
            name: "driver_xid".to_owned(),
            seconds: 0.5,
            message: text.clone(),
        };
        let line = message.to_string();
        assert!(!line.contains(['\n', '\r']), "{line}");
        assert_eq!(line.parse(), Ok(message));
        let message = ToGuest::Ok { text };
        let line = message.to_string();
        assert!(!line.contains(['\n', '\r']), "{line}");
        assert_eq!(line.parse(), Ok(message));
    }

    #[test]
    fn what_is_no_message_is_refused_and_not_guessed_at() {
        for line in [
            "",
            "hello",
            r#""hello""#,
            r#""pass""#,
            r#"{"pass":{"name":"x"}}"#,
            r#"{"pass":{"name":"x","seconds":"soon"}}"#,
            r#""bye" now"#,
        ] {
            assert!(line.parse::<FromGuest>().is_err(), "{line:?}");
        }
        assert!(r#""running""#.parse::<ToGuest>().is_err());
    }
}
