//! Verifying a report, and taking its parts out.

use std::collections::BTreeMap;
use std::io::{self, Read as _};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

use crate::chain::{self, Summary};
use crate::part::{self, CHAIN, Entry, MANIFEST, Manifest};
use crate::seal::{self, Kind, PAGE, Range, SEAL, SealError, sha256};

/// The most that the manifest, or a part that it does not list, unpacks to, bytes.
const UNLISTED_MAX: u64 = 64 << 20;
/// The most that all parts of a report unpack to, bytes: one from somebody else may be a bomb.
const ALL_MAX: u64 = 2 << 30;

/// Something is wrong with a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Which part: a file's name, `page` for what surrounds the files, `seal`, or `end` of an archive.
    pub part: String,
    /// What.
    pub why: String,
}

/// What came out.
#[derive(Debug, Default)]
pub struct Verified {
    /// Whether it is a report at all: it has a seal, intact or not.
    pub is_report: bool,
    /// What is wrong; empty where nothing is.
    pub findings: Vec<Finding>,
    /// The manifest, where it can be read.
    pub manifest: Option<Manifest>,
    /// The store's records, recomputed, where there are some and they hold together.
    pub chain: Option<Summary>,
    /// The intact files, unpacked, by name.
    pub files: BTreeMap<String, Vec<u8>>,
}

impl Verified {
    /// Whether every byte is as it was when the report was made.
    pub fn is_intact(&self) -> bool {
        self.findings.is_empty()
    }

    fn find(&mut self, part: &str, why: impl Into<String>) {
        self.findings.push(Finding {
            part: part.to_owned(),
            why: why.into(),
        });
    }
}

/// Checks every byte of a report, either kind, and takes out the files that are intact.
pub fn verify(bytes: &[u8]) -> Verified {
    let mut verified = Verified {
        is_report: true,
        ..Verified::default()
    };
    let (kind, ranges) = match seal::read(bytes) {
        Ok(read) => read,
        Err(error) => {
            verified.is_report = error != SealError::Missing;
            verified.find(SEAL, error.to_string());
            return verified;
        }
    };
    let mut stored = BTreeMap::new();
    for range in &ranges {
        // The seal's ranges lie within the file: reading it has checked that.
        let of_range = bytes
            .get(range.offset..range.offset + range.length)
            .unwrap_or_default();
        if sha256(of_range) != range.sha256 {
            let Range {
                name,
                offset,
                length,
                ..
            } = range;
            verified.find(
                name,
                format!("bytes {offset} to {} were changed", offset + length),
            );
        } else if range.name != PAGE && range.name != "end" {
            stored.insert(range.name.as_str(), of_range);
        }
    }
    let mut parts = Parts {
        kind,
        stored,
        room: ALL_MAX,
    };
    parts.manifest(&mut verified);
    parts.listed(&mut verified);
    parts.others(&mut verified);
    check_chain(&mut verified);
    verified
}

/// The intact ranges of a report by their names, and what may still be unpacked of them.
struct Parts<'a> {
    kind: Kind,
    stored: BTreeMap<&'a str, &'a [u8]>,
    /// Bytes.
    room: u64,
}

impl Parts<'_> {
    /// What is stored in a range: base64 in a page, an entry of tar in a frame of zstd in a bundle; then unpacked.
    fn take(&mut self, name: &str, most: u64) -> Option<io::Result<Vec<u8>>> {
        let bytes = self.stored.remove(name)?;
        let most = most.min(self.room);
        let unpacked = match self.kind {
            Kind::Html => BASE64_STANDARD
                .decode(bytes)
                .map_err(io::Error::other)
                .and_then(|bytes| part::unpack(name, &bytes, most)),
            Kind::Bundle => entry(bytes, most),
        };
        if let Ok(bytes) = &unpacked {
            self.room -= bytes.len() as u64;
        }
        Some(unpacked)
    }

    fn manifest(&mut self, verified: &mut Verified) {
        match self.take(MANIFEST, UNLISTED_MAX) {
            Some(Ok(bytes)) => {
                match serde_json::from_slice(&bytes) {
                    Ok(manifest) => verified.manifest = Some(manifest),
                    Err(error) => verified.find(MANIFEST, format!("it cannot be read: {error}")),
                }
                verified.files.insert(MANIFEST.to_owned(), bytes);
            }
            Some(Err(error)) => verified.find(MANIFEST, format!("it cannot be read: {error}")),
            None if verified.findings.iter().any(|f| f.part == MANIFEST) => {}
            None => verified.find(MANIFEST, "it is not there"),
        }
    }

    fn listed(&mut self, verified: &mut Verified) {
        let entries = verified
            .manifest
            .iter()
            .flat_map(|manifest| manifest.parts.clone());
        for entry in entries.collect::<Vec<_>>() {
            match self.take(&entry.stored_as, entry.bytes) {
                Some(unpacked) => file(verified, &entry, unpacked),
                None if verified.findings.iter().any(|f| f.part == entry.stored_as) => {}
                None => verified.find(
                    &entry.stored_as,
                    "the manifest lists it and it is not there",
                ),
            }
        }
    }

    /// What the manifest does not list; all that there is, where the manifest is damaged.
    fn others(&mut self, verified: &mut Verified) {
        for name in self.stored.keys().copied().collect::<Vec<_>>() {
            if verified.manifest.is_some() {
                verified.find(name, "the manifest does not list it");
            } else if let (Some(plain), Some(Ok(bytes))) =
                (plain_name(name), self.take(name, UNLISTED_MAX))
            {
                verified.files.insert(plain.to_owned(), bytes);
            }
        }
    }
}

/// The first file of an archive of tar in a frame of zstd, at most `most` bytes.
fn entry(bytes: &[u8], most: u64) -> io::Result<Vec<u8>> {
    // A block for the file's header, and one to see that there is more. Names that stand before it as entries of their own
    // are read into memory by the archive, so they count too.
    let reader = zstd::Decoder::new(bytes)?.take(most.saturating_add(1024));
    let mut archive = tar::Archive::new(reader);
    let entry = archive.entries()?.next();
    let entry = entry.ok_or_else(|| io::Error::other("it has no entry"))??;
    part::bounded(entry, most)
}

fn file(verified: &mut Verified, entry: &Entry, unpacked: io::Result<Vec<u8>>) {
    match unpacked {
        Err(error) => verified.find(&entry.stored_as, format!("it cannot be unpacked: {error}")),
        Ok(bytes) if sha256(&bytes) != entry.sha256 => {
            verified.find(
                &entry.stored_as,
                "it is not the file that the manifest lists",
            );
        }
        Ok(bytes) => match plain_name(&entry.name) {
            Some(name) => drop(verified.files.insert(name.to_owned(), bytes)),
            None => verified.find(&entry.stored_as, "its name is no name of a file"),
        },
    }
}

/// A name that stays in its directory, and in its line where it is printed, without the ending of a packed file.
fn plain_name(name: &str) -> Option<&str> {
    let name = name
        .strip_suffix(".zst")
        .or(name.strip_suffix(".gz"))
        .unwrap_or(name);
    let leaves = |c: char| matches!(c, '/' | '\\') || c.is_control();
    let sound = !name.is_empty() && !name.starts_with('.') && !name.contains(leaves);
    sound.then_some(name)
}

fn check_chain(verified: &mut Verified) {
    let Some(lines) = verified.files.get(CHAIN) else {
        return;
    };
    match chain::verify(lines) {
        Ok(found) => {
            let listed = verified
                .manifest
                .as_ref()
                .and_then(|manifest| manifest.chain.as_ref());
            if listed.is_some_and(|listed| *listed != found) {
                verified.find(CHAIN, "its ends are not those that the manifest states");
            } else {
                verified.chain = Some(found);
            }
        }
        Err(error) => verified.find(CHAIN, error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seal::Sealed;

    const SIZE: usize = 8 << 20;

    /// An entry of an archive of tar.
    fn tar_entry(kind: tar::EntryType, name: &str, bytes: &[u8]) -> Vec<u8> {
        let mut header = tar::Header::new_ustar();
        header.set_path(name).unwrap();
        header.set_entry_type(kind);
        header.set_size(bytes.len() as u64);
        header.set_cksum();
        let mut tar = header.as_bytes().to_vec();
        tar.extend_from_slice(bytes);
        tar.resize(tar.len().next_multiple_of(512), 0);
        tar
    }

    /// A bundle whose manifest lists `events.jsonl` with these bytes, and that has `entries` for it.
    fn bundle(listed: &[u8], entries: &[u8]) -> Vec<u8> {
        let material = crate::Material::new(
            gtrace_event::Timestamp::UNIX_EPOCH,
            "test".to_owned(),
            crate::Window {
                from: gtrace_event::Timestamp::UNIX_EPOCH,
                to: gtrace_event::Timestamp::UNIX_EPOCH,
            },
        );
        let mut manifest = part::manifest(&material, false);
        manifest.parts.push(Entry {
            name: "events.jsonl".to_owned(),
            about: String::new(),
            bytes: listed.len() as u64,
            sha256: sha256(listed),
            stored_as: "events.jsonl".to_owned(),
            stored_bytes: listed.len() as u64,
        });
        let manifest = manifest.json().unwrap();
        let manifest = tar_entry(tar::EntryType::Regular, MANIFEST, &manifest);
        let mut sealed = Sealed::default();
        sealed.push(MANIFEST, &part::compress(&manifest).unwrap());
        sealed.push("events.jsonl", &part::compress(entries).unwrap());
        sealed.zstd()
    }

    #[test]
    fn a_bundle_that_unpacks_to_more_than_its_manifest_says_is_not_unpacked() {
        let large = tar_entry(tar::EntryType::Regular, "events.jsonl", &vec![0; SIZE]);
        let verified = verify(&bundle(&[0; 10], &large));
        let [finding] = &verified.findings[..] else {
            panic!("{:?}", verified.findings);
        };
        assert_eq!(finding.part, "events.jsonl");
        assert!(
            finding.why.contains("more than 10 bytes"),
            "{}",
            finding.why
        );
        assert!(!verified.files.contains_key("events.jsonl"));
    }

    #[test]
    fn a_name_in_a_bundle_takes_no_more_memory_than_its_file_may() {
        let file = tar_entry(tar::EntryType::Regular, "events.jsonl", &[0; 10]);
        assert!(verify(&bundle(&[0; 10], &file)).is_intact());
        let mut named = tar_entry(tar::EntryType::GNULongName, "name", &vec![b'a'; SIZE]);
        named.extend_from_slice(&file);
        let findings = verify(&bundle(&[0; 10], &named)).findings;
        assert_eq!(findings.len(), 1, "{findings:?}");
        assert_eq!(findings[0].part, "events.jsonl");
    }

    #[test]
    fn a_name_stays_in_its_directory_and_in_its_line() {
        assert_eq!(plain_name("events.jsonl.zst"), Some("events.jsonl"));
        for wrong in ["", ".zst", ".bashrc", "../x", "a/b", "a\\b", "a\0"] {
            assert_eq!(plain_name(wrong), None, "{wrong:?}");
        }
        for printed in ["a\nb", "a\u{1b}[2J.gz", "a\u{9b}2J"] {
            assert_eq!(plain_name(printed), None, "{printed:?}");
        }
    }
}
