//! /proc/driver/nvidia: which driver is loaded and which GPUs it knows.

use std::collections::BTreeMap;
use std::fs;

use gtrace_event::PciAddress;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::reads::{DEADLINE, Reading, Reads};
use crate::sysfs::{self, ProcRoot};

/// The loaded NVIDIA kernel module.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DriverVersion {
    /// For example `535.129.03`.
    pub version: String,
    /// Whether it is built from the open kernel modules.
    pub open: bool,
}

impl DriverVersion {
    /// Reads `driver/nvidia/version`; `None` while no NVIDIA module is loaded.
    pub fn read(root: &ProcRoot) -> Option<Self> {
        Self::parse(&sysfs::text(&root.0.join("driver/nvidia/version"))?)
    }

    /// Reads the line `NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.129.03  Thu Oct 19 …`
    /// or `NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  550.54.14  Release Build …`.
    pub fn parse(text: &str) -> Option<Self> {
        let line = text
            .lines()
            .find_map(|l| l.trim().strip_prefix("NVRM version:"))?;
        let (_, after) = line.split_once("Kernel Module")?;
        let version = after.split_whitespace().find(|word| is_version(word))?;
        Some(Self {
            version: version.to_owned(),
            open: line.contains("Open Kernel Module"),
        })
    }

    /// The branch: 535 of `535.129.03`.
    pub fn branch(&self) -> Option<u32> {
        self.version.split('.').next()?.parse().ok()
    }
}

/// `535.129.03`, `550.40`: two or three numbers.
fn is_version(word: &str) -> bool {
    let parts: Vec<&str> = word.split('.').collect();
    (2..=3).contains(&parts.len())
        && parts
            .iter()
            .all(|p| (1..=4).contains(&p.len()) && p.bytes().all(|b| b.is_ascii_digit()))
}

/// A GPU as the kernel module knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcGpu {
    /// Where it sits.
    pub pci: PciAddress,
    /// `Model`.
    pub model: Option<String>,
    /// `GPU UUID`; `None` until the GPU was initialised once.
    pub uuid: Option<String>,
    /// `Device Minor`: N of /dev/nvidiaN.
    pub minor: Option<u32>,
    /// `GPU Excluded: Yes`: the administrator keeps it from use, so NVML does not show it.
    pub excluded: bool,
}

impl ProcGpu {
    /// Reads the text of an `information` file of the GPU at `pci`.
    pub fn parse(pci: PciAddress, text: &str) -> Self {
        let value = |key: &str| {
            text.lines().find_map(|line| {
                let (k, v) = line.split_once(':')?;
                (k.trim() == key)
                    .then(|| v.trim().to_owned())
                    .filter(|v| !v.is_empty())
            })
        };
        Self {
            pci,
            model: value("Model").filter(|m| m != "Unknown"),
            uuid: value("GPU UUID").filter(|u| !u.contains('?')),
            minor: value("Device Minor").and_then(|m| m.parse().ok()),
            excluded: value("GPU Excluded").is_some_and(|e| e == "Yes"),
        }
    }
}

/// Every GPU in `driver/nvidia/gpus`, ordered by address; none while the module is not loaded. Of one about which the
/// driver does not answer within a second only the address is known. Who asks again and again keeps a [`ProcGpus`].
pub fn proc_gpus(root: &ProcRoot) -> Vec<ProcGpu> {
    ProcGpus::new(root.clone()).read()
}

/// The GPUs in `driver/nvidia/gpus`, read again and again: `information` of each until it names a UUID, and then no more.
///
/// Each reading of that file has the driver wake a GPU that sleeps, and, once the GPU is initialised, ask its firmware for
/// the version of the VBIOS, under a lock of the GPU: who reads it of a GPU whose firmware hangs waits for six seconds and
/// causes an Xid 119 (`nv_procfs_read_gpu_info` of driver 535), or waits for ever.
#[derive(Debug)]
pub struct ProcGpus {
    root: ProcRoot,
    reads: Reads<PciAddress, Option<ProcGpu>>,
    known: BTreeMap<PciAddress, ProcGpu>,
    unanswered: Vec<PciAddress>,
}

impl ProcGpus {
    /// Those below `root`, of which nothing is known yet.
    pub fn new(root: ProcRoot) -> Self {
        Self {
            root,
            reads: Reads::new(DEADLINE),
            known: BTreeMap::new(),
            unanswered: Vec::new(),
        }
    }

    /// As [`proc_gpus`].
    pub fn read(&mut self) -> Vec<ProcGpu> {
        let folder = self.root.0.join("driver/nvidia/gpus");
        let entries = fs::read_dir(&folder).into_iter().flatten();
        let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        let mut files: BTreeMap<_, _> = names
            .filter_map(|name| {
                let file = folder.join(&name).join("information");
                Some((PciAddress::parse(&name)?, file))
            })
            .collect();
        self.known.retain(|pci, _| files.contains_key(pci));
        files.retain(|pci, _| self.known.get(pci).is_none_or(|gpu| gpu.uuid.is_none()));
        let readings = self.reads.all(files.keys().copied(), |pci| {
            let (pci, file) = (*pci, files[pci].clone());
            move || sysfs::text(&file).map(|text| ProcGpu::parse(pci, &text))
        });
        self.unanswered.clear();
        for (pci, reading) in readings {
            match reading {
                Reading::Done(Some(gpu)) => drop(self.known.insert(pci, gpu)),
                Reading::Done(None) => drop(self.known.remove(&pci)),
                Reading::Unanswered => {
                    self.unanswered.push(pci);
                    let nothing = || ProcGpu::parse(pci, "");
                    self.known.entry(pci).or_insert_with(nothing);
                }
            }
        }
        self.known.values().cloned().collect()
    }

    /// The GPUs about which the driver did not answer the last reading.
    pub fn unanswered(&self) -> &[PciAddress] {
        &self.unanswered
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_both_wordings_of_the_version_line() {
        let closed = "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.129.03  Thu Oct 19 \
                      18:56:32 UTC 2023\nGCC version:  gcc version 12.2.0 (Debian 12.2.0-14)\n";
        let v = DriverVersion::parse(closed).unwrap();
        assert_eq!(
            (v.version.as_str(), v.open, v.branch()),
            ("535.129.03", false, Some(535))
        );
        let open = "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  550.54.14  Release \
                    Build  (dvs-builder@U16-I3-B03-4-3)  Thu Feb 22 01:44:30 UTC 2024\n";
        let v = DriverVersion::parse(open).unwrap();
        assert_eq!(
            (v.version.as_str(), v.open, v.branch()),
            ("550.54.14", true, Some(550))
        );
        for text in [
            "",
            "NVRM version:",
            "NVRM version: Kernel Module x.y",
            "GCC version: 12.2.0",
        ] {
            assert_eq!(DriverVersion::parse(text), None, "{text}");
        }
    }

    #[test]
    fn reads_what_the_module_knows_of_a_gpu() {
        let pci = PciAddress::parse("0000:3b:00.0").unwrap();
        let text = "Model: \t\t NVIDIA H100 80GB HBM3\nIRQ:   \t\t 18\n\
            GPU UUID: \t GPU-2d7c1b5e-0000-1111-2222-333344445555\nVideo BIOS: \t ??.??\n\
            Bus Location: \t 0000:3b:00.0\nDevice Minor: \t 3\nGPU Excluded:\t No\n";
        let gpu = ProcGpu::parse(pci, text);
        assert_eq!(gpu.model.as_deref(), Some("NVIDIA H100 80GB HBM3"));
        assert_eq!(
            gpu.uuid.as_deref(),
            Some("GPU-2d7c1b5e-0000-1111-2222-333344445555")
        );
        assert_eq!((gpu.minor, gpu.excluded), (Some(3), false));
        let gpu = ProcGpu::parse(pci, "GPU UUID: GPU-????????-????-????\nGPU Excluded: Yes");
        assert_eq!((gpu.uuid, gpu.excluded), (None, true));
    }
}
