use std::collections::{BTreeMap, BTreeSet};

use gtrace_event::{Gpu, Occurrence, PciAddress};

use super::device::{self, PciClass, PciDevice};
use crate::sysfs::SysRoot;

/// Which GPUs and NVSwitches are below which ports.
///
/// A device that has vanished keeps its place until another takes it, so that what the port above
/// it says of the loss is still tied to it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PciTree {
    devices: BTreeMap<PciAddress, Node>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Node {
    class: PciClass,
    /// Ports above it, root port first.
    upstream: Vec<PciAddress>,
}

/// What a PCI device is to the GPUs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Relation {
    /// It is this GPU or NVSwitch, or another function of the same card.
    Is(PciAddress),
    /// It is a port above this one GPU (or NVSwitch, where there is no GPU).
    Above(PciAddress),
    /// It is a port above several.
    AboveSeveral(Vec<PciAddress>),
    /// Nothing, as far as is known.
    None,
}

impl PciTree {
    /// The tree of the sysfs at `root` now; empty where PCI cannot be listed.
    pub fn read(root: &SysRoot) -> Self {
        let found = device::inventory(root).unwrap_or_default();
        let mut tree = Self::default();
        let now = found.into_iter().map(|d| (d.pci, d)).collect();
        tree.update(&now, &BTreeSet::new());
        tree
    }

    /// Takes over what is there `now`. `others` are the present functions that are neither GPU nor
    /// NVSwitch.
    pub(super) fn update(
        &mut self,
        now: &BTreeMap<PciAddress, PciDevice>,
        others: &BTreeSet<PciAddress>,
    ) {
        // What came into a slot takes the place of what was there before.
        let refilled: BTreeSet<PciAddress> = now
            .values()
            .filter(|d| !self.devices.contains_key(&d.pci))
            .filter_map(|d| d.upstream.last().copied())
            .collect();
        self.devices.retain(|pci, node| {
            now.contains_key(pci)
                || !(others.contains(pci)
                    || node.upstream.last().is_some_and(|p| refilled.contains(p)))
        });
        for device in now.values() {
            let known = self.devices.get(&device.pci);
            // The way to a device that is just being removed cannot be read any more.
            if device.upstream.is_empty() && known.is_some_and(|n| n.class == device.class) {
                continue;
            }
            let node = Node {
                class: device.class,
                upstream: device.upstream.clone(),
            };
            self.devices.insert(device.pci, node);
        }
    }

    /// What the device at `pci` is to the GPUs.
    pub fn relation(&self, pci: PciAddress) -> Relation {
        if self.devices.contains_key(&pci) {
            return Relation::Is(pci);
        }
        let first = PciAddress { function: 0, ..pci };
        if self.devices.contains_key(&first) {
            return Relation::Is(first);
        }
        let below = |class: PciClass| -> Vec<PciAddress> {
            let under = |node: &Node| node.class == class && node.upstream.contains(&pci);
            let found = self.devices.iter().filter(|(_, node)| under(node));
            found.map(|(pci, _)| *pci).collect()
        };
        let mut found = below(PciClass::Gpu);
        if found.is_empty() {
            found = below(PciClass::NvSwitch);
        }
        match found.as_slice() {
            [] => Relation::None,
            [one] => Relation::Above(*one),
            _ => Relation::AboveSeveral(found),
        }
    }

    /// Ties an occurrence that names a PCI device ([`gtrace_event::PcieDetail::pci_device`]) to its
    /// GPU: sets `gpu` where there is exactly one, else lists those below. Of a device that has
    /// nothing to do with a GPU, what the source says stands.
    pub fn place(&self, occurrence: &mut Occurrence) {
        let Some(named) = occurrence.detail.pcie.pci_device else {
            return;
        };
        match self.relation(named) {
            Relation::Is(pci) | Relation::Above(pci) => {
                let gpu = occurrence.gpu.take().filter(|gpu| gpu.pci == Some(pci));
                occurrence.gpu = Some(gpu.unwrap_or_else(|| Gpu::at(pci)));
            }
            Relation::AboveSeveral(below) => {
                occurrence.gpu = None;
                occurrence.detail.pcie.gpus_below = below;
            }
            Relation::None => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gtrace_event::{Kind, Severity};
    use proptest::prelude::*;

    const GPU: &str = "0000:3d:00.0";

    fn pci(text: &str) -> PciAddress {
        text.parse().unwrap()
    }

    fn tree(devices: &[(&str, PciClass, &[&str])]) -> PciTree {
        let node = |(at, class, upstream): &(&str, PciClass, &[&str])| {
            let upstream = upstream.iter().map(|p| pci(p)).collect();
            (
                pci(at),
                Node {
                    class: *class,
                    upstream,
                },
            )
        };
        PciTree {
            devices: devices.iter().map(node).collect(),
        }
    }

    fn two_gpus() -> PciTree {
        tree(&[
            (GPU, PciClass::Gpu, &["0000:3a:00.0", "0000:3c:01.0"]),
            (
                "0000:3e:00.0",
                PciClass::Gpu,
                &["0000:3a:00.0", "0000:3c:02.0"],
            ),
            (
                "0000:40:00.0",
                PciClass::NvSwitch,
                &["0000:3a:00.0", "0000:3c:03.0"],
            ),
        ])
    }

    #[test]
    fn a_port_belongs_to_the_one_gpu_below_it() {
        let tree = two_gpus();
        for (at, want) in [
            (GPU, Relation::Is(pci(GPU))),
            ("0000:3d:00.1", Relation::Is(pci(GPU))),
            ("0000:3c:01.0", Relation::Above(pci(GPU))),
            ("0000:3c:03.0", Relation::Above(pci("0000:40:00.0"))),
            ("0000:41:00.0", Relation::None),
            ("0001:3d:00.0", Relation::None),
        ] {
            assert_eq!(tree.relation(pci(at)), want, "{at}");
        }
        let both = Relation::AboveSeveral(vec![pci(GPU), pci("0000:3e:00.0")]);
        assert_eq!(tree.relation(pci("0000:3a:00.0")), both);
    }

    #[test]
    fn placing_keeps_what_is_known_of_the_gpu_and_lists_several() {
        let tree = two_gpus();
        let place = |device: &str, gpu: Option<Gpu>| {
            let mut told = Occurrence::new(Kind::Aer, Severity::Info, "");
            told.detail.pcie.pci_device = Some(pci(device));
            told.gpu = gpu;
            tree.place(&mut told);
            let once = told.clone();
            tree.place(&mut told);
            assert_eq!(told, once, "placing twice changes nothing");
            told
        };
        let known = Gpu {
            uuid: Some("GPU-1".into()),
            ..Gpu::at(pci(GPU))
        };
        assert_eq!(place(GPU, Some(known.clone())).gpu, Some(known));
        let root = place("0000:3a:00.0", None);
        assert_eq!((root.gpu, root.detail.pcie.gpus_below.len()), (None, 2));
        let adapter = place("0000:41:00.0", None);
        assert_eq!(adapter.gpu, None);
        assert!(adapter.detail.pcie.gpus_below.is_empty());
        let said = Gpu::at(pci("0000:50:00.0"));
        assert_eq!(place("0000:50:00.0", Some(said.clone())).gpu, Some(said));
        let mut xid = Occurrence::new(Kind::Xid, Severity::Info, "");
        xid.gpu = Some(Gpu::at(pci(GPU)));
        let before = xid.clone();
        tree.place(&mut xid);
        assert_eq!(xid, before, "names no device of its own");
    }

    fn address() -> impl Strategy<Value = PciAddress> {
        (0..4u8, 0..2u8, 0..2u8).prop_map(|(bus, device, function)| PciAddress {
            domain: 0,
            bus,
            device,
            function,
        })
    }

    fn node() -> impl Strategy<Value = Node> {
        let class = prop_oneof![Just(PciClass::Gpu), Just(PciClass::NvSwitch)];
        (class, prop::collection::vec(address(), 0..4))
            .prop_map(|(class, upstream)| Node { class, upstream })
    }

    proptest! {
        /// Whatever the tree: a relation names devices of the tree only, several are at least two,
        /// and all that are named are at or below the device asked for.
        #[test]
        fn a_relation_is_true_of_the_tree(
            devices in prop::collection::btree_map(address(), node(), 0..8),
            at in address(),
        ) {
            let tree = PciTree { devices };
            let below = |pci: &PciAddress| tree.devices[pci].upstream.contains(&at);
            match tree.relation(at) {
                Relation::Is(pci) => {
                    prop_assert!(tree.devices.contains_key(&pci));
                    prop_assert_eq!((pci.bus, pci.device), (at.bus, at.device));
                }
                Relation::Above(pci) => prop_assert!(below(&pci)),
                Relation::AboveSeveral(several) => {
                    prop_assert!(several.len() > 1 && several.iter().all(below));
                }
                Relation::None => {
                    prop_assert!(!tree.devices.contains_key(&at));
                    prop_assert!(tree.devices.keys().all(|pci| !below(pci)));
                }
            }
        }
    }
}
