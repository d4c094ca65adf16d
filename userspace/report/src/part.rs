//! The parts of a report: files that it carries, and the manifest that lists them.

use std::io::{self, Read as _, Write as _};
use std::thread;

use gtrace_event::{MissingEvidence, Timestamp};
use serde::{Deserialize, Serialize};

use crate::chain::{self, Summary};
use crate::material::{Fact, Material, Window};
use crate::seal::sha256;
use crate::{ReportError, files, postmortem, trace, words};

/// Name of the manifest.
pub const MANIFEST: &str = "manifest.json";
/// Name of the store's records.
pub(crate) const CHAIN: &str = "chain.jsonl";
/// What the manifest's field `format` says.
const FORMAT: &str = "gtrace-report-1";
/// Parts below this size stay as they are in a page, bytes.
const PLAIN_MAX: usize = 16 * 1024;

/// A file that a report carries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) name: &'static str,
    /// What it is, for people.
    pub(crate) about: &'static str,
    pub(crate) bytes: Vec<u8>,
}

/// How a page stores a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Packing {
    Plain,
    /// ui.perfetto.dev opens it as it is.
    Gzip,
    Zstd,
}

/// A part as a page stores it.
#[derive(Clone, Debug)]
pub(crate) struct Packed {
    pub(crate) entry: Entry,
    pub(crate) bytes: Vec<u8>,
    pub(crate) mime: &'static str,
}

/// Everything that a report lists of itself.
#[serde_with::skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// `gtrace-report-1`.
    pub format: String,
    /// Who made it.
    pub generator: String,
    /// When.
    pub made: Timestamp,
    /// The incident's id.
    pub incident: Option<String>,
    /// The host; a pseudonym where it is redacted.
    pub host: String,
    /// The time that it covers.
    pub window: Window,
    /// Whether names were replaced by pseudonyms.
    pub redacted: bool,
    /// Whether everything in it was injected.
    pub drill: bool,
    /// The host's versions.
    pub versions: Vec<Fact>,
    /// The files in it.
    pub parts: Vec<Entry>,
    /// Files that a page had no room for.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub left_out: Vec<Entry>,
    /// The segment of the store's chain in `chain.jsonl`.
    pub chain: Option<Summary>,
    /// What is not there, and why.
    pub missing: Vec<MissingEvidence>,
}

/// A file of a report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// Its name, unpacked.
    pub name: String,
    /// What it is.
    pub about: String,
    /// Its size, unpacked.
    pub bytes: u64,
    /// SHA-256 of it, unpacked; hex.
    pub sha256: String,
    /// Its name in the report: with `.gz` or `.zst` where it is packed.
    pub stored_as: String,
    /// Its size as it is stored.
    pub stored_bytes: u64,
}

/// Makes the bytes of a part; none where there is nothing for it.
type Make = fn(&Material) -> Result<Vec<u8>, ReportError>;

/// Every part, the most wanted first: its name, what it is, how it is made.
const PARTS: [(&str, &str, Make); 8] = [
    (
        "postmortem.md",
        "postmortem to fill in: impact, timeline, detection and root cause as far as evidence goes",
        |material| Ok(postmortem::write(material).into_bytes()),
    ),
    (
        CHAIN,
        "the store's records of this time with their hashes; proves that nothing was changed",
        |material| {
            let chain = material.chain.as_ref();
            Ok(chain.map(chain::write).unwrap_or_default())
        },
    ),
    (
        "trace.pftrace",
        "every lane on one clock; open it on ui.perfetto.dev",
        |material| Ok(trace::write(material)?),
    ),
    (
        "events.jsonl",
        "every event, one as JSON a line",
        |material| Ok(files::events(material)),
    ),
    (
        "kernel.log",
        "the kernel log of this time, UTC",
        |material| Ok(files::kernel_log(material)),
    ),
    (
        "histograms.hlog",
        "latency histograms before, during and after; HdrHistogram log",
        |material| Ok(files::histograms(material)?),
    ),
    ("samples.csv", "every sample", |material| {
        Ok(files::samples(material))
    }),
    (
        "snapshot.txt",
        "state of processes, containers and stacks as it was read",
        |material| Ok(snapshot(material).into_bytes()),
    ),
];

/// Makes every part that has something in it and does `then` with it, the most wanted first in the answer; each part in a
/// thread of its own, as three of them are large.
pub(crate) fn each<T: Send>(
    material: &Material,
    then: impl Fn(Part) -> Result<T, ReportError> + Sync,
) -> Result<Vec<T>, ReportError> {
    let then = &then;
    thread::scope(|threads| {
        let made: Vec<_> = PARTS
            .iter()
            .map(|&(name, about, make)| {
                threads.spawn(move || {
                    let bytes = make(material)?;
                    let part = Part { name, about, bytes };
                    match part.bytes.is_empty() {
                        true => Ok(None),
                        false => then(part).map(Some),
                    }
                })
            })
            .collect();
        made.into_iter()
            .map(|thread| {
                let made = thread.join();
                made.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            })
            .filter_map(Result::transpose)
            .collect()
    })
}

fn snapshot(material: &Material) -> String {
    let mut text = String::new();
    for part in &material.snapshot {
        let read = words::printable(&part.text, &['\n', '\t']);
        let name = words::printable(&part.name, &[]);
        text.push_str(&format!("==> {name} <==\n{read}\n"));
        if let Some(error) = &part.error {
            text.push_str(&format!("(not read whole: {error})\n"));
        }
        text.push('\n');
    }
    text
}

impl Part {
    fn packing(&self) -> Packing {
        match self.name {
            _ if self.bytes.len() < PLAIN_MAX => Packing::Plain,
            "trace.pftrace" => Packing::Gzip,
            _ => Packing::Zstd,
        }
    }

    /// As a bundle lists it.
    pub(crate) fn plain(&self) -> Entry {
        Entry {
            name: self.name.to_owned(),
            about: self.about.to_owned(),
            bytes: self.bytes.len() as u64,
            sha256: sha256(&self.bytes),
            stored_as: self.name.to_owned(),
            stored_bytes: self.bytes.len() as u64,
        }
    }

    /// As a page stores it.
    pub(crate) fn pack(self) -> Result<Packed, ReportError> {
        let mut entry = self.plain();
        let (ending, mime, bytes) = match self.packing() {
            Packing::Plain => ("", plain_mime(self.name), self.bytes),
            Packing::Gzip => {
                let level = flate2::Compression::new(4);
                let mut out = flate2::write::GzEncoder::new(Vec::new(), level);
                out.write_all(&self.bytes)?;
                (".gz", "application/gzip", out.finish()?)
            }
            Packing::Zstd => (".zst", "application/zstd", compress(&self.bytes)?),
        };
        entry.stored_as.push_str(ending);
        entry.stored_bytes = bytes.len() as u64;
        Ok(Packed { entry, bytes, mime })
    }
}

fn plain_mime(name: &str) -> &'static str {
    match name.rsplit_once('.').map(|(_, ending)| ending) {
        Some("md" | "log" | "txt" | "hlog") => "text/plain",
        Some("csv") => "text/csv",
        Some("json" | "jsonl") => "application/json",
        _ => "application/octet-stream",
    }
}

/// One frame of zstd, with a checksum.
pub(crate) fn compress(bytes: &[u8]) -> io::Result<Vec<u8>> {
    // A level that keeps 100 MB below half a second.
    let level = if bytes.len() > 8 << 20 { 3 } else { 9 };
    let mut out = zstd::Encoder::new(Vec::new(), level)?;
    out.include_checksum(true)?;
    out.write_all(bytes)?;
    out.finish()
}

/// Unpacks what is stored under `stored_as`, at most `most` bytes: a report from somebody else may be a bomb.
pub(crate) fn unpack(stored_as: &str, bytes: &[u8], most: u64) -> io::Result<Vec<u8>> {
    let reader: Box<dyn io::Read + '_> = match stored_as.rsplit_once('.') {
        Some((_, "gz")) => Box::new(flate2::read::GzDecoder::new(bytes)),
        Some((_, "zst")) => Box::new(zstd::Decoder::new(bytes)?),
        _ => Box::new(bytes),
    };
    bounded(reader, most)
}

/// All that there is to read, if that is at most `most` bytes.
pub(crate) fn bounded(reader: impl io::Read, most: u64) -> io::Result<Vec<u8>> {
    let mut out = Vec::new();
    reader.take(most.saturating_add(1)).read_to_end(&mut out)?;
    match out.len() as u64 > most {
        true => Err(io::Error::other(format!(
            "it unpacks to more than {most} bytes"
        ))),
        false => Ok(out),
    }
}

/// The manifest, without parts.
pub(crate) fn manifest(material: &Material, redacted: bool) -> Manifest {
    Manifest {
        format: FORMAT.to_owned(),
        generator: material.generator.clone(),
        made: material.made,
        incident: material
            .incident
            .as_ref()
            .map(|incident| incident.id.to_string()),
        host: material.host.clone(),
        window: material.window,
        redacted,
        drill: material.is_drill(),
        versions: material.facts.clone(),
        parts: Vec::new(),
        left_out: Vec::new(),
        chain: material.chain.as_ref().and_then(chain::summary),
        missing: material.gaps().cloned().collect(),
    }
}

impl Manifest {
    /// As `manifest.json` has it.
    pub(crate) fn json(&self) -> Result<Vec<u8>, ReportError> {
        let mut bytes = serde_json::to_vec_pretty(self)?;
        bytes.push(b'\n');
        Ok(bytes)
    }
}
