//! What a traced process reports to `gtrace trace`: datagrams to its socket.

/// Most bytes of a name that are reported.
pub const MAX_NAME: usize = 8192;
/// Most bytes of a message.
pub const MAX_MESSAGE: usize = 1 + 8 + 8 + 8 + MAX_NAME;

/// A message. `process` is the number of [`crate::layout::Head::process`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Message<'a> {
    /// A thread's memory comes with it, as a descriptor.
    Memory {
        /// The process.
        process: u64,
    },
    /// The program.
    Process {
        /// The process.
        process: u64,
        /// Its id, as it sees itself.
        pid: u64,
        /// What its main thread is called.
        name: &'a [u8],
    },
    /// What a function of the device is called.
    Kernel {
        /// The process.
        process: u64,
        /// Ticks when it was learnt: a handle may be used again for something else.
        ticks: u64,
        /// `CUfunction` or `CUkernel`.
        handle: u64,
        /// Its name.
        name: &'a [u8],
    },
    /// What a thread is called.
    Thread {
        /// The process.
        process: u64,
        /// The thread, as it sees itself.
        thread: u64,
        /// Its name.
        name: &'a [u8],
    },
    /// A function that the program was given as the driver has it, and whose calls are not seen.
    Untouched {
        /// The process.
        process: u64,
        /// Its name.
        name: &'a [u8],
    },
    /// A table of functions that the program was given by `cuGetExportTable`, and calls through which are not seen.
    Table {
        /// The process.
        process: u64,
        /// Its UUID, big-endian.
        id: u128,
    },
}

impl<'a> Message<'a> {
    /// As it is sent.
    pub fn to_bytes(&self) -> Vec<u8> {
        let (tag, words, name): (u8, [u64; 3], &[u8]) = match *self {
            Self::Memory { process } => (1, [process, 0, 0], b""),
            Self::Process { process, pid, name } => (2, [process, pid, 0], name),
            Self::Kernel {
                process,
                ticks,
                handle,
                name,
            } => (3, [process, ticks, handle], name),
            Self::Thread {
                process,
                thread,
                name,
            } => (4, [process, thread, 0], name),
            Self::Untouched { process, name } => (5, [process, 0, 0], name),
            Self::Table { process, id } => (6, [process, (id >> 64) as u64, id as u64], b""),
        };
        let name = name.get(..MAX_NAME).unwrap_or(name);
        let mut bytes = vec![tag];
        for word in words {
            bytes.extend(word.to_le_bytes());
        }
        bytes.extend(name);
        bytes
    }

    /// The number of the process that reports.
    pub const fn process(&self) -> u64 {
        match *self {
            Self::Memory { process }
            | Self::Process { process, .. }
            | Self::Kernel { process, .. }
            | Self::Thread { process, .. }
            | Self::Untouched { process, .. }
            | Self::Table { process, .. } => process,
        }
    }

    /// From what was received; `None` if it is something else.
    pub fn from_bytes(bytes: &'a [u8]) -> Option<Self> {
        let (tag, rest) = bytes.split_first()?;
        let (process, rest) = rest.split_first_chunk()?;
        let (second, rest) = rest.split_first_chunk()?;
        let (third, name) = rest.split_first_chunk()?;
        let process = u64::from_le_bytes(*process);
        let (second, third) = (u64::from_le_bytes(*second), u64::from_le_bytes(*third));
        if name.len() > MAX_NAME {
            return None;
        }
        Some(match tag {
            1 => Self::Memory { process },
            2 => Self::Process {
                process,
                pid: second,
                name,
            },
            3 => Self::Kernel {
                process,
                ticks: second,
                handle: third,
                name,
            },
            4 => Self::Thread {
                process,
                thread: second,
                name,
            },
            5 => Self::Untouched { process, name },
            6 => Self::Table {
                process,
                id: u128::from(second) << 64 | u128::from(third),
            },
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_is_sent_is_received() {
        for message in [
            Message::Memory { process: 1 },
            Message::Process {
                process: 2,
                pid: 9,
                name: b"prog",
            },
            Message::Kernel {
                process: 3,
                ticks: 4,
                handle: u64::MAX,
                name: b"_Z1kPf",
            },
            Message::Thread {
                process: 5,
                thread: 6,
                name: b"",
            },
            Message::Untouched {
                process: 7,
                name: b"cuNew",
            },
            Message::Table {
                process: 8,
                id: 0x6bd5_fb6c_5bf4_e74a_8987_d939_12fd_9df9,
            },
        ] {
            assert_eq!(Message::from_bytes(&message.to_bytes()), Some(message));
        }
    }

    #[test]
    fn long_names_are_cut() {
        let name = [b'k'; MAX_NAME + 1];
        let bytes = Message::Untouched {
            process: 0,
            name: &name,
        }
        .to_bytes();
        assert_eq!(bytes.len(), MAX_MESSAGE);
        assert!(Message::from_bytes(&bytes).is_some());
    }

    proptest! {
        #[test]
        fn any_bytes_are_taken_or_refused(bytes: Vec<u8>) {
            let _ = Message::from_bytes(&bytes);
        }
    }
}
