//! Ids of operations.

/// Stable id of an operation: FNV-1a 32 of its symbol's name.
pub type OpId = u32;

/// Ids below belong to control frames.
pub const FIRST_OPERATION: OpId = 256;

/// The id of the operation with this symbol name, such as `cuMemAlloc_v2`.
pub const fn op_id(name: &str) -> OpId {
    let bytes = name.as_bytes();
    let mut hash: u32 = 0x811c_9dc5;
    let mut at = 0;
    while at < bytes.len() {
        hash ^= bytes[at] as u32;
        hash = hash.wrapping_mul(0x0100_0193);
        at += 1;
    }
    hash
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_fnv_1a() {
        // Test vectors of the FNV reference implementation (RFC 9923, appendix).
        assert_eq!(op_id(""), 0x811c_9dc5);
        assert_eq!(op_id("a"), 0xe40c_292c);
        assert_eq!(op_id("foobar"), 0xbf9c_f968);
    }
}
