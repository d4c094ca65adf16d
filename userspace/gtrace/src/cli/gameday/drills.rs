//! The drills, and what each has to come to.

use gtrace_event::{FailureClass, Kind, PciAddress, Severity};
use serde::Serialize;

use super::super::inject::{AerSeverity, What};

/// A fault to inject, and what gtrace has to make of it with its built-in catalogue.
#[derive(Debug, Serialize)]
pub(super) struct Drill {
    pub(super) name: &'static str,
    /// The fault, for people.
    pub(super) about: &'static str,
    #[serde(skip)]
    fault: Fault,
    pub(super) kind: Kind,
    pub(super) severity: Severity,
    /// The class of the incident; `None` where it must open none.
    pub(super) class: Option<FailureClass>,
}

#[derive(Debug)]
enum Fault {
    /// An Xid; `true`: of a process.
    Xid(u32, bool),
    Aer(AerSeverity),
    OomKill,
    /// Kernel text with `{gpu}`, `{pid}` or `{number}` in it.
    Line(&'static str),
}

/// What a drill names. Nothing of it exists on the host, and no two drills share any: so no drill is taken for a repeat of an
/// earlier one, or for the fault of a device.
#[derive(Clone, Copy, Debug)]
pub(super) struct Target {
    device: PciAddress,
    pid: u32,
    number: u32,
}

impl Target {
    pub(super) fn new(random: u64) -> Self {
        let byte = |from: u32| u8::try_from((random >> from) & 0xff).unwrap_or(0);
        Self {
            device: PciAddress {
                // Firmware numbers domains from 0, and Linux those without a number from 0x10000.
                domain: 0xf000 | bits_of(random, 0, 0xfff),
                bus: byte(12),
                device: byte(20) & 31,
                function: 0,
            },
            // Above the highest that Linux gives, PID_MAX_LIMIT of 2^22.
            pid: (1 << 22) + 1 + bits_of(random, 25, 0xf_ffff),
            number: 10_000 + bits_of(random, 45, 0x3fff),
        }
    }
}

fn bits_of(random: u64, from: u32, mask: u32) -> u32 {
    u32::try_from((random >> from) & u64::from(mask)).unwrap_or(0)
}

impl Drill {
    /// What `gtrace inject` would be asked for.
    pub(super) fn what(&self, target: &Target) -> What {
        match self.fault {
            Fault::Xid(code, of_process) => What::Xid {
                code,
                gpu: target.device,
                pid: of_process.then_some(target.pid),
                comm: None,
                message: None,
            },
            Fault::Aer(severity) => What::Aer {
                severity,
                gpu: target.device,
            },
            Fault::OomKill => What::OomKill {
                pid: target.pid,
                comm: "drill".to_owned(),
            },
            Fault::Line(text) => What::Line {
                text: text
                    .replace("{gpu}", &target.device.to_string())
                    .replace("{pid}", &target.pid.to_string())
                    .replace("{number}", &target.number.to_string()),
            },
        }
    }

    /// What only the event of this drill has in its JSON.
    pub(super) fn mark(&self, target: &Target) -> String {
        match self.fault {
            Fault::OomKill => target.pid.to_string(),
            Fault::Line(text) if text.contains("{pid}") => target.pid.to_string(),
            Fault::Line(text) if text.contains("{number}") => target.number.to_string(),
            _ => target.device.to_string(),
        }
    }

    /// The code of an Xid.
    pub(super) fn xid(&self) -> Option<u32> {
        match self.fault {
            Fault::Xid(code, _) => Some(code),
            _ => None,
        }
    }
}

macro_rules! drills {
    ($($name:literal, $about:literal, $fault:expr => $kind:ident, $severity:ident, $class:expr;)*) => {
        /// Every drill, each of another kind, code or class.
        pub(super) const DRILLS: &[Drill] = &[$(Drill {
            name: $name,
            about: $about,
            fault: $fault,
            kind: Kind::$kind,
            severity: Severity::$severity,
            class: $class,
        },)*];
    };
}

use FailureClass::{
    Application, DriverCrash, GpuMemory, GpuOom, Host, LibraryMismatch, Network, Nvlink, Pcie,
    Thermal,
};
use Fault::{Aer, Line, OomKill, Xid};

drills! {
    "xid-79", "a GPU fell off the bus", Xid(79, true) => Xid, Fatal, Some(Pcie);
    "aer-fatal", "a fatal PCIe error of a device that is no GPU", Aer(AerSeverity::Fatal) => Aer, Critical, Some(Host);
    "aer-nonfatal", "a PCIe transaction was lost: opens no incident", Aer(AerSeverity::Nonfatal) => Aer, Warning, None;
    "aer-correctable", "a corrected PCIe error: opens no incident", Aer(AerSeverity::Correctable) => Aer, Info, None;
    "xid-48", "an uncorrectable memory error", Xid(48, false) => Xid, Critical, Some(GpuMemory);
    "xid-94", "a contained memory error", Xid(94, false) => Xid, Warning, Some(GpuMemory);
    "xid-95", "an uncontained memory error", Xid(95, true) => Xid, Fatal, Some(GpuMemory);
    "xid-119", "the GPU's firmware does not answer", Xid(119, true) => Xid, Fatal, Some(DriverCrash);
    "xid-154", "the driver asks for a reset", Xid(154, false) => Xid, Fatal, Some(DriverCrash);
    "xid-74", "an NVLink error", Xid(74, false) => Xid, Fatal, Some(Nvlink);
    "sxid-20034", "a fatal error of an NVSwitch",
        Line("nvidia-nvswitch0: SXid (PCI:{gpu}): 20034, Fatal, Link 30 LTSSM Fault Up") => Sxid, Fatal, Some(Nvlink);
    "sxid-10004", "an NVSwitch is too hot",
        Line("nvidia-nvswitch0: SXid (PCI:{gpu}): 10004, Non-fatal, Link 00 Host thermal event start") => Sxid, Critical, Some(Thermal);
    "xid-31", "a program's invalid access", Xid(31, true) => Xid, Warning, Some(Application);
    "xid-999", "a code that nobody knows: opens no incident", Xid(999, false) => Xid, Warning, None;
    "driver-mismatch", "a library of another version than the driver",
        Line("NVRM: API mismatch: the client has the version 570.{number}.06, but") => DriverMismatch, Warning, Some(LibraryMismatch);
    "oom-kill", "a process is killed for lack of memory", OomKill => OomKill, Critical, Some(GpuOom);
    "hung-task", "a task hangs in the kernel: opens no incident",
        Line("INFO: task drill:{pid} blocked for more than 122 seconds.") => HungTask, Warning, None;
    "mlx5-health", "a network adapter fails",
        Line("mlx5_core {gpu}: poll_health:825:(pid 0): device's health compromised - reached miss count") => Mlx5Health, Critical, Some(Network);
    "fs-readonly", "a file system became read-only",
        Line("EXT4-fs (drill{number}): Remounting filesystem read-only") => FsReadonly, Critical, Some(Host);
}
