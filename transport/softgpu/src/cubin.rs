//! Machine code of real GPUs, as far as a launch that is not executed needs it: names of kernels,
//! where their parameters lie, what they take of a multiprocessor, and the variables.
//!
//! A cubin is an ELF file. `.nv.info` and `.nv.info.<kernel>` are rows of attributes: u8 format, u8
//! attribute, then by format nothing but padding (1), a byte (2), a half word (3), or a u16 length
//! and as many bytes (4). Names and numbers of attributes are those of `cuobjdump -elf`.

use std::collections::{BTreeMap, HashMap};
use std::ffi::CString;

use crate::abi::Answer;
use crate::attributes::{ARCH, MAX_THREADS, SHARED_RESERVED};
use crate::error::{INVALID_IMAGE, fail_if};
use crate::program::Entry;
use crate::ptx::Param;

pub(crate) const HEADER: usize = 64;
const SECTION: usize = 64;
const SYMBOL: usize = 24;

const SYMTAB: u32 = 2;
const NOBITS: u32 = 8;
/// Kinds of symbols, and the mark of a kernel among functions (`STO_CUDA_ENTRY`).
const OBJECT: u8 = 1;
const FUNCTION: u8 = 2;
const KERNEL: u8 = 0x10;

/// Of `.nv.info`: symbol (u32) and value (u32).
const FRAME_SIZE: u8 = 0x11;
const REGCOUNT: u8 = 0x2f;
/// Of `.nv.info.<kernel>`: three u32.
const MAX_BLOCK: u8 = 0x05;
const REQUIRED_BLOCK: u8 = 0x10;
/// u32 index, u16 ordinal, u16 offset, u32 whose bits 18 to 31 are the size.
const KPARAM_INFO: u8 = 0x17;
/// u32 index, u16 ordinal, u16 offset, u16 size, u16 others.
const KPARAM_INFO_V2: u8 = 0x45;
/// Half word: bytes of all parameters.
const CBANK_PARAM_SIZE: u8 = 0x19;

/// Most bytes of all variables of an image: more than any has, and no danger to the host.
const VARIABLES_MAX: u64 = 1 << 30;

/// A variable in device memory.
#[derive(Debug, Clone)]
pub(crate) struct Variable {
    pub(crate) name: String,
    /// Bytes.
    pub(crate) size: u64,
    /// Its first bytes; the others are 0.
    pub(crate) initial: Vec<u8>,
}

/// What is known of a cubin.
#[derive(Debug, Clone, Default)]
pub(crate) struct Cubin {
    pub(crate) entries: Vec<Entry>,
    pub(crate) variables: Vec<Variable>,
}

/// Bytes of the ELF file whose header and table of sections are `header` and `table`. Both tables and
/// the sections count, whichever ends last.
pub(crate) fn length(header: &[u8], table: &[u8]) -> Answer<usize> {
    let tables = tables_end(header)?;
    let end = table
        .chunks_exact(SECTION)
        .try_fold(tables, |end, section| {
            if u32_at(section, 4)? == NOBITS {
                return Ok(end);
            }
            let last = place_at(section, 24)?.checked_add(place_at(section, 32)?);
            Ok(end.max(last.ok_or(INVALID_IMAGE)?))
        })?;
    Ok(end)
}

/// Where the table of sections begins, and its bytes.
pub(crate) fn sections(header: &[u8]) -> Answer<(usize, usize)> {
    fail_if(
        header.len() < HEADER || header[4] != 2 || header[5] != 1,
        INVALID_IMAGE,
    )?;
    let (size, count) = (u16_at(header, 58)?, u16_at(header, 60)?);
    fail_if(usize::from(size) != SECTION, INVALID_IMAGE)?;
    Ok((place_at(header, 40)?, usize::from(count) * SECTION))
}

fn tables_end(header: &[u8]) -> Answer<usize> {
    let (at, bytes) = sections(header)?;
    let segments = usize::from(u16_at(header, 54)?) * usize::from(u16_at(header, 56)?);
    let segments = place_at(header, 32)?.checked_add(segments);
    let sections = at.checked_add(bytes);
    Ok(HEADER
        .max(segments.ok_or(INVALID_IMAGE)?)
        .max(sections.ok_or(INVALID_IMAGE)?))
}

impl Cubin {
    /// Reads an ELF file.
    ///
    /// # Errors
    /// `CUDA_ERROR_INVALID_IMAGE` for what is no cubin, or breaks off.
    pub(crate) fn read(image: &[u8]) -> Answer<Self> {
        File::read(image)?.cubin()
    }
}

struct Section<'a> {
    name: &'a str,
    kind: u32,
    size: u64,
    bytes: &'a [u8],
    link: usize,
}

struct File<'a> {
    sections: Vec<Section<'a>>,
}

/// Attributes of `.nv.info` by symbol.
#[derive(Default)]
struct Shared {
    registers: HashMap<u32, u32>,
    frame: HashMap<u32, u32>,
}

impl<'a> File<'a> {
    fn read(image: &'a [u8]) -> Answer<Self> {
        let header = image.get(..HEADER).ok_or(INVALID_IMAGE)?;
        let (at, bytes) = sections(header)?;
        let table = slice(image, at, bytes)?;
        let heads: Vec<&[u8]> = table.chunks_exact(SECTION).collect();
        let names = heads.get(usize::from(u16_at(header, 62)?));
        let names = contents(image, names.ok_or(INVALID_IMAGE)?)?;
        let sections = heads.iter().map(|head| {
            Ok(Section {
                name: text_at(names, u32_at(head, 0)? as usize)?,
                kind: u32_at(head, 4)?,
                size: u64_at(head, 32)?,
                bytes: contents(image, head)?,
                link: u32_at(head, 40)? as usize,
            })
        });
        let sections = sections.collect::<Answer<_>>()?;
        Ok(Self { sections })
    }

    fn cubin(&self) -> Answer<Cubin> {
        let Some(symbols) = self.sections.iter().find(|it| it.kind == SYMTAB) else {
            return Err(INVALID_IMAGE);
        };
        let names = self.sections.get(symbols.link).ok_or(INVALID_IMAGE)?.bytes;
        let by_name: HashMap<&str, &Section<'_>> =
            self.sections.iter().map(|it| (it.name, it)).collect();
        let shared = match by_name.get(".nv.info") {
            Some(info) => Shared::read(info.bytes)?,
            None => Shared::default(),
        };
        let constant = self
            .sections
            .iter()
            .filter(|it| it.name == ".nv.constant3")
            .map(|it| it.size as u32)
            .sum();
        let mut cubin = Cubin::default();
        let mut left = VARIABLES_MAX;
        for (index, symbol) in symbols.bytes.chunks_exact(SYMBOL).enumerate() {
            // Local ones too: kernels of unnamed namespaces, and static variables, are found by name.
            let kind = symbol[4] & 15;
            let section = usize::from(u16_at(symbol, 6)?);
            // Section 0 is what other files define.
            if section == 0 {
                continue;
            }
            let name = || text_at(names, u32_at(symbol, 0)? as usize);
            if kind == FUNCTION && symbol[5] & KERNEL != 0 {
                let name = name()?;
                let mut entry = entry(name, &by_name)?;
                entry.constant = constant;
                let index = index as u32;
                entry.registers = shared.registers.get(&index).copied().unwrap_or(0);
                entry.local = shared.frame.get(&index).copied().unwrap_or(0);
                cubin.entries.push(entry);
            } else if kind == OBJECT
                && let Some(section) = self.sections.get(section)
                && (section.name.starts_with(".nv.global") || section.name == ".nv.constant3")
            {
                let (at, size) = (place_at(symbol, 8)?, u64_at(symbol, 16)?);
                left = left.checked_sub(size).ok_or(INVALID_IMAGE)?;
                let initial = match section.kind {
                    NOBITS => Vec::new(),
                    _ => slice(section.bytes, at, size as usize)?.to_vec(),
                };
                let name = name()?.to_owned();
                cubin.variables.push(Variable {
                    name,
                    size,
                    initial,
                });
            }
        }
        Ok(cubin)
    }
}

/// What the sections of a kernel say.
fn entry(name: &str, sections: &HashMap<&str, &Section<'_>>) -> Answer<Entry> {
    let info = sections.get(format!(".nv.info.{name}").as_str());
    let info = Kernel::read(info.map_or(&[], |section| section.bytes))?;
    let shared = sections.get(format!(".nv.shared.{name}").as_str());
    // What the system takes of each block is among it.
    let shared = shared.map_or(0, |section| section.size as u32);
    let shared = shared.checked_sub(SHARED_RESERVED).unwrap_or(shared);
    let params: Vec<Param> = info.params.into_values().collect();
    let end = params.last().map_or(0, |last| last.offset + last.size);
    Ok(Entry {
        text: name.to_owned(),
        name: CString::new(name).map_err(|_| INVALID_IMAGE)?,
        param_size: info.param_size.map_or(end, |size| size.max(end)),
        params,
        shared,
        local: 0,
        constant: 0,
        registers: 0,
        max_threads: info.max_threads.filter(|most| *most < MAX_THREADS),
        required_block: info.required_block,
        ptx_version: ARCH,
    })
}

#[derive(Default)]
struct Kernel {
    params: BTreeMap<u16, Param>,
    param_size: Option<usize>,
    max_threads: Option<u32>,
    required_block: Option<[u32; 3]>,
}

impl Kernel {
    fn read(info: &[u8]) -> Answer<Self> {
        let mut kernel = Self::default();
        for attribute in attributes(info)? {
            match attribute {
                (KPARAM_INFO, Value::Bytes(bytes)) => {
                    kernel.param(bytes, (u32_at(bytes, 8)? >> 18) as usize)?;
                }
                (KPARAM_INFO_V2, Value::Bytes(bytes)) => {
                    kernel.param(bytes, u16_at(bytes, 8)?.into())?;
                }
                (CBANK_PARAM_SIZE, Value::Half(size)) => kernel.param_size = Some(size.into()),
                (MAX_BLOCK, Value::Bytes(bytes)) => {
                    let threads = three(bytes)?
                        .iter()
                        .fold(1, |all: u32, n| all.saturating_mul(*n));
                    kernel.max_threads = Some(threads);
                }
                (REQUIRED_BLOCK, Value::Bytes(bytes)) => {
                    kernel.required_block = Some(three(bytes)?);
                }
                _ => {}
            }
        }
        Ok(kernel)
    }

    fn param(&mut self, bytes: &[u8], size: usize) -> Answer {
        let param = Param {
            offset: u16_at(bytes, 6)?.into(),
            size,
            align: 1,
        };
        self.params.insert(u16_at(bytes, 4)?, param);
        Ok(())
    }
}

impl Shared {
    fn read(info: &[u8]) -> Answer<Self> {
        let mut shared = Self::default();
        for (attribute, value) in attributes(info)? {
            let into = match attribute {
                REGCOUNT => &mut shared.registers,
                FRAME_SIZE => &mut shared.frame,
                _ => continue,
            };
            if let Value::Bytes(bytes) = value {
                into.insert(u32_at(bytes, 0)?, u32_at(bytes, 4)?);
            }
        }
        Ok(shared)
    }
}

enum Value<'a> {
    Half(u16),
    Bytes(&'a [u8]),
}

fn attributes(info: &[u8]) -> Answer<Vec<(u8, Value<'_>)>> {
    let mut all = Vec::new();
    let mut at = 0;
    while at < info.len() {
        let head = slice(info, at, 4)?;
        let half = u16_at(head, 2)?;
        at += 4;
        let value = if head[0] == 4 {
            let bytes = slice(info, at, half.into())?;
            at += bytes.len();
            Value::Bytes(bytes)
        } else {
            Value::Half(half)
        };
        all.push((head[1], value));
    }
    Ok(all)
}

fn three(bytes: &[u8]) -> Answer<[u32; 3]> {
    Ok([u32_at(bytes, 0)?, u32_at(bytes, 4)?, u32_at(bytes, 8)?])
}

fn contents<'a>(image: &'a [u8], head: &[u8]) -> Answer<&'a [u8]> {
    match u32_at(head, 4)? {
        NOBITS | 0 => Ok(&[]),
        _ => slice(image, place_at(head, 24)?, place_at(head, 32)?),
    }
}

fn slice(bytes: &[u8], at: usize, len: usize) -> Answer<&[u8]> {
    let end = at.checked_add(len).ok_or(INVALID_IMAGE)?;
    bytes.get(at..end).ok_or(INVALID_IMAGE)
}

fn text_at(bytes: &[u8], at: usize) -> Answer<&str> {
    let from = bytes.get(at..).ok_or(INVALID_IMAGE)?;
    let len = from.iter().position(|byte| *byte == 0);
    std::str::from_utf8(&from[..len.ok_or(INVALID_IMAGE)?]).map_err(|_| INVALID_IMAGE)
}

fn array_at<const N: usize>(bytes: &[u8], at: usize) -> Answer<[u8; N]> {
    let from = bytes.get(at..).and_then(<[u8]>::first_chunk);
    from.copied().ok_or(INVALID_IMAGE)
}

fn u16_at(bytes: &[u8], at: usize) -> Answer<u16> {
    array_at(bytes, at).map(u16::from_le_bytes)
}

fn u32_at(bytes: &[u8], at: usize) -> Answer<u32> {
    array_at(bytes, at).map(u32::from_le_bytes)
}

fn u64_at(bytes: &[u8], at: usize) -> Answer<u64> {
    array_at(bytes, at).map(u64::from_le_bytes)
}

fn place_at(bytes: &[u8], at: usize) -> Answer<usize> {
    usize::try_from(u64_at(bytes, at)?).map_err(|_| INVALID_IMAGE)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CUBIN: &[u8] = include_bytes!("../../image/tests/data/sm_75.cubin");
    const WITH_VARIABLES: &[u8] = include_bytes!("../tests/data/sm_90.cubin");

    fn params(entry: &Entry) -> Vec<(usize, usize)> {
        entry.params.iter().map(|it| (it.offset, it.size)).collect()
    }

    #[test]
    fn kernels_and_their_parameters_are_found() {
        let cubin = Cubin::read(CUBIN).expect("a cubin");
        let add = cubin
            .entries
            .iter()
            .find(|it| it.text == "add")
            .expect("add");
        assert_eq!(params(add), [(0, 8), (8, 8), (16, 4)]);
        assert_eq!(add.param_size, 20);
        assert!(add.registers > 0 && add.max_threads.is_none());
    }

    /// As `cuobjdump -res-usage` says, without the reserved KiB of shared memory.
    #[test]
    fn what_a_kernel_takes_and_the_variables_are_found() {
        let cubin = Cubin::read(WITH_VARIABLES).expect("a cubin");
        let found = |name: &str| cubin.entries.iter().find(|it| it.text == name);
        let k = found("k").expect("k");
        assert_eq!(params(k), [(0, 8), (8, 4)]);
        assert_eq!((k.registers, k.shared, k.local), (8, 512, 64));
        assert_eq!((k.constant, k.max_threads), (16, Some(256)));
        let r = found("r").expect("r");
        assert_eq!((r.shared, r.required_block), (0, Some([64, 2, 1])));
        let mut variables = cubin.variables.clone();
        variables.sort_by(|a, b| a.name.cmp(&b.name));
        let sizes: Vec<_> = variables.iter().map(|it| (&*it.name, it.size)).collect();
        assert_eq!(sizes, [("counter", 4), ("room", 40), ("table", 16)]);
        assert_eq!(variables[0].initial, [7, 0, 0, 0]);
        assert!(variables[1].initial.is_empty());
        assert_eq!(variables[2].initial[..5], [1, 2, 3, 4, 0]);
    }

    #[test]
    fn the_length_is_that_of_the_file_and_what_breaks_off_is_refused() {
        for image in [CUBIN, WITH_VARIABLES] {
            let (at, bytes) = sections(image).expect("sections");
            assert_eq!(length(image, &image[at..at + bytes]), Ok(image.len()));
            for len in (0..image.len()).step_by(5) {
                let _ = Cubin::read(&image[..len]);
            }
        }
        assert!(Cubin::read(&CUBIN[..CUBIN.len() / 2]).is_err());
    }
}
