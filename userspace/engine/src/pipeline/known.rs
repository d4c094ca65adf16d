//! What is known of this host's GPUs, to name them in events.

use std::collections::BTreeMap;

use gtrace_devices::{GpuInfo, PciTree, Relation};
use gtrace_event::{Occurrence, PciAddress};

/// Names and places of the GPUs.
#[derive(Debug, Default)]
pub(super) struct Known {
    names: BTreeMap<PciAddress, Names>,
    tree: PciTree,
}

#[derive(Clone, Debug, Default, PartialEq)]
struct Names {
    uuid: Option<String>,
    /// NVML's index.
    index: Option<u32>,
}

impl Known {
    /// Nothing but the tree.
    pub(super) fn new(tree: PciTree) -> Self {
        Self {
            names: BTreeMap::new(),
            tree,
        }
    }

    /// Replaces the tree.
    pub(super) fn set_tree(&mut self, tree: PciTree) {
        self.tree = tree;
    }

    /// Takes over the names of the GPUs that are there. One that has vanished keeps its own while
    /// nothing else has its place: a later report about the address is about that GPU.
    pub(super) fn set_gpus(&mut self, gpus: &[GpuInfo]) {
        let mut names: BTreeMap<PciAddress, Names> = BTreeMap::new();
        for gpu in gpus {
            let (uuid, index) = (gpu.uuid.clone(), gpu.index);
            names.insert(gpu.pci, Names { uuid, index });
        }
        for (pci, mut old) in std::mem::take(&mut self.names) {
            let vanished =
                !names.contains_key(&pci) && self.tree.relation(pci) == Relation::Is(pci);
            let taken = |other: &Names| old.uuid.is_some() && other.uuid == old.uuid;
            if !vanished || names.values().any(taken) {
                continue;
            }
            if names.values().any(|other| other.index == old.index) {
                old.index = None;
            }
            names.insert(pci, old);
        }
        self.names = names;
    }

    /// Whether the host shows or has shown a GPU or NVSwitch at `pci`.
    pub(super) fn has(&self, pci: PciAddress) -> bool {
        self.names.contains_key(&pci) || self.tree.relation(pci) == Relation::Is(pci)
    }

    /// Ties a PCI event to its GPU, and names the GPU.
    pub(super) fn name(&self, occurrence: &mut Occurrence) {
        self.tree.place(occurrence);
        let Some(gpu) = &mut occurrence.gpu else {
            return;
        };
        if let Some(names) = gpu.pci.and_then(|pci| self.names.get(&pci)) {
            gpu.uuid = gpu.uuid.take().or_else(|| names.uuid.clone());
            gpu.index = gpu.index.or(names.index);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake_sysfs::{FakeSysfs, GPU, PORT};
    use gtrace_event::{Gpu, Kind, Severity};

    fn pci(text: &str) -> PciAddress {
        text.parse().unwrap()
    }

    fn tree() -> PciTree {
        PciTree::read(&FakeSysfs::with_gpu().root())
    }

    fn info(at: &str, uuid: &str, index: u32) -> GpuInfo {
        GpuInfo {
            uuid: Some(uuid.to_owned()),
            index: Some(index),
            ..GpuInfo::at(pci(at))
        }
    }

    fn named(known: &Known, device: &str) -> Option<Gpu> {
        let mut occurrence = Occurrence::new(Kind::Aer, Severity::Info, "");
        occurrence.detail.pcie.pci_device = Some(pci(device));
        known.name(&mut occurrence);
        occurrence.gpu
    }

    #[test]
    fn an_error_of_the_port_has_the_name_of_the_gpu_also_after_that_has_vanished() {
        let mut known = Known::new(tree());
        known.set_gpus(&[info(GPU, "GPU-1", 0), info("0000:5e:00.0", "GPU-2", 1)]);
        let gpu = Gpu {
            uuid: Some("GPU-1".into()),
            index: Some(0),
            ..Gpu::at(pci(GPU))
        };
        for device in [PORT, GPU] {
            assert_eq!(named(&known, device), Some(gpu.clone()));
        }
        known.set_gpus(&[info("0000:5e:00.0", "GPU-2", 1)]);
        assert_eq!(named(&known, PORT), Some(gpu));
        // NVML counts anew: the index is another GPU's now.
        known.set_gpus(&[info("0000:5e:00.0", "GPU-2", 0)]);
        let gpu = named(&known, PORT).unwrap();
        assert_eq!((gpu.uuid.as_deref(), gpu.index), (Some("GPU-1"), None));
        // The card is in another slot.
        known.set_gpus(&[info("0000:5e:00.0", "GPU-1", 0)]);
        assert_eq!(named(&known, PORT), Some(Gpu::at(pci(GPU))));
    }

    #[test]
    fn an_adapter_has_no_gpu() {
        let mut known = Known::new(tree());
        known.set_gpus(&[info(GPU, "GPU-1", 0)]);
        assert_eq!(named(&known, "0000:5d:00.0"), None);
    }
}
