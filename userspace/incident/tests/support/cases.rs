//! Cases in files of TOML: what happens step by step, as kernel text or as events. Kernel text goes through the decoder, as in the
//! daemon.
#![allow(unreachable_pub, clippy::unwrap_used, reason = "tests only")]

use std::collections::BTreeMap;
use std::panic::RefUnwindSafe;
use std::path::{Path, PathBuf};

use gtrace_catalogue::Catalogue;
use gtrace_decoder::{Decoder, LogRecord};
use gtrace_event::{
    Event, Gpu, Kind, Occurrence, PciAddress, Process, Provenance, Severity, Timestamp, WitnessName,
};
use serde::Deserialize;

/// GPUs below PCIe ports, which the daemon reads from sysfs.
pub type Ports = BTreeMap<PciAddress, Vec<PciAddress>>;

pub fn kernel() -> Provenance {
    Provenance::Kernel
}

pub const fn one() -> u32 {
    1
}

pub fn begin() -> Timestamp {
    "2026-03-03T03:12:00Z".parse().unwrap()
}

/// What the kernel's `lines` are.
pub fn decoded(lines: &str) -> Vec<Occurrence> {
    let mut decoder = Decoder::new(gtrace_decoder::Options::default());
    let mut out = Vec::new();
    for text in lines.lines() {
        let record = LogRecord {
            text,
            facility: Some(0),
            ..LogRecord::default()
        };
        decoder.feed(&record, &mut out);
    }
    decoder.flush(&mut out);
    assert!(!out.is_empty(), "nothing is decoded of {lines:?}");
    out
}

/// An occurrence that a file gives.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Given {
    kind: Kind,
    severity: Option<Severity>,
    gpu: Option<PciAddress>,
    uuid: Option<String>,
    pid: Option<u32>,
    comm: Option<String>,
    cgroup: Option<String>,
    container: Option<String>,
    message: String,
    #[serde(default)]
    detail: serde_json::Map<String, serde_json::Value>,
}

impl Given {
    /// The occurrence; each field of its `detail` has to be one.
    pub fn occurrence(&self) -> Occurrence {
        let severity = self.severity.unwrap_or(Severity::Warning);
        let mut occurrence = Occurrence::new(self.kind, severity, self.message.as_str());
        occurrence.detail = serde_json::from_value(self.detail.clone().into()).unwrap();
        let back = serde_json::to_value(&occurrence.detail).unwrap();
        for name in self.detail.keys() {
            assert!(back.get(name).is_some(), "no field {name} in the detail");
        }
        occurrence.gpu = self.gpu.map(|pci| Gpu {
            uuid: self.uuid.clone(),
            ..Gpu::at(pci)
        });
        occurrence.process = self.pid.map(|pid| Process {
            pid: Some(pid),
            comm: self.comm.clone(),
            cgroup: self.cgroup.clone(),
            container: self.container.clone(),
        });
        occurrence
    }
}

/// Names the GPU below a port, as the daemon does.
pub fn name_gpu(occurrence: &mut Occurrence, ports: &Ports) {
    let Some(device) = occurrence.detail.pcie.pci_device else {
        return;
    };
    match ports.get(&device).map(Vec::as_slice) {
        Some([one]) => occurrence.gpu = Some(Gpu::at(*one)),
        Some(several) => occurrence.detail.pcie.gpus_below = several.to_vec(),
        None if ports.values().flatten().any(|gpu| *gpu == device) => {
            occurrence.gpu = Some(Gpu::at(device));
        }
        None => {}
    }
}

/// The event of an occurrence that the kernel log showed at `time`, with the catalogue's advice.
pub fn event(mut occurrence: Occurrence, time: Timestamp, catalogue: &Catalogue) -> Event {
    let advice = catalogue.assess(&mut occurrence);
    let mut event = Event::seen(time, WitnessName::Kmsg, 1, occurrence);
    event.advice = Some(advice);
    event
}

/// Runs `check` with every file in `folder` of this crate's tests, of which there are at least `least`.
pub fn each(folder: &str, least: usize, check: impl Fn(&Path) + RefUnwindSafe) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests")
        .join(folder);
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "toml"))
        .collect();
    files.sort();
    let mut failed = Vec::new();
    for path in &files {
        if std::panic::catch_unwind(|| check(path.as_path())).is_err() {
            failed.push(path.file_stem().unwrap().to_string_lossy().into_owned());
        }
    }
    let count = files.len();
    assert!(
        failed.is_empty(),
        "{} of {count} fail: {failed:?}",
        failed.len()
    );
    assert!(count >= least, "only {count} files");
}
