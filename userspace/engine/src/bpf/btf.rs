//! Offsets of structure members in the running kernel, from its own type information (BTF).
//!
//! Format: Documentation/bpf/btf.rst of the kernel. Only what is needed to find members by name
//! is read; everything is bounds-checked, as the blob may come from a file.

use thiserror::Error;

const MAGIC: u16 = 0xeb9f;
const KIND_INT: u32 = 1;
const KIND_ARRAY: u32 = 3;
const KIND_STRUCT: u32 = 4;
const KIND_UNION: u32 = 5;
const KIND_ENUM: u32 = 6;
const KIND_FUNC_PROTO: u32 = 13;
const KIND_VAR: u32 = 14;
const KIND_DATASEC: u32 = 15;
const KIND_DECL_TAG: u32 = 17;
const KIND_ENUM64: u32 = 19;
/// Anonymous structs nest this deep at most.
const MAX_DEPTH: u32 = 8;

/// Why an offset could not be had.
#[derive(Debug, Error)]
pub enum BtfError {
    /// The blob is not BTF or is cut short.
    #[error("kernel type information is malformed: {0}")]
    Malformed(&'static str),
    /// The kernel has no such member.
    #[error("the kernel's type information has no `{strukt}.{member}`")]
    NoMember {
        /// Structure name.
        strukt: String,
        /// Member name.
        member: String,
    },
}

/// A parsed BTF blob.
#[derive(Debug)]
pub struct Btf<'a> {
    types: &'a [u8],
    strings: &'a [u8],
    /// Byte offset of each type record in `types`; index 0 is type id 1.
    index: Vec<u32>,
    /// Those of `index` that are structures.
    structs: Vec<u32>,
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    let four = bytes.get(at..at.checked_add(4)?)?;
    Some(u32::from_le_bytes(four.try_into().ok()?))
}

/// Of a type's `info`: its kind, and how many members or so it has.
fn kind_and_length(info: u32) -> (u32, usize) {
    ((info >> 24) & 0x1f, (info & 0xffff) as usize)
}

struct Type {
    name: u32,
    kind: u32,
    vlen: usize,
    kind_flag: bool,
    members: usize,
}

impl<'a> Btf<'a> {
    /// Reads the header and finds every type.
    pub fn parse(blob: &'a [u8]) -> Result<Self, BtfError> {
        let cut = BtfError::Malformed("it is cut short");
        let magic = blob.get(..2).map(|m| u16::from_le_bytes([m[0], m[1]]));
        if magic != Some(MAGIC) {
            return Err(BtfError::Malformed("the magic number is wrong"));
        }
        let header = |i: usize| u32_at(blob, 4 + 4 * i).map(|v| v as usize);
        let (Some(hdr), Some(type_off), Some(type_len), Some(str_off), Some(str_len)) =
            (header(0), header(1), header(2), header(3), header(4))
        else {
            return Err(cut);
        };
        let section = |off: usize, len: usize| {
            let start = hdr.checked_add(off)?;
            blob.get(start..start.checked_add(len)?)
        };
        let (Some(types), Some(strings)) = (section(type_off, type_len), section(str_off, str_len))
        else {
            return Err(cut);
        };
        let mut btf = Self {
            types,
            strings,
            index: Vec::new(),
            structs: Vec::new(),
        };
        let mut at = 0;
        while at < types.len() {
            // Some 150,000: the fields beside these two are read of a type that is asked for.
            let Some([_, _, _, _, info @ ..]) = types.get(at..at + 12) else {
                return Err(cut);
            };
            let Some((kind, vlen)) = u32_at(info, 0).map(kind_and_length) else {
                return Err(cut);
            };
            let extra = match kind {
                KIND_INT | KIND_VAR | KIND_DECL_TAG => 4,
                KIND_ARRAY => 12,
                KIND_STRUCT | KIND_UNION | KIND_DATASEC | KIND_ENUM64 => vlen * 12,
                KIND_ENUM | KIND_FUNC_PROTO => vlen * 8,
                2 | 7..=12 | 16 | 18 => 0,
                _ => return Err(BtfError::Malformed("it has a type of unknown kind")),
            };
            btf.index.push(at as u32);
            if kind == KIND_STRUCT {
                btf.structs.push(at as u32);
            }
            at += 12 + extra;
        }
        Ok(btf)
    }

    fn type_at(&self, at: usize) -> Option<Type> {
        let name = u32_at(self.types, at)?;
        let info = u32_at(self.types, at + 4)?;
        u32_at(self.types, at + 8)?;
        let (kind, vlen) = kind_and_length(info);
        Some(Type {
            name,
            kind,
            vlen,
            kind_flag: info >> 31 == 1,
            members: at + 12,
        })
    }

    fn is_named(&self, offset: u32, name: &[u8]) -> bool {
        let rest = self.strings.get(offset as usize..).unwrap_or_default();
        rest.strip_prefix(name)
            .is_some_and(|rest| rest.first() == Some(&0))
    }

    /// Byte offset of `member` in `struct strukt`, anonymous inner structs looked through.
    pub fn member_offset(&self, strukt: &str, member: &str) -> Result<u32, BtfError> {
        self.structs
            .iter()
            .filter_map(|&at| self.type_at(at as usize))
            .filter(|ty| self.is_named(ty.name, strukt.as_bytes()))
            .find_map(|ty| self.find_member(&ty, member.as_bytes(), 0))
            .and_then(|bits| (bits % 8 == 0).then_some(bits / 8))
            .ok_or_else(|| BtfError::NoMember {
                strukt: strukt.to_owned(),
                member: member.to_owned(),
            })
    }

    fn find_member(&self, ty: &Type, member: &[u8], depth: u32) -> Option<u32> {
        for i in 0..ty.vlen {
            let at = ty.members + 12 * i;
            let name = u32_at(self.types, at)?;
            let type_id = u32_at(self.types, at + 4)?;
            let raw = u32_at(self.types, at + 8)?;
            let bits = if ty.kind_flag { raw & 0xff_ffff } else { raw };
            if self.is_named(name, member) {
                return Some(bits);
            }
            if self.is_named(name, b"") && depth < MAX_DEPTH {
                let inner = self.resolve(type_id)?;
                if matches!(inner.kind, KIND_STRUCT | KIND_UNION)
                    && let Some(inside) = self.find_member(&inner, member, depth + 1)
                {
                    return bits.checked_add(inside);
                }
            }
        }
        None
    }

    fn resolve(&self, id: u32) -> Option<Type> {
        let at = *self.index.get((id as usize).checked_sub(1)?)?;
        self.type_at(at as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blob(types: &[u32], strings: &[u8]) -> Vec<u8> {
        let mut blob = Vec::new();
        blob.extend(MAGIC.to_le_bytes());
        blob.extend([1, 0]);
        let type_len = types.len() as u32 * 4;
        for word in [24, 0, type_len, type_len, strings.len() as u32] {
            blob.extend(word.to_le_bytes());
        }
        types
            .iter()
            .for_each(|word| blob.extend(word.to_le_bytes()));
        blob.extend(strings);
        blob
    }

    /// struct s { int a; struct { int pad; int b; }; } with the inner one at byte 8.
    fn sample() -> Vec<u8> {
        let strings = b"\0int\0s\0a\0b\0pad\0";
        let (int, s, a, b, pad) = (1, 5, 7, 9, 11);
        let strukt = |vlen: u32| (KIND_STRUCT << 24) | vlen;
        #[rustfmt::skip]
        let types = [
            int, KIND_INT << 24, 4, 32,
            0, strukt(2), 8, pad, 1, 0, b, 1, 32,
            s, strukt(2), 16, a, 1, 0, 0, 2, 64,
        ];
        blob(&types, strings)
    }

    #[test]
    fn finds_members_through_anonymous_structs() {
        let blob = sample();
        let btf = Btf::parse(&blob).unwrap();
        assert_eq!(btf.member_offset("s", "a").unwrap(), 0);
        assert_eq!(btf.member_offset("s", "b").unwrap(), 12);
        let error = btf.member_offset("s", "c").unwrap_err();
        assert_eq!(
            error.to_string(),
            "the kernel's type information has no `s.c`"
        );
    }

    #[test]
    fn every_truncation_is_an_error_or_a_smaller_blob_never_a_panic() {
        let blob = sample();
        for len in 0..blob.len() {
            if let Ok(btf) = Btf::parse(&blob[..len]) {
                let _ = btf.member_offset("s", "b");
            }
        }
        assert!(Btf::parse(&blob[..30]).is_err());
    }

    #[test]
    fn a_struct_that_contains_itself_ends_the_search() {
        let types = [1, (KIND_STRUCT << 24) | 1, 4, 0, 1, 0];
        let blob = blob(&types, b"\0s\0");
        let btf = Btf::parse(&blob).unwrap();
        assert!(btf.member_offset("s", "x").is_err());
    }
}
