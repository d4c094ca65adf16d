//! What two sides have to know of each other's queue pairs before they can connect them.
//!
//! A lane has two queue pairs, one for each direction of its data: on one the client writes into the
//! server's ring and the server gives back what it has read, on the other it is the other way round.

use crate::codec::{DecodeError, Reader, Writer};
use crate::handshake::Message;
use crate::members;
use crate::payload::{Bounded as _, Payload};

/// Longest reason, bytes.
const REASON_MAX: usize = 4096;

/// One queue pair of the side that says so.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueuePairEnd {
    /// Its number.
    pub number: u32,
    /// Sequence number of its first packet, 24 bits.
    pub psn: u32,
}

/// Payload of `control::RDMA`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueuePairs {
    /// Address of the port of the device.
    pub gid: [u8; 16],
    /// Local identifier of the port; 0 on Ethernet.
    pub lid: u16,
    /// Largest packet of the port, as `enum ibv_mtu` numbers it.
    pub mtu: u8,
    /// Bytes of each ring: a power of two.
    pub ring: u64,
    /// Where the other side writes to, in the process that says so.
    pub address: u64,
    /// Key for that.
    pub key: u32,
    /// Receives that are posted for these writes.
    pub receives: u32,
    /// The queue pair on which the client writes.
    pub to_server: QueuePairEnd,
    /// The queue pair on which the server writes.
    pub to_client: QueuePairEnd,
}

/// The answer: the server's queue pairs, connected to those of the client, or why not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueuePairsAnswer(pub Result<QueuePairs, String>);

members!(QueuePairEnd: number, psn);
members!(QueuePairs: gid, lid, mtu, ring, address, key, receives, to_server, to_client);

impl Message for QueuePairs {
    const OP: u32 = crate::control::RDMA;
}

impl Message for QueuePairsAnswer {
    const OP: u32 = crate::control::RDMA;
}

impl Payload<'_> for QueuePairsAnswer {
    fn write(&self, w: &mut Writer) {
        self.0.is_ok().write(w);
        match &self.0 {
            Ok(pairs) => pairs.write(w),
            Err(reason) => {
                let mut end = reason.len().min(REASON_MAX);
                while !reason.is_char_boundary(end) {
                    end -= 1;
                }
                w.str(&reason[..end]);
            }
        }
    }

    fn read(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(Self(match r.flag("the answer about RDMA")? {
            true => Ok(QueuePairs::read(r)?),
            false => Err(String::at_most(r, REASON_MAX)?),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn both_answers_come_back() {
        let pairs = QueuePairs {
            gid: [7; 16],
            lid: 3,
            mtu: 5,
            ring: 1 << 20,
            address: 0x7fff_0000_0000,
            key: 99,
            receives: 256,
            to_server: QueuePairEnd { number: 17, psn: 1 },
            to_client: QueuePairEnd { number: 18, psn: 2 },
        };
        for answer in [Ok(pairs), Err("no RDMA device".to_owned())] {
            let answer = QueuePairsAnswer(answer);
            assert_eq!(QueuePairsAnswer::parse(&answer.to_bytes()), Ok(answer));
        }
    }

    #[test]
    fn a_long_reason_is_cut_where_a_character_ends() {
        let long = QueuePairsAnswer(Err(format!("x{}", "ü".repeat(REASON_MAX))));
        let QueuePairsAnswer(answer) = QueuePairsAnswer::parse(&long.to_bytes()).unwrap();
        assert_eq!(answer.unwrap_err().len(), REASON_MAX - 1);
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = QueuePairs::parse(&bytes);
            let _ = QueuePairsAnswer::parse(&bytes);
        }
    }
}
