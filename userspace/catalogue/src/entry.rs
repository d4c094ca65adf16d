use gtrace_event::{Kind, Severity};
use serde::{Deserialize, Serialize};

gtrace_event::named_enum! {
    /// Where the cause of a code is looked for first.
    #[derive(
        Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
    )]
    pub enum Category {
        /// The program's own kernels, addresses or API use.
        Application = "application",
        /// The driver, its firmware, or a mix of driver and program.
        Driver = "driver",
        /// GPU memory, caches, ECC, the InfoROM.
        HardwareMemory = "hardware_memory",
        /// NVLink, NVSwitch and chip-to-chip links.
        Nvlink = "nvlink",
        /// The PCIe path between host and GPU.
        Pcie = "pcie",
        /// Heat and power delivery.
        ThermalPower = "thermal_power",
        /// The host: its memory, scheduler, storage, network, or gtrace itself.
        System = "system",
        /// Nothing public is known.
        Unknown = "unknown",
    }
}

/// One Xid code of the catalogue.
#[derive(Clone, Copy, Debug)]
pub struct XidEntry {
    /// Xid code.
    pub code: u32,
    /// The driver's identifier for it.
    pub name: &'static str,
    /// What it means, in one or two sentences.
    pub meaning: &'static str,
    /// Where to look first.
    pub category: Category,
    /// How bad it is, where the text of the line says nothing more exact.
    pub severity: Severity,
    /// The vendor's public advice, first step first.
    pub vendor: &'static [&'static str],
}

gtrace_event::shown_enum! {
    /// How far an SXid reaches, by the NVSwitch documentation.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Scope {
        /// Corrected or confined; traffic goes on.
        NonFatal = "non-fatal",
        /// May end the jobs of one partition, or nothing.
        PotentiallyFatal = "potentially fatal",
        /// Ends every job that uses the fabric.
        AlwaysFatal = "always fatal",
    }
}

/// One SXid code of the catalogue.
#[derive(Clone, Copy, Debug)]
pub struct SxidEntry {
    /// SXid code.
    pub code: u32,
    /// The driver's text for it.
    pub name: &'static str,
    /// Part of the switch that reports it.
    pub area: &'static str,
    /// How far it reaches.
    pub scope: Scope,
    /// What it means, in one or two sentences.
    pub meaning: &'static str,
    /// Where to look first.
    pub category: Category,
    /// How bad it is, where the line says nothing more exact.
    pub severity: Severity,
    /// The vendor's public advice, first step first.
    pub vendor: &'static [&'static str],
}

/// What a kind of event means when it has no code, or before its code is looked at.
#[derive(Clone, Copy, Debug)]
pub struct KindEntry {
    /// The kind.
    pub kind: Kind,
    /// What it means, in one or two sentences.
    pub meaning: &'static str,
    /// Where to look first.
    pub category: Category,
    /// How bad it is, where the detail says nothing more exact.
    pub severity: Severity,
    /// Public advice of the vendor or of the kernel's documentation, first step first.
    pub steps: &'static [&'static str],
}
