//! Every call by itself, with its arguments: what a trace is made of.

use std::cell::RefCell;
use std::rc::Rc;

use gtrace_abi::{API_TEXT, ApiCall, ApiStart, ApiStartKey};
use libbpf_rs::{RingBuffer, RingBufferBuilder};

use crate::load::{TraceError, bpf, map_of};
use crate::pod::read;
use crate::tracer::Tracer;

/// Takes calls out of the ring.
pub struct Calls {
    ring: RingBuffer<'static>,
    taken: Rc<RefCell<Vec<ApiCall>>>,
}

impl std::fmt::Debug for Calls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Calls").finish_non_exhaustive()
    }
}

/// A call that has not returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnderWay {
    /// Thread id.
    pub tid: u32,
    /// Number of the function.
    pub function: u32,
    /// When it began, CLOCK_MONOTONIC in nanoseconds.
    pub start_ns: u64,
}

impl Calls {
    /// Hands each call that is in the ring to `take`, oldest first of a CPU; returns at once, with
    /// whether there were any.
    ///
    /// # Errors
    ///
    /// If the ring cannot be read.
    pub fn drain(&mut self, mut take: impl FnMut(&ApiCall)) -> Result<bool, TraceError> {
        self.ring.consume().map_err(bpf("the ring of calls"))?;
        let mut taken = self.taken.borrow_mut();
        taken.iter().for_each(&mut take);
        let any = !taken.is_empty();
        taken.clear();
        Ok(any)
    }
}

impl Tracer {
    /// The calls, where [`crate::Options::calls`] asks for them.
    ///
    /// # Errors
    ///
    /// If the ring cannot be mapped.
    pub fn calls(&self) -> Result<Calls, TraceError> {
        let map = map_of(self.object(), "API_EVENTS")?;
        let taken: Rc<RefCell<Vec<ApiCall>>> = Rc::default();
        let to = Rc::clone(&taken);
        let mut builder = RingBufferBuilder::new();
        builder
            .add(&map, move |bytes| {
                to.borrow_mut().extend(call_of(bytes));
                0
            })
            .map_err(bpf("the ring of calls"))?;
        let ring = builder.build().map_err(bpf("the ring of calls"))?;
        Ok(Calls { ring, taken })
    }

    /// Calls whose end was not seen, of those of which the start was.
    ///
    /// # Errors
    ///
    /// If the kernel refuses.
    pub fn under_way(&self) -> Result<Vec<UnderWay>, TraceError> {
        let starts = self.entries::<ApiStartKey, ApiStart>("API_STARTS")?;
        let starts = starts.into_iter().map(|(key, start)| UnderWay {
            // The lower half; the upper is the process.
            tid: key.pid_tgid as u32,
            function: key.function(),
            start_ns: start.start_ns,
        });
        Ok(starts.collect())
    }
}

/// A record of the ring; one of a function without a text is shorter.
fn call_of(bytes: &[u8]) -> Option<ApiCall> {
    let mut whole = [0; size_of::<ApiCall>()];
    let len = bytes.len().min(whole.len());
    if len < ApiCall::SHORT {
        return None;
    }
    whole[..len].copy_from_slice(&bytes[..len]);
    let mut call: ApiCall = read(&whole)?;
    if len < whole.len() {
        call.text = [0; API_TEXT];
    }
    Some(call)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_without_a_text_is_one_and_what_is_cut_is_none() {
        let mut bytes = vec![0xff_u8; size_of::<ApiCall>()];
        assert!(call_of(&bytes[..ApiCall::SHORT - 1]).is_none());
        let call = call_of(&bytes[..ApiCall::SHORT]).unwrap();
        assert_eq!((call.words[8], call.text[0]), (u64::MAX, 0));
        bytes.push(1);
        assert_eq!(call_of(&bytes).unwrap().text[127], 0xff);
    }
}
