//! How long a server took for calls that nobody waits for.

use crate::codec::{DecodeError, Reader, Writer};

/// Bytes of one call.
const CALL_LEN: usize = 24;

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

/// Payload of a frame TIMES: calls in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Times(pub Vec<CallTimes>);

impl Times {
    /// Appends the payload.
    pub fn write(&self, writer: &mut Writer) {
        for call in &self.0 {
            writer.u64(call.seq);
            writer.u64(call.begun_ns);
            writer.u32(call.queue_ns);
            writer.u32(call.exec_ns);
        }
    }

    /// Reads the payload.
    ///
    /// # Errors
    ///
    /// A call that is cut.
    pub fn read(bytes: &[u8]) -> Result<Self, DecodeError> {
        let mut reader = Reader::new(bytes);
        let count = bytes.len().div_ceil(CALL_LEN);
        let calls = (0..count).map(|_| {
            Ok(CallTimes {
                seq: reader.u64()?,
                begun_ns: reader.u64()?,
                queue_ns: reader.u32()?,
                exec_ns: reader.u32()?,
            })
        });
        calls.collect::<Result<_, _>>().map(Self)
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

    proptest! {
        #[test]
        fn any_bytes_are_read_without_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = Times::read(&bytes);
        }
    }
}
