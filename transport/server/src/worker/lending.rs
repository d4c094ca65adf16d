//! Memory of this process that the driver is given for work in a stream.
//!
//! While a stream is being captured, such a call becomes a node of a graph, which the client could launch when that
//! memory has long become something else's. So the driver is asked about the stream before, and no capture of it
//! begins until the driver has the memory.

#![allow(unsafe_code)]

use std::ffi::c_void;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use gtrace_cuda::types::driver::{
    CU_STREAM_CAPTURE_STATUS_INVALIDATED, CU_STREAM_CAPTURE_STATUS_NONE,
    CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, CUstream,
};

use super::handles::Code;
use super::watermark::EventLifetimeLock;
use crate::generated::driver::Driver;

/// `CU_STREAM_LEGACY` as a number, which 0 stands for too: it is never captured.
const LEGACY: usize = 1;
/// `CU_STREAM_PER_THREAD` as a number: each lane has its own, which others cannot capture.
const PER_THREAD: usize = 2;

/// Streams that memory is lent in now, as the driver names them.
#[derive(Debug, Default)]
pub(super) struct Lending {
    streams: Mutex<Vec<usize>>,
    given_back: Condvar,
}

/// Memory may be given to the driver while this lives.
#[derive(Debug)]
pub(crate) struct Lent<'a> {
    lending: &'a Lending,
    stream: usize,
}

/// No memory is lent in some stream while this lives.
#[derive(Debug)]
pub(crate) struct NotLent<'a> {
    _streams: MutexGuard<'a, Vec<usize>>,
}

impl Lending {
    fn lock(&self) -> MutexGuard<'_, Vec<usize>> {
        self.streams.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lends in `stream`, if that `may` be.
    fn lend(
        &self,
        stream: usize,
        may: impl FnOnce() -> Result<(), Code>,
    ) -> Result<Lent<'_>, Code> {
        if stream > LEGACY {
            let mut streams = self.lock();
            may()?;
            if stream != PER_THREAD {
                streams.push(stream);
            }
        }
        Ok(Lent {
            lending: self,
            stream,
        })
    }

    /// Waits until nothing is lent in `stream`.
    fn none_in(&self, stream: usize) -> NotLent<'_> {
        let lent = |streams: &mut Vec<usize>| streams.contains(&stream);
        let waited = self.given_back.wait_while(self.lock(), lent);
        NotLent {
            _streams: waited.unwrap_or_else(PoisonError::into_inner),
        }
    }
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        if self.stream <= PER_THREAD {
            return;
        }
        let mut streams = self.lending.lock();
        if let Some(at) = streams.iter().position(|stream| *stream == self.stream) {
            streams.swap_remove(at);
        }
        drop(streams);
        self.lending.given_back.notify_all();
    }
}

impl EventLifetimeLock {
    /// Before memory of this process is given to the driver for work in `stream`.
    ///
    /// # Errors
    ///
    /// STREAM_CAPTURE_UNSUPPORTED if the stream is being captured, and what the driver says.
    pub(crate) fn lend(&self, driver: &Driver, stream: CUstream) -> Result<Lent<'_>, Code> {
        self.lending
            .lend(stream.addr(), || match self.is_capturing() {
                true => not_captured(driver, stream),
                false => Ok(()),
            })
    }

    /// Before a call by which `stream` may begin to be captured.
    pub(crate) fn not_lent(&self, stream: *mut c_void) -> NotLent<'_> {
        self.lending.none_in(stream.addr())
    }
}

fn not_captured(driver: &Driver, stream: CUstream) -> Result<(), Code> {
    let refused = Err(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED.cast_signed());
    let Some(call) = driver.cuStreamIsCapturing else {
        return refused;
    };
    let mut status = CU_STREAM_CAPTURE_STATUS_NONE;
    // SAFETY: a stream of the client, and a local variable.
    match unsafe { call(stream, &raw mut status) } {
        0 => {}
        code => return Err(code.cast_signed()),
    }
    match status {
        CU_STREAM_CAPTURE_STATUS_NONE => Ok(()),
        CU_STREAM_CAPTURE_STATUS_INVALIDATED => {
            Err(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED.cast_signed())
        }
        _ => refused,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_capture_waits_for_what_is_lent_in_its_stream() {
        let lending = Lending::default();
        let lent = lending.lend(16, || Ok(())).unwrap();
        // Of other streams, and of this thread's own, it does not.
        drop(lending.none_in(32));
        let _own = lending.lend(PER_THREAD, || Ok(())).unwrap();
        drop(lending.none_in(PER_THREAD));
        std::thread::scope(|scope| {
            let waits = scope.spawn(|| drop(lending.none_in(16)));
            std::thread::sleep(Duration::from_millis(20));
            assert!(!waits.is_finished());
            drop(lent);
            waits.join().unwrap();
        });
        assert_eq!(lending.lend(16, || Err(900)).unwrap_err(), 900);
        assert!(lending.lend(0, || Err(900)).is_ok(), "never captured");
        drop(lending.none_in(16));
    }
}
