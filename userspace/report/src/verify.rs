//! Verifying a report, and taking its parts out.

use std::collections::BTreeMap;
use std::io::{self, Read as _};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

use crate::chain::{self, Summary};
use crate::part::{self, CHAIN, Entry, MANIFEST, Manifest};
use crate::seal::{self, Kind, PAGE, Range, SEAL, sha256};

/// The most that a part without an entry in the manifest unpacks to, bytes.
const UNLISTED_MAX: u64 = 64 << 20;

/// Something is wrong with a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Which part: a file's name, `page` for what surrounds the files, `seal`, or `end` of an archive.
    pub part: String,
    /// What.
    pub why: String,
}

/// What came out.
#[derive(Debug)]
pub struct Verified {
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
        findings: Vec::new(),
        manifest: None,
        chain: None,
        files: BTreeMap::new(),
    };
    let (kind, ranges) = match seal::read(bytes) {
        Ok(read) => read,
        Err(error) => {
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
            match stored_bytes(kind, of_range) {
                Ok(bytes) => drop(stored.insert(range.name.clone(), bytes)),
                Err(error) => verified.find(&range.name, format!("it cannot be read: {error}")),
            }
        }
    }
    files(&mut verified, stored);
    check_chain(&mut verified);
    verified
}

/// What is stored in a range: base64 in a page, an entry of tar in a frame of zstd in a bundle.
fn stored_bytes(kind: Kind, bytes: &[u8]) -> io::Result<Vec<u8>> {
    match kind {
        Kind::Html => BASE64_STANDARD.decode(bytes).map_err(io::Error::other),
        Kind::Bundle => {
            let mut archive = tar::Archive::new(zstd::Decoder::new(bytes)?);
            let entry = archive.entries()?.next();
            let mut out = Vec::new();
            entry
                .ok_or_else(|| io::Error::other("it has no entry"))??
                .take(1 << 30)
                .read_to_end(&mut out)?;
            Ok(out)
        }
    }
}

fn files(verified: &mut Verified, mut stored: BTreeMap<String, Vec<u8>>) {
    if let Some(bytes) = stored.remove(MANIFEST) {
        match serde_json::from_slice(&bytes) {
            Ok(manifest) => verified.manifest = Some(manifest),
            Err(error) => verified.find(MANIFEST, format!("it cannot be read: {error}")),
        }
        verified.files.insert(MANIFEST.to_owned(), bytes);
    } else if verified
        .findings
        .iter()
        .all(|finding| finding.part != MANIFEST)
    {
        verified.find(MANIFEST, "it is not there");
    }
    let entries = verified
        .manifest
        .iter()
        .flat_map(|manifest| manifest.parts.clone());
    for entry in entries.collect::<Vec<_>>() {
        match stored.remove(&entry.stored_as) {
            Some(bytes) => file(verified, &entry, &bytes),
            None if verified.findings.iter().any(|f| f.part == entry.stored_as) => {}
            None => verified.find(
                &entry.stored_as,
                "the manifest lists it and it is not there",
            ),
        }
    }
    let listed = verified.manifest.is_some();
    for (name, bytes) in stored {
        if listed {
            verified.find(&name, "the manifest does not list it");
        } else if let (Some(plain), Ok(bytes)) =
            (plain_name(&name), part::unpack(&name, &bytes, UNLISTED_MAX))
        {
            verified.files.insert(plain.to_owned(), bytes);
        }
    }
}

fn file(verified: &mut Verified, entry: &Entry, stored: &[u8]) {
    match part::unpack(&entry.stored_as, stored, entry.bytes) {
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

/// A name that stays in its directory, without the ending of a packed file.
fn plain_name(name: &str) -> Option<&str> {
    let name = name
        .strip_suffix(".zst")
        .or(name.strip_suffix(".gz"))
        .unwrap_or(name);
    let sound = !name.is_empty() && !name.starts_with('.') && !name.contains(['/', '\\', '\0']);
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
