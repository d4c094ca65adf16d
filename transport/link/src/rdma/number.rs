//! The number that comes with a write: how many bytes it wrote, and a part of their checksum.
//!
//! A write that completed is to be there whole, which the device and its packets' checksums see to. SoftRoCE was
//! seen not to keep that where packets are lost, so it is checked: bytes that differ from those sent come once more,
//! by the connection.

/// Bits of a number that count bytes.
const LEN_BITS: u32 = 17;
/// Most bytes of a message.
pub(super) const MESSAGE_MAX: usize = 1 << LEN_BITS;

/// From so many bytes on the checksum is Adler-32, which takes half the instructions of CRC-32C for many bytes, and
/// more for few.
const MANY: usize = 2 << 10;

/// For a message of `bytes`: at least one, at most [`MESSAGE_MAX`].
#[inline]
pub(super) fn of(bytes: &[u8]) -> u32 {
    debug_assert!((1..=MESSAGE_MAX).contains(&bytes.len()));
    let sum = match bytes.len() < MANY {
        true => crc32c::crc32c(bytes) << LEN_BITS,
        false => of_many(bytes),
    };
    (bytes.len() as u32).wrapping_sub(1) & (MESSAGE_MAX as u32 - 1) | sum
}

/// The upper bits of a number, of both halves of the sum: multiplied by 2^32 divided by the golden ratio, all bits of
/// it reach them.
fn of_many(bytes: &[u8]) -> u32 {
    simd_adler32::adler32(&bytes).wrapping_mul(0x9e37_79b1) >> LEN_BITS << LEN_BITS
}

/// How many bytes it says: at least one.
#[inline]
pub(super) fn len(number: u32) -> u32 {
    (number & (MESSAGE_MAX as u32 - 1)) + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_come_back() {
        for bytes in [1, 2, 100, MESSAGE_MAX - 1, MESSAGE_MAX] {
            assert_eq!(len(of(&vec![7; bytes])) as usize, bytes);
        }
    }

    #[test]
    fn bytes_that_did_not_come_show() {
        for bytes in [1, 60, 64, 1024, MANY - 1, MANY, 4096, MESSAGE_MAX] {
            let sent: Vec<u8> = (0..bytes).map(|at| (at % 251) as u8 | 1).collect();
            let number = of(&sent);
            assert_ne!(number, of(&vec![0; bytes]));
            // A packet of it.
            let mut torn = sent.clone();
            torn[bytes / 2..].fill(0);
            assert_ne!(number, of(&torn));
            // Two of its parts in the other order.
            if bytes > 1 {
                torn.copy_from_slice(&sent);
                torn.rotate_left(bytes / 2);
                assert_ne!(number, of(&torn));
            }
        }
    }
}
