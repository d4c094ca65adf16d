//! Options of loading and linking: of the many only the logs and the time that it took have an effect.
#![allow(unsafe_code)]

use std::ffi::c_char;
use std::time::Instant;

use crate::abi::{In, Out};

const WALL_TIME: u32 = 2;
const INFO_LOG: u32 = 3;
const INFO_LOG_SIZE: u32 = 4;
const ERROR_LOG: u32 = 5;
const ERROR_LOG_SIZE: u32 = 6;
const LOG_VERBOSE: u32 = 12;

/// Buffers of the program for messages, and where it wants to know how full they are.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Logs {
    info: Log,
    error: Log,
    /// Address of the option's value, which becomes a float of milliseconds; 0 for none.
    wall: u64,
    /// When the work began.
    began: Option<Instant>,
    /// The information log is to say what each kernel takes.
    verbose: bool,
}

#[derive(Debug, Clone, Copy, Default)]
struct Log {
    buffer: u64,
    size: usize,
    /// Address of the option's value, which becomes the number of bytes written.
    filled: u64,
}

impl Logs {
    /// Reads the options. An option's value is the pointer itself, or stands in its place.
    pub(crate) fn read(count: u32, options: In<u32>, values: Out<u64>) -> Self {
        let mut logs = Self {
            began: Some(Instant::now()),
            ..Self::default()
        };
        for index in 0..count as usize {
            let (Ok(option), Ok(value)) = (options.at(index), values.at(index)) else {
                break;
            };
            let place = values.address() + index as u64 * 8;
            match option {
                WALL_TIME => logs.wall = place,
                LOG_VERBOSE => logs.verbose = value as u32 != 0,
                INFO_LOG => logs.info.buffer = value,
                INFO_LOG_SIZE => {
                    (logs.info.size, logs.info.filled) = (value as u32 as usize, place)
                }
                ERROR_LOG => logs.error.buffer = value,
                ERROR_LOG_SIZE => {
                    (logs.error.size, logs.error.filled) = (value as u32 as usize, place);
                }
                _ => {}
            }
        }
        logs
    }

    /// Whether the program asks for what each kernel takes.
    pub(crate) fn is_verbose(&self) -> bool {
        self.verbose
    }

    /// Gives the messages.
    pub(crate) fn write(&self, info: &str, error: &str) {
        self.info.write(info);
        self.error.write(error);
        if let (Some(began), true) = (self.began, self.wall != 0) {
            let milliseconds = began.elapsed().as_secs_f32() * 1e3;
            // SAFETY: an element of the array of values, which goes both ways for this option.
            let wall = unsafe { Out::<f32>::new(self.wall as *mut f32) };
            wall.offer(milliseconds);
        }
    }
}

impl Log {
    fn write(&self, text: &str) {
        if self.buffer != 0 && self.size > 0 {
            // SAFETY: by the contract of the options the buffer has the size that was reported.
            let buffer = unsafe { Out::<c_char>::new(self.buffer as *mut c_char) };
            let _ = buffer.put_text(self.size, text);
        }
        if self.filled != 0 {
            // SAFETY: an element of the array of values, which goes both ways for this option.
            let filled = unsafe { Out::<u64>::new(self.filled as *mut u64) };
            filled.offer(text.len().min(self.size.saturating_sub(1)) as u64);
        }
    }
}
