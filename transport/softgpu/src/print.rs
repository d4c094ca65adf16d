//! Device `printf`: kept as the device keeps it, until the program synchronises, and then written to the
//! standard output of the C library, so that it keeps its place among what the program prints there.
#![allow(unsafe_code)]

use std::collections::VecDeque;
use std::sync::Mutex;

use crate::ptx::Sink;
use crate::sync::lock;

unsafe extern "C" {
    static stdout: *mut libc::FILE;
}

/// Bytes that an output takes beside its text. A device keeps the format and the arguments instead of the text,
/// so what fits here is near what fits there, not the same.
const OVERHEAD: usize = 16;

/// What the kernels of a context printed and the program was not shown. When it is full the oldest outputs
/// make room, as CUDA has it.
#[derive(Default)]
pub(crate) struct Fifo(Mutex<Outputs>);

#[derive(Default)]
struct Outputs {
    texts: VecDeque<Vec<u8>>,
    /// Bytes of all of them.
    used: usize,
}

/// The outputs of a kernel, into a [`Fifo`] of `limit` bytes (`CU_LIMIT_PRINTF_FIFO_SIZE`).
pub(crate) struct Printer<'f> {
    pub(crate) fifo: &'f Fifo,
    pub(crate) limit: usize,
}

impl Sink for Printer<'_> {
    fn print(&self, text: &[u8]) {
        let mut outputs = lock(&self.fifo.0);
        outputs.used += text.len() + OVERHEAD;
        outputs.texts.push_back(text.to_vec());
        while outputs.used > self.limit {
            let Some(oldest) = outputs.texts.pop_front() else {
                break;
            };
            outputs.used -= oldest.len() + OVERHEAD;
        }
    }
}

impl Fifo {
    fn take(&self) -> VecDeque<Vec<u8>> {
        let mut outputs = lock(&self.0);
        std::mem::take(&mut *outputs).texts
    }

    /// Shows what was printed.
    pub(crate) fn flush(&self) {
        let texts = self.take();
        if texts.is_empty() {
            return;
        }
        // SAFETY: the stream of the C library, which locks it; the bytes are valid for reads.
        unsafe {
            for text in texts {
                libc::fwrite(text.as_ptr().cast(), 1, text.len(), stdout);
            }
            libc::fflush(stdout);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_outputs_make_room() {
        let fifo = Fifo::default();
        let printer = Printer {
            fifo: &fifo,
            limit: 3 * (OVERHEAD + 2),
        };
        for number in 0..10 {
            printer.print(format!("{number}\n").as_bytes());
        }
        assert_eq!(fifo.take(), [b"7\n", b"8\n", b"9\n"]);
        assert!(fifo.take().is_empty());
        printer.print(b"more than fits, and so nothing is kept, not even the end of it");
        assert!(fifo.take().is_empty());
    }
}
