//! Scenarios: which virtual machine a case runs in.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

gtrace_event::named_enum! {
    /// A kind of virtual machine: its devices, its kernel command line and what is loaded at boot.
    ///
    /// One boot runs all cases of one scenario on one kernel.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Serialize)]
    pub enum Scenario {
        /// A network card behind a root port, `0000:01:00.0`, without a driver: the stub of the
        /// NVIDIA driver can adopt it as a GPU.
        Driver = "driver",
        /// The same card with its driver, and `/dev/aer_inject`: errors that are written to the
        /// kernel's own AER code.
        PcieInject = "pcie-inject",
        /// A virtio card that has AER, behind a root port that has AER: errors come from the QEMU
        /// monitor (`pcie_aer_inject_error`). Never mixed with [`Self::PcieInject`] in one boot: the
        /// kernel would take status registers that were written by the test for those of the device.
        PcieMonitor = "pcie-monitor",
        /// A card behind a slot with native PCIe hotplug, to be taken out and put in by the monitor
        /// (`device_del gpu0`, `device_add e1000e,bus=rp0,id=gpu0`).
        Hotplug = "hotplug",
        /// A network card with its driver, on which SoftRoCE makes an RDMA device.
        Rdma = "rdma",
        /// The same machine with one CPU, whose clock counts instructions: it measures the same on any host, busy or not.
        RdmaCounted = "rdma-counted",
        /// Two of these, whose cards are on one network: the cases run in the first, and have the second
        /// ([`PEER_ARG`](crate::layout::PEER_ARG)) run commands by a network of its own. The monitor of the first
        /// cuts the cards' network (`set_link n0 off`), of which neither card learns.
        RdmaTwo = "rdma-two",
        /// No device, but memory for one: NVIDIA's own driver runs on a PCI function that is made of it.
        Real = "real",
        /// No devices but a disk, with an ext4 file system that outlives the loss of the machine's power.
        Power = "power",
        /// No devices but a read-only share of the host (9p, tag [`SHARE_TAG`]); for measurements
        /// that compare two things inside one machine. `cargo xtask vm-test` does not boot it.
        Bench = "bench",
    }
}

/// The 9p tag of the host's directory in [`Scenario::Bench`].
pub const SHARE_TAG: &str = "host";

/// Where the guest mounts the host's directory.
pub const SHARE_DIR: &str = "/host";

/// The root port that everything is put behind; the first bus below it is 01.
const ROOT_PORT: [&str; 2] = [
    "-device",
    "pcie-root-port,id=rp0,bus=pcie.0,chassis=1,slot=1",
];

/// A user network that reaches nothing outside of the machine.
const NETWORK: [&str; 2] = ["-netdev", "user,id=n0,restrict=on"];

impl Scenario {
    /// QEMU's arguments beside those that every machine has.
    pub fn qemu_args(self) -> Vec<&'static str> {
        let card: &[&str] = match self {
            Self::Driver | Self::PcieInject | Self::Rdma | Self::RdmaCounted => {
                &["-device", "e1000e,bus=rp0,netdev=n0,id=gpu0"]
            }
            Self::PcieMonitor => &[
                "-device",
                "virtio-net-pci,bus=rp0,netdev=n0,id=gpu0,aer=on,disable-legacy=on",
            ],
            Self::Hotplug => &[
                // Else ACPI moves the devices, and the pciehp driver never sees it.
                "-global",
                "ICH9-LPC.acpi-pci-hotplug-with-bridge-support=off",
                "-device",
                "e1000e,bus=rp0,netdev=n0,id=gpu0",
            ],
            // Their cards and networks are of two machines at once.
            Self::RdmaTwo => return ROOT_PORT.to_vec(),
            // A reset is what the loss of power is to a kernel: what it has not written is gone. Elsewhere it ends QEMU.
            Self::Power => return vec!["-action", "reboot=reset"],
            Self::Real | Self::Bench => return Vec::new(),
        };
        let clock: &[&str] = match self.is_counted() {
            true => &["-icount", "shift=0,sleep=off"],
            false => &[],
        };
        [&ROOT_PORT, &NETWORK, card, clock].concat()
    }

    /// Memory of each machine, in MiB.
    pub fn memory_mib(self) -> u32 {
        match self {
            // Some of it is the device's ([`Self::kernel_args`]), and the driver's firmware and libraries lie in the rest.
            Self::Real => 2048,
            _ => 1536,
        }
    }

    /// The kernel's arguments beside those that every machine has.
    pub fn kernel_args(self) -> &'static [&'static str] {
        match self {
            // What the module fakegpu takes for the memory of its function.
            Self::Real => &["memmap=512M$0x40000000"],
            _ => &[],
        }
    }

    /// Whether it has a disk, `/dev/vda`.
    pub fn has_disk(self) -> bool {
        self == Self::Power
    }

    /// Whether a second machine belongs to it.
    pub fn has_peer(self) -> bool {
        self == Self::RdmaTwo
    }

    /// Whether its clock counts instructions, a nanosecond each, and stands still for nobody: who waits for a timer has
    /// waited.
    pub fn is_counted(self) -> bool {
        self == Self::RdmaCounted
    }

    /// CPUs of each machine: two machines that QEMU emulates share what one else has, and instructions are counted of
    /// one.
    pub fn cpus(self) -> u32 {
        match self.has_peer() || self.is_counted() {
            true => 1,
            false => 2,
        }
    }

    /// Kernel modules that the guest loads before the first case, dependencies aside.
    pub fn modules(self) -> &'static [&'static str] {
        match self {
            Self::Driver => &[],
            Self::Real => &["drm"],
            Self::PcieInject => &["e1000e", "aer_inject"],
            Self::PcieMonitor => &["virtio_pci", "virtio_net"],
            Self::Hotplug => &["e1000e"],
            // SoftRoCE asks the kernel for crc32 by name, and nothing loads it by that here.
            // Of these cards QEMU loses fewer packets, and SoftRoCE does not always send again what was lost.
            Self::RdmaTwo => &["virtio_pci", "virtio_net", "crc32_generic", "rdma_rxe"],
            Self::Rdma | Self::RdmaCounted => &["e1000e", "crc32_generic", "rdma_rxe"],
            Self::Power => &["virtio_pci", "virtio_blk", "crc32c_generic", "ext4"],
            Self::Bench => &["virtio_pci", "9pnet_virtio", "9p", "overlay"],
        }
    }
}

impl FromStr for Scenario {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL
            .into_iter()
            .find(|scenario| scenario.name() == text)
            .ok_or_else(|| {
                let known = Self::ALL.map(Self::name).join(", ");
                format!("there is no scenario {text:?}; there are {known}")
            })
    }
}

/// Rounds of the benchmark of driver calls.
pub const fn bench_rounds(long: bool) -> u32 {
    if long { 15 } else { 7 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        for scenario in Scenario::ALL {
            assert_eq!(scenario.name().parse(), Ok(scenario));
        }
        assert!("drive".parse::<Scenario>().is_err());
    }
}
