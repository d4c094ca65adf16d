use std::collections::{BTreeMap, BTreeSet};

use gtrace_event::{Gpu, Occurrence, PciAddress};

use super::device::{self, Function, PciClass, PciDevice};
use crate::sysfs::SysRoot;

/// Which devices are below which ports, and which of them are GPUs and NVSwitches.
///
/// A device that has vanished keeps its place until another takes it, so that what the port above
/// it reports of the loss is still tied to it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PciTree {
    devices: BTreeMap<PciAddress, Node>,
    /// Further and virtual functions of GPUs and NVSwitches.
    parts: BTreeMap<PciAddress, PciAddress>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Node {
    /// `None`: neither GPU nor NVSwitch.
    class: Option<PciClass>,
    /// Ports above it, root port first.
    upstream: Vec<PciAddress>,
}

/// What a PCI device is to the GPUs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Relation {
    /// It is this GPU or NVSwitch, or a further or virtual function of the same card.
    Is(PciAddress),
    /// It is a port above this GPU (or NVSwitch, where there is no GPU) and nothing else.
    Above(PciAddress),
    /// It is a port above several devices, of which these are GPUs (or NVSwitches, where there is
    /// no GPU): what it reports may be any device's.
    AboveSeveral(Vec<PciAddress>),
    /// Nothing, as far as is known.
    None,
}

impl PciTree {
    /// The tree of the sysfs at `root` now; empty where PCI cannot be listed.
    pub fn read(root: &SysRoot) -> Self {
        let mut functions = BTreeMap::new();
        let mut now = BTreeMap::new();
        for pci in device::addresses(root).unwrap_or_default() {
            let Some(function) = device::classify(root, pci) else {
                continue;
            };
            if let Function::Watched(class) = function {
                now.extend(device::read(root, pci, class).map(|d| (pci, d)));
            }
            functions.insert(pci, function);
        }
        let mut tree = Self::default();
        tree.update(&now, &functions);
        tree
    }

    /// Takes over what is there: the GPUs and NVSwitches `now`, and all `functions` of the host.
    pub(super) fn update(
        &mut self,
        now: &BTreeMap<PciAddress, PciDevice>,
        functions: &BTreeMap<PciAddress, Function>,
    ) {
        let watched = now.values().map(|d| {
            let (class, upstream) = (Some(d.class), d.upstream.clone());
            (d.pci, Node { class, upstream })
        });
        let others = functions.iter().filter_map(|(pci, function)| {
            let Function::Endpoint(ports) = function else {
                return None;
            };
            let (class, upstream) = (None, ports.clone());
            Some((*pci, Node { class, upstream }))
        });
        let present: BTreeMap<_, _> = others.chain(watched).collect();
        // What came into a slot takes the place of what was there before.
        let refilled: BTreeSet<PciAddress> = present
            .iter()
            .filter(|(pci, _)| !self.devices.contains_key(pci))
            .filter_map(|(_, node)| node.upstream.last().copied())
            .collect();
        // A GPU that is listed and was gone when it was read has not lost its place to another.
        let taken = |pci: &PciAddress| {
            let function = functions.get(pci);
            function.is_some_and(|f| !matches!(f, Function::Watched(_)))
        };
        self.devices.retain(|pci, node| {
            let port = node.upstream.last();
            present.contains_key(pci)
                || !(taken(pci) || port.is_some_and(|port| refilled.contains(port)))
        });
        for (pci, node) in present {
            let known = self.devices.get(&pci);
            // The way to a device that is just being removed cannot be read any more.
            if node.upstream.is_empty() && known.is_some_and(|n| n.class == node.class) {
                continue;
            }
            self.devices.insert(pci, node);
        }
        for (pci, function) in functions {
            match function {
                Function::Part(whole) => self.parts.insert(*pci, *whole),
                _ => self.parts.remove(pci),
            };
        }
        let devices = &self.devices;
        self.parts.retain(|_, whole| is_watched(devices, *whole));
    }

    /// What the device at `pci` is to the GPUs.
    pub fn relation(&self, pci: PciAddress) -> Relation {
        if is_watched(&self.devices, pci) {
            return Relation::Is(pci);
        }
        if let Some(whole) = self.parts.get(&pci) {
            return Relation::Is(*whole);
        }
        let below: Vec<_> = self
            .devices
            .iter()
            .filter(|(_, node)| node.upstream.contains(&pci))
            .collect();
        let of_class = |class| -> Vec<PciAddress> {
            let found = below.iter().filter(|(_, node)| node.class == Some(class));
            found.map(|(pci, _)| **pci).collect()
        };
        let mut found = of_class(PciClass::Gpu);
        if found.is_empty() {
            found = of_class(PciClass::NvSwitch);
        }
        match found.as_slice() {
            [] => Relation::None,
            [one] if below.len() == 1 => Relation::Above(*one),
            _ => Relation::AboveSeveral(found),
        }
    }

    /// Ties an occurrence that names a PCI device ([`gtrace_event::PcieDetail::pci_device`]) to its
    /// GPU: sets `gpu` where it can be no other device's, else lists the GPUs below. Of a device
    /// that has nothing to do with a GPU, the source's GPU is kept.
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

fn is_watched(devices: &BTreeMap<PciAddress, Node>, pci: PciAddress) -> bool {
    devices.get(&pci).is_some_and(|node| node.class.is_some())
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

    type Known<'a> = (&'a str, Option<PciClass>, &'a [&'a str]);

    fn tree(devices: &[Known<'_>]) -> PciTree {
        let node = |(at, class, upstream): &Known<'_>| {
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
            parts: BTreeMap::new(),
        }
    }

    fn two_gpus() -> PciTree {
        let gpu = Some(PciClass::Gpu);
        let switch = Some(PciClass::NvSwitch);
        let mut tree = tree(&[
            (GPU, gpu, &["0000:3a:00.0", "0000:3c:01.0"]),
            ("0000:3e:00.0", gpu, &["0000:3a:00.0", "0000:3c:02.0"]),
            ("0000:40:00.0", switch, &["0000:3a:00.0", "0000:3c:03.0"]),
            ("0000:41:00.0", None, &["0000:3a:00.0", "0000:3c:04.0"]),
            ("0000:51:00.0", gpu, &["0000:50:00.0", "0000:50:01.0"]),
            ("0000:52:00.0", None, &["0000:50:00.0", "0000:50:02.0"]),
        ]);
        tree.parts.insert(pci("0000:3d:00.1"), pci(GPU));
        tree
    }

    #[test]
    fn a_port_belongs_to_the_gpu_below_it_where_nothing_else_is() {
        let tree = two_gpus();
        for (at, want) in [
            (GPU, Relation::Is(pci(GPU))),
            ("0000:3d:00.1", Relation::Is(pci(GPU))),
            ("0000:3c:01.0", Relation::Above(pci(GPU))),
            ("0000:3c:03.0", Relation::Above(pci("0000:40:00.0"))),
            ("0000:3c:04.0", Relation::None),
            ("0000:41:00.0", Relation::None),
            ("0000:3d:00.2", Relation::None),
            ("0000:50:01.0", Relation::Above(pci("0000:51:00.0"))),
            (
                "0000:50:00.0",
                Relation::AboveSeveral(vec![pci("0000:51:00.0")]),
            ),
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
            let mut occurrence = Occurrence::new(Kind::Aer, Severity::Info, "");
            occurrence.detail.pcie.pci_device = Some(pci(device));
            occurrence.gpu = gpu;
            tree.place(&mut occurrence);
            let once = occurrence.clone();
            tree.place(&mut occurrence);
            assert_eq!(occurrence, once, "placing twice changes nothing");
            occurrence
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
        let mixed = place("0000:50:00.0", None);
        assert_eq!(
            mixed.gpu, None,
            "the adapter's error would be put on the GPU"
        );
        assert_eq!(mixed.detail.pcie.gpus_below, [pci("0000:51:00.0")]);
        let named = Gpu::at(pci("0000:60:00.0"));
        assert_eq!(place("0000:60:00.0", Some(named.clone())).gpu, Some(named));
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
        let class = prop_oneof![
            Just(Some(PciClass::Gpu)),
            Just(Some(PciClass::NvSwitch)),
            Just(None)
        ];
        (class, prop::collection::vec(address(), 0..4))
            .prop_map(|(class, upstream)| Node { class, upstream })
    }

    proptest! {
        /// Whatever the tree: a relation names GPUs and switches of the tree only, one is named only
        /// where nothing else is below, and all that are named are at or below the device asked for.
        #[test]
        fn a_relation_is_true_of_the_tree(
            devices in prop::collection::btree_map(address(), node(), 0..8),
            at in address(),
        ) {
            let tree = PciTree { devices, parts: BTreeMap::new() };
            let class = |pci: &PciAddress| tree.devices.get(pci).and_then(|node| node.class);
            let below: Vec<_> = tree
                .devices
                .iter()
                .filter(|(_, node)| node.upstream.contains(&at))
                .map(|(pci, _)| *pci)
                .collect();
            match tree.relation(at) {
                Relation::Is(pci) => prop_assert!(pci == at && class(&at).is_some()),
                Relation::Above(pci) => {
                    prop_assert_eq!(&below, &[pci]);
                    prop_assert!(class(&pci).is_some());
                }
                Relation::AboveSeveral(several) => {
                    prop_assert!(below.len() > 1 && !several.is_empty());
                    let named = |pci: &PciAddress| below.contains(pci) && class(pci).is_some();
                    prop_assert!(several.iter().all(named));
                }
                Relation::None => {
                    prop_assert!(class(&at).is_none());
                    prop_assert!(below.iter().all(|pci| class(pci).is_none()));
                }
            }
        }
    }
}
