//! What is known of this host's GPUs, to name them in events.

use std::collections::BTreeMap;

use gtrace_devices::{GpuInfo, GpuSample, MigInstance, PciTree, Relation};
use gtrace_event::{Gpu, Occurrence, PciAddress, Timestamp};

use crate::clock;

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
    /// Its instances in MIG mode, as they were when that was last certain.
    instances: Vec<Instance>,
    /// Since when these are its instances; `None` where it has none.
    divided: Option<Timestamp>,
}

impl Names {
    /// Takes over how the GPU is divided: from `sample` where that is certain, else from `before`.
    fn divide(&mut self, sample: Option<&GpuSample>, before: Option<&Self>) {
        let certain = sample.filter(|sample| match sample.mig {
            Some(mode) => !mode.enabled || sample.mig_layout().is_some(),
            None => false,
        });
        let old =
            before.filter(|old| old.uuid.is_none() || self.uuid.is_none() || old.uuid == self.uuid);
        let instances =
            certain.map(|sample| sample.mig_instances.iter().map(Instance::of).collect());
        match (certain, instances, old) {
            (Some(sample), Some(instances), old) => {
                let same = old.filter(|old| old.instances == instances);
                self.divided = same.map_or(Some(sample.time), |old| old.divided);
                self.instances = instances;
            }
            (_, _, Some(old)) => {
                (self.instances, self.divided) = (old.instances.clone(), old.divided);
            }
            _ => {}
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
struct Instance {
    gi: u32,
    ci: u32,
    profile: Option<String>,
    /// Of the GPU instance that it is in.
    gpu_profile: Option<String>,
    uuid: Option<String>,
}

impl Instance {
    fn of(instance: &MigInstance) -> Self {
        Self {
            gi: instance.gi,
            ci: instance.ci,
            profile: instance.profile.clone(),
            gpu_profile: instance.gpu_profile().map(str::to_owned),
            uuid: instance.uuid.clone(),
        }
    }
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
            let mut of_gpu = Names {
                uuid: gpu.uuid.clone(),
                index: gpu.index,
                ..Names::default()
            };
            of_gpu.divide(gpu.sample.as_ref(), self.names.get(&gpu.pci));
            names.insert(gpu.pci, of_gpu);
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
        let time = occurrence.boottime_ns.map(clock::wall_time);
        let Some(gpu) = &mut occurrence.gpu else {
            return;
        };
        if let Some(names) = gpu.pci.and_then(|pci| self.names.get(&pci)) {
            gpu.uuid = gpu.uuid.take().or_else(|| names.uuid.clone());
            gpu.index = gpu.index.or(names.index);
            // What happened before was in an instance that may have had the same numbers.
            let later = names
                .divided
                .zip(time)
                .is_none_or(|(since, time)| time >= since);
            if later {
                name_instance(gpu, &names.instances);
            }
        }
    }
}

/// Names the MIG instance whose numbers the driver gave: as a whole where it gave that of the GPU instance alone.
fn name_instance(gpu: &mut Gpu, instances: &[Instance]) {
    let Some(gi) = gpu.mig_gi else { return };
    let mut of_gi = instances.iter().filter(|instance| instance.gi == gi);
    let (profile, uuid) = match gpu.mig_ci {
        Some(ci) => {
            let found = of_gi.find(|instance| instance.ci == ci);
            found.map(|found| (found.profile.clone(), found.uuid.clone()))
        }
        None => of_gi.next().map(|found| (found.gpu_profile.clone(), None)),
    }
    .unwrap_or_default();
    gpu.mig_profile = gpu.mig_profile.take().or(profile);
    gpu.mig_uuid = gpu.mig_uuid.take().or(uuid);
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
    fn an_xid_of_a_mig_instance_names_its_profile_and_uuid() {
        let mut known = Known::new(tree());
        let mut gpu = info(GPU, "GPU-1", 0);
        let mut sample = GpuSample::at(Timestamp::UNIX_EPOCH);
        sample.mig = Some(gtrace_devices::MigMode {
            enabled: true,
            pending: true,
        });
        sample.mig_instances = [
            (1, 0, "1g.10gb"),
            (5, 0, "1c.3g.40gb"),
            (5, 1, "2c.3g.40gb"),
        ]
        .map(|(gi, ci, profile)| MigInstance {
            gi,
            ci,
            profile: Some(profile.to_owned()),
            uuid: Some(format!("MIG-{gi}-{ci}")),
            ..MigInstance::default()
        })
        .into();
        gpu.sample = Some(sample.clone());
        known.set_gpus(std::slice::from_ref(&gpu));
        let named_at = |known: &Known, line: &str, boottime_ns: Option<u64>| {
            let (mut decoder, mut out) = (gtrace_decoder::Decoder::default(), Vec::new());
            let record = gtrace_decoder::LogRecord {
                text: line,
                facility: Some(0),
                ..Default::default()
            };
            decoder.feed(&record, &mut out);
            decoder.flush(&mut out);
            out[0].boottime_ns = boottime_ns;
            known.name(&mut out[0]);
            let gpu = out[0].gpu.clone().unwrap();
            (gpu.mig_profile, gpu.mig_uuid)
        };
        let named = |line: &str| named_at(&known, line, None);
        let at = GPU.trim_end_matches(".0");
        let line = |instance: &str| {
            format!("NVRM: Xid (PCI:{at}{instance}): 43, pid=7, name=a, Ch 00000008")
        };
        let some = |profile: &str, uuid: &str| (Some(profile.to_owned()), Some(uuid.to_owned()));
        assert_eq!(
            named(&line(" GPU-I:05 GPU-CI:01")),
            some("2c.3g.40gb", "MIG-5-1")
        );
        assert_eq!(
            named(&line(" GPU-I:05")),
            (Some("3g.40gb".to_owned()), None)
        );
        assert_eq!(named(&line(" GPU-I:06 GPU-CI:00")), (None, None));
        assert_eq!(named(&line("")), (None, None));
        // While NVML does not say how the GPU is divided, what it said before stands.
        let text = line(" GPU-I:05 GPU-CI:01");
        for sample in [
            None,
            Some(GpuSample::at(sample.time)),
            Some(GpuSample {
                mig_instances: Vec::new(),
                mig_instances_unread: true,
                ..sample.clone()
            }),
        ] {
            gpu.sample = sample;
            known.set_gpus(std::slice::from_ref(&gpu));
            let found = named_at(&known, &text, None);
            assert_eq!(found, some("2c.3g.40gb", "MIG-5-1"));
        }
        // It is divided anew: what is older was in another instance of the same numbers.
        sample.time = Timestamp::now();
        sample.mig_instances[2].uuid = Some("MIG-new".to_owned());
        gpu.sample = Some(sample.clone());
        known.set_gpus(std::slice::from_ref(&gpu));
        assert_eq!(named_at(&known, &text, Some(0)), (None, None));
        let new = some("2c.3g.40gb", "MIG-new");
        let later = Some(clock::boottime_ns() + 1_000_000_000);
        assert_eq!(named_at(&known, &text, later), new);
        // With MIG mode off it has none.
        sample.mig = Some(gtrace_devices::MigMode::default());
        sample.mig_instances.clear();
        gpu.sample = Some(sample);
        known.set_gpus(&[gpu]);
        assert_eq!(named_at(&known, &text, None), (None, None));
    }

    #[test]
    fn an_adapter_has_no_gpu() {
        let mut known = Known::new(tree());
        known.set_gpus(&[info(GPU, "GPU-1", 0)]);
        assert_eq!(named(&known, "0000:5d:00.0"), None);
    }
}
