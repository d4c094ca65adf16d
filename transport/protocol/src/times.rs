//! How long a server took for asynchronous calls, and the GPU for what calls gave it to do.

use crate::codec::{DecodeError, Reader, Writer};
use crate::members;
use crate::payload::Payload as _;

/// Bytes of one call.
const CALL_LEN: usize = 24;
/// Bytes of what the GPU did for one call.
const WORK_LEN: usize = 28;

/// A one-way call, by the server's clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CallTimes {
    /// Number of its frame in the lane.
    pub seq: u64,
    /// When it began to be executed, CLOCK_MONOTONIC of the server, ns.
    pub begun_ns: u64,
    /// For how long it had waited by then.
    pub queue_ns: u32,
    /// How long it took.
    pub exec_ns: u32,
}

members!(CallTimes: seq, begun_ns, queue_ns, exec_ns);

/// Payload of a frame TIMES: calls in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Times(pub Vec<CallTimes>);

impl Times {
    /// Appends the payload.
    pub fn write(&self, writer: &mut Writer) {
        self.0.iter().for_each(|call| call.write(writer));
    }

    /// Reads the payload.
    pub fn read(bytes: &[u8]) -> Result<Self, DecodeError> {
        let mut reader = Reader::new(bytes);
        let calls = (0..bytes.len().div_ceil(CALL_LEN)).map(|_| CallTimes::read(&mut reader));
        calls.collect::<Result<_, _>>().map(Self)
    }
}

/// What the GPU did for a call, by the server's clock, as far as it can be reported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WorkTimes {
    /// Number of its frame in the lane; of a copy in pieces that of the last.
    pub seq: u64,
    /// When the GPU began, CLOCK_MONOTONIC of the server, ns.
    pub begun_ns: u64,
    /// When it was done.
    pub ended_ns: u64,
    /// By how much both may be wrong, either way.
    pub off_ns: u32,
}

members!(WorkTimes: seq, begun_ns, ended_ns, off_ns);

/// Payload of a frame WORK, in the order of its ends in each stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Works(pub Vec<WorkTimes>);

impl Works {
    /// Most that one frame has: a client remembers no more calls.
    pub const MOST: usize = 1 << 16;

    /// Appends the payload.
    pub fn write(&self, writer: &mut Writer) {
        self.0.iter().for_each(|work| work.write(writer));
    }

    /// Reads the payload.
    pub fn read(bytes: &[u8]) -> Result<Self, DecodeError> {
        let mut reader = Reader::new(bytes);
        let works = (0..bytes.len().div_ceil(WORK_LEN)).map(|_| WorkTimes::read(&mut reader));
        works.collect::<Result<_, _>>().map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn times_come_back_and_a_cut_call_does_not() {
        let call = CallTimes {
            seq: 7,
            begun_ns: u64::MAX,
            queue_ns: 1,
            exec_ns: 2,
        };
        let times = Times(vec![call, CallTimes { seq: 8, ..call }]);
        let mut writer = Writer::default();
        times.write(&mut writer);
        assert_eq!(Times::read(writer.as_slice()), Ok(times));
        assert_eq!(Times::read(&[]), Ok(Times::default()));
        assert!(Times::read(&writer.as_slice()[..CALL_LEN + 1]).is_err());
    }

    #[test]
    fn work_comes_back_and_fits_into_a_frame() {
        let work = WorkTimes {
            seq: 7,
            begun_ns: 1,
            ended_ns: u64::MAX,
            off_ns: 3,
        };
        let works = Works(vec![work; Works::MOST]);
        let mut writer = Writer::default();
        works.write(&mut writer);
        assert!(writer.len() <= crate::SMALL_MAX);
        assert_eq!(Works::read(writer.as_slice()), Ok(works));
        assert!(Works::read(&writer.as_slice()[..WORK_LEN - 1]).is_err());
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = Times::read(&bytes);
            let _ = Works::read(&bytes);
        }
    }
}
