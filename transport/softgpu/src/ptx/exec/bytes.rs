//! Numbers in bytes that only one thread of the host touches: shared, local and parameter memory.

use super::super::program::Element;

pub(super) fn range(offset: u64, len: u32, size: usize) -> Option<usize> {
    let end = offset.checked_add(u64::from(len))?;
    (end <= size as u64).then_some(offset as usize)
}

pub(super) fn get(bytes: &[u8], at: usize, len: u32) -> u64 {
    let mut value = [0; 8];
    if let (Some(to), Some(from)) = (
        value.get_mut(..len as usize),
        bytes.get(at..at + len as usize),
    ) {
        to.copy_from_slice(from);
    }
    u64::from_le_bytes(value)
}

pub(super) fn put(bytes: &mut [u8], at: usize, len: u32, value: u64) {
    if let (Some(to), Some(from)) = (
        bytes.get_mut(at..at + len as usize),
        value.to_le_bytes().get(..len as usize),
    ) {
        to.copy_from_slice(from);
    }
}

pub(super) fn widen(element: Element, value: u64) -> u64 {
    match element {
        Element::S8 => value as i8 as i64 as u64,
        Element::S16 => value as i16 as i64 as u64,
        Element::S32 => value as i32 as i64 as u64,
        _ => value,
    }
}
