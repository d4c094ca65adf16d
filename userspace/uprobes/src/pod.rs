//! Plain data to and from the bytes of BPF maps.
#![allow(unsafe_code)] // plain old data is copied byte by byte

use gtrace_abi::{
    ApiCall, ApiConfig, ApiFailureKey, ApiFunction, ApiHist, ApiKey, ApiRecord, ApiStart,
    ApiStartKey, Ledger, Memory, MemoryKey,
};

/// Integers only, in C's layout and without padding.
///
/// # Safety
///
/// Every pattern of bytes must be a value, and a value must have no padding.
pub(crate) unsafe trait Pod: Copy {}

// SAFETY: `repr(C)`, integers only; gtrace-abi asserts their sizes, which leave no padding.
unsafe impl Pod for ApiCall {}
// SAFETY: as above.
unsafe impl Pod for ApiConfig {}
// SAFETY: as above.
unsafe impl Pod for ApiFailureKey {}
// SAFETY: as above.
unsafe impl Pod for ApiFunction {}
// SAFETY: as above.
unsafe impl Pod for ApiHist {}
// SAFETY: as above.
unsafe impl Pod for ApiKey {}
// SAFETY: as above.
unsafe impl Pod for ApiRecord {}
// SAFETY: as above.
unsafe impl Pod for ApiStart {}
// SAFETY: as above.
unsafe impl Pod for ApiStartKey {}
// SAFETY: as above.
unsafe impl Pod for Ledger {}
// SAFETY: as above.
unsafe impl Pod for Memory {}
// SAFETY: as above.
unsafe impl Pod for MemoryKey {}
// SAFETY: an integer.
unsafe impl Pod for u32 {}
// SAFETY: an integer.
unsafe impl Pod for u64 {}

/// The value at the start of `bytes`; `None` if there are too few.
pub(crate) fn read<T: Pod>(bytes: &[u8]) -> Option<T> {
    let bytes = bytes.get(..size_of::<T>())?;
    // SAFETY: there are as many bytes as T has, any of which are a T; alignment is not assumed.
    Some(unsafe { bytes.as_ptr().cast::<T>().read_unaligned() })
}

/// The bytes of a value.
pub(crate) fn bytes_of<T: Pod>(value: &T) -> &[u8] {
    // SAFETY: as many bytes as T has, all of them initialised, borrowed from `value`.
    unsafe { std::slice::from_raw_parts(std::ptr::from_ref(value).cast(), size_of::<T>()) }
}
