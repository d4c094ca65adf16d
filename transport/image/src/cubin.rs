//! Cubins: ELF files whose sections `.nv.info.<kernel>` say where parameters lie.
//!
//! A section is a row of attributes: u8 format, u8 attribute, then by format nothing but padding
//! (1), a byte (2), a half word (3), or a u16 length and as many bytes (4). Attributes and their
//! numbers are those that `cuobjdump -elf` names; two of them report parameters:
//!
//! | attribute | bytes |
//! |---|---|
//! | EIATTR_KPARAM_INFO, 0x17 | u32 index, u16 ordinal, u16 offset, u32: bits 18 to 31 size |
//! | EIATTR_KPARAM_INFO_V2, 0x45 | u32 index, u16 ordinal, u16 offset, u16 size, u16 others |
//! | EIATTR_CBANK_PARAM_SIZE, 0x19 | half word: bytes of all parameters |

use std::collections::HashMap;
use std::str;

use crate::bytes::{place_at, slice, u16_at, u32_at};
use crate::{Layouts, PARAMETERS_MAX, Parameter, in_order};

const HEADER: usize = 64;
const SECTION: usize = 64;
/// How the name of a section begins that reports a kernel.
const INFO: &[u8] = b".nv.info.";

const KPARAM_INFO: u8 = 0x17;
const KPARAM_INFO_V2: u8 = 0x45;
const CBANK_PARAM_SIZE: u8 = 0x19;

/// Whether these bytes begin as an ELF file does.
pub(crate) fn is(image: &[u8]) -> bool {
    image.starts_with(b"\x7fELF")
}

/// Reads the kernels of a 64-bit little-endian ELF file. `None` where it broke off.
pub(crate) fn read(image: &[u8], layouts: &mut Layouts) -> Option<()> {
    let header = image.get(..HEADER)?;
    if header[4] != 2 || header[5] != 1 || u16_at(header, 58)? as usize != SECTION {
        return None;
    }
    let table = image.get(place_at(header, 40)?..)?;
    let section = |at: usize| slice(table, at.checked_mul(SECTION)?, SECTION);
    // Where these do not fit the header, section 0 has them (ELF, SHN_XINDEX).
    let count = match u16_at(header, 60)? {
        0 => place_at(section(0)?, 32)?,
        count => count.into(),
    };
    let names = match u16_at(header, 62)? {
        0xffff => u32_at(section(0)?, 40)? as usize,
        names => names.into(),
    };
    let names = contents(image, section(names)?)?;
    // Sections share no bytes, so that there are no more to be read than the image has.
    let mut left = image.len();
    for at in 0..count.min(table.len() / SECTION) {
        let section = section(at)?;
        let Some(kernel) = kernel(names, u32_at(section, 0)? as usize) else {
            continue;
        };
        let info = contents(image, section);
        left = left.checked_sub(kernel.len() + info.map_or(0, <[u8]>::len))?;
        layouts.add(kernel, info.and_then(parameters));
    }
    Some(())
}

fn contents<'a>(image: &'a [u8], section: &[u8]) -> Option<&'a [u8]> {
    slice(image, place_at(section, 24)?, place_at(section, 32)?)
}

/// Longest name: those of C++ templates have some thousand characters.
const NAME_MAX: usize = 64 << 10;

/// The kernel that a section whose name is at `at` reports.
fn kernel(names: &[u8], at: usize) -> Option<&str> {
    let from = names.get(at..)?.strip_prefix(INFO)?;
    let len = from.iter().take(NAME_MAX).position(|byte| *byte == 0)?;
    str::from_utf8(from.get(..len)?).ok()
}

/// The parameters that a section's attributes give. `None` if they do not agree.
fn parameters(info: &[u8]) -> Option<Vec<Parameter>> {
    let mut found: HashMap<u16, Parameter> = HashMap::new();
    let mut total = None;
    let mut at = 0;
    while at < info.len() {
        let (format, attribute) = (*info.get(at)?, *info.get(at + 1)?);
        let value = u16_at(info, at + 2)?;
        at += 4;
        if format != 4 {
            if attribute == CBANK_PARAM_SIZE {
                total = Some(u32::from(value));
            }
            continue;
        }
        let bytes = slice(info, at, value.into())?;
        at += bytes.len();
        if !matches!(attribute, KPARAM_INFO | KPARAM_INFO_V2) {
            continue;
        }
        let size = match attribute {
            KPARAM_INFO => u32_at(bytes, 8)? >> 18,
            _ => u16_at(bytes, 8)?.into(),
        };
        let parameter = Parameter {
            offset: u16_at(bytes, 6)?.into(),
            size,
        };
        let known = found.insert(u16_at(bytes, 4)?, parameter);
        if known.is_some_and(|known| known != parameter) || found.len() > PARAMETERS_MAX {
            return None;
        }
    }
    // Ordinals count from 0, in any order.
    let parameters: Option<Vec<_>> = (0..found.len())
        .map(|ordinal| found.get(&u16::try_from(ordinal).ok()?).copied())
        .collect();
    let parameters = parameters?;
    let end = parameters.last().map_or(0, |last| last.offset + last.size);
    let agrees = total.is_none_or(|total| total == end);
    (agrees && in_order(&parameters)).then_some(parameters)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attribute(number: u8, bytes: &[u8]) -> Vec<u8> {
        let mut attribute = vec![4, number];
        attribute.extend((bytes.len() as u16).to_le_bytes());
        attribute.extend(bytes);
        attribute
    }

    fn old(ordinal: u16, offset: u16, size: u32) -> Vec<u8> {
        let mut bytes = vec![0; 4];
        bytes.extend(ordinal.to_le_bytes());
        bytes.extend(offset.to_le_bytes());
        bytes.extend((size << 18 | 0x1f000).to_le_bytes());
        attribute(KPARAM_INFO, &bytes)
    }

    fn new(ordinal: u16, offset: u16, size: u16) -> Vec<u8> {
        let mut bytes = vec![0; 4];
        bytes.extend(ordinal.to_le_bytes());
        bytes.extend(offset.to_le_bytes());
        bytes.extend(size.to_le_bytes());
        bytes.extend([0, 5]);
        attribute(KPARAM_INFO_V2, &bytes)
    }

    fn pairs(info: &[Vec<u8>]) -> Option<Vec<(u32, u32)>> {
        let parameters = parameters(&info.concat())?;
        Some(parameters.iter().map(|p| (p.offset, p.size)).collect())
    }

    const REGISTERS: [u8; 4] = [3, 0x1b, 0xff, 0];

    #[test]
    fn attributes_report_parameters_in_any_order() {
        let size = vec![3, CBANK_PARAM_SIZE, 12, 0];
        let info = [old(1, 8, 4), REGISTERS.to_vec(), size.clone(), old(0, 0, 8)];
        assert_eq!(pairs(&info).unwrap(), [(0, 8), (8, 4)]);
        assert_eq!(pairs(&[new(0, 0, 20_000)]).unwrap(), [(0, 20_000)]);
        assert_eq!(pairs(&[REGISTERS.to_vec()]).unwrap(), []);
        // Twelve bytes, of which four are reported.
        assert_eq!(pairs(&[size, old(0, 0, 4)]), None);
    }

    #[test]
    fn what_does_not_agree_is_not_known() {
        assert_eq!(pairs(&[old(1, 0, 4)]), None, "no parameter 0");
        assert_eq!(pairs(&[old(0, 0, 8), old(1, 4, 4)]), None, "they overlap");
        assert_eq!(pairs(&[old(0, 0, 8), old(0, 0, 4)]), None);
        assert_eq!(
            pairs(&[vec![4, KPARAM_INFO, 2, 0, 1, 1]]),
            None,
            "too short"
        );
        assert_eq!(pairs(&[vec![4, 1, 9, 0, 1]]), None, "broken off");
    }
}
