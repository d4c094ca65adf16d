//! The seal: the last lines of a report, which name every range of its bytes and that range's SHA-256.
//!
//! `OFFSET LENGTH SHA256 NAME` a line, the ranges without gap from 0 to where the seal begins; then `seal SHA256`, the
//! hash of the lines before it. So any byte that changes is one of a named part, of the page around the parts, or of
//! the seal, and a shell with `tail`, `head` and `sha256sum` finds out which (docs/reports.md).

use sha2::{Digest as _, Sha256};

use crate::chain::hex;

/// First line of every seal.
const TITLE: &str = "gtrace-report seal 1\n";
/// What HTML has around it.
const OPEN: &str = "<!--";
const CLOSE: &str = "-->\n";
/// Magic number of a skippable frame of zstd (RFC 8878, 3.1.2), little-endian; one of 0x184D2A50 to 0x184D2A5F.
const SKIPPABLE: [u8; 4] = 0x184D_2A5E_u32.to_le_bytes();

/// Name of what surrounds the parts.
pub(crate) const PAGE: &str = "page";
/// Name of the seal in findings.
pub(crate) const SEAL: &str = "seal";

/// A range of the file's bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Range {
    /// Where it begins.
    pub(crate) offset: usize,
    /// How long it is.
    pub(crate) length: usize,
    /// SHA-256 of its bytes, hex.
    pub(crate) sha256: String,
    /// What it is: a part's name, or [`PAGE`].
    pub(crate) name: String,
}

/// Why a file has no seal that can be read.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SealError {
    /// There is none.
    #[error(
        "the file has no seal at its end: it is no report of gtrace, or it was cut or changed there"
    )]
    Missing,
    /// It is there and is damaged.
    #[error("the seal at the end of the file is damaged: {0}")]
    Damaged(&'static str),
}

/// SHA-256, hex.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// A file under construction.
#[derive(Debug, Default)]
pub(crate) struct Sealed {
    bytes: Vec<u8>,
    ranges: Vec<Range>,
}

impl Sealed {
    pub(crate) fn push(&mut self, name: &str, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        self.ranges.push(Range {
            offset: self.bytes.len(),
            length: bytes.len(),
            sha256: sha256(bytes),
            name: name.to_owned(),
        });
        self.bytes.extend_from_slice(bytes);
    }

    fn text(&self) -> String {
        let mut text = TITLE.to_owned();
        for range in &self.ranges {
            let Range {
                offset,
                length,
                sha256,
                name,
            } = range;
            text.push_str(&format!("{offset} {length} {sha256} {name}\n"));
        }
        let hash = sha256(text.as_bytes());
        text.push_str(&format!("seal {hash}\n"));
        text
    }

    /// With the seal as a comment of HTML.
    pub(crate) fn html(mut self) -> Vec<u8> {
        let seal = format!("{OPEN}{}{CLOSE}", self.text());
        self.bytes.extend_from_slice(seal.as_bytes());
        self.bytes
    }

    /// With the seal as a frame that zstd skips.
    pub(crate) fn zstd(mut self) -> Vec<u8> {
        let seal = self.text();
        self.bytes.extend_from_slice(&SKIPPABLE);
        self.bytes
            .extend_from_slice(&(seal.len() as u32).to_le_bytes());
        self.bytes.extend_from_slice(seal.as_bytes());
        self.bytes
    }
}

/// What kind of file a report is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A page.
    Html,
    /// A `.tar.zst`.
    Bundle,
}

/// Reads the seal of a file.
pub(crate) fn read(bytes: &[u8]) -> Result<(Kind, Vec<Range>), SealError> {
    let title = bytes
        .windows(TITLE.len())
        .rposition(|window| window == TITLE.as_bytes())
        .ok_or(SealError::Missing)?;
    let (before, rest) = bytes.split_at(title);
    let (kind, end, text) = if let Some(before) = before.strip_suffix(OPEN.as_bytes()) {
        let text = rest.strip_suffix(CLOSE.as_bytes());
        (
            Kind::Html,
            before.len(),
            text.ok_or(SealError::Damaged("its end is not `-->`"))?,
        )
    } else {
        let frame = title.checked_sub(8).ok_or(SealError::Missing)?;
        let length = (rest.len() as u32).to_le_bytes();
        if before[frame..] != [SKIPPABLE, length].concat() {
            return Err(SealError::Damaged("its frame is not one that zstd skips"));
        }
        (Kind::Bundle, frame, rest)
    };
    let text = std::str::from_utf8(text).map_err(|_| SealError::Damaged("it is no UTF-8"))?;
    Ok((kind, ranges(text, end)?))
}

fn ranges(text: &str, end: usize) -> Result<Vec<Range>, SealError> {
    let at = text
        .rfind("seal ")
        .ok_or(SealError::Damaged("it has no last line"))?;
    let (lines, last) = text.split_at(at);
    if last != format!("seal {}\n", sha256(lines.as_bytes())) {
        return Err(SealError::Damaged("its own hash differs"));
    }
    let mut next = 0;
    let mut ranges = Vec::new();
    for line in lines.lines().skip(1) {
        let range = range(line).ok_or(SealError::Damaged(
            "a line is not `OFFSET LENGTH SHA256 NAME`",
        ))?;
        if range.offset != next {
            return Err(SealError::Damaged("its ranges leave gaps"));
        }
        next = next
            .checked_add(range.length)
            .ok_or(SealError::Damaged("its ranges are too long"))?;
        ranges.push(range);
    }
    match next == end {
        true => Ok(ranges),
        false => Err(SealError::Damaged(
            "its ranges do not end where it begins: bytes were added or cut",
        )),
    }
}

fn range(line: &str) -> Option<Range> {
    let mut words = line.splitn(4, ' ');
    let mut word = || words.next();
    Some(Range {
        offset: word()?.parse().ok()?,
        length: word()?.parse().ok()?,
        sha256: word()?.to_owned(),
        name: word()?.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file() -> Sealed {
        let mut sealed = Sealed::default();
        sealed.push(PAGE, b"<html>");
        sealed.push("a", b"AAAA");
        sealed.push(PAGE, b"</html>");
        sealed
    }

    #[test]
    fn the_seal_names_every_byte_in_both_kinds_of_file() {
        for (bytes, kind) in [(file().html(), Kind::Html), (file().zstd(), Kind::Bundle)] {
            let (found, ranges) = read(&bytes).unwrap();
            assert_eq!(found, kind);
            let names: Vec<_> = ranges
                .iter()
                .map(|r| (r.offset, r.length, r.name.as_str()))
                .collect();
            assert_eq!(names, [(0, 6, PAGE), (6, 4, "a"), (10, 7, PAGE)]);
        }
    }

    #[test]
    fn no_byte_of_a_seal_can_change_unseen() {
        for bytes in [file().html(), file().zstd()] {
            for at in 17..bytes.len() {
                let mut changed = bytes.clone();
                changed[at] ^= 1;
                assert!(read(&changed).is_err(), "{at}");
            }
            assert!(read(&bytes[..bytes.len() - 1]).is_err());
            assert!(read(&[b"x", &bytes[..]].concat()).is_err());
        }
        assert_eq!(read(b"hello"), Err(SealError::Missing));
    }
}
