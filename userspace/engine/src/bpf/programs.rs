//! The programs: what each is attached to, and which source it feeds.

use gtrace_event::WitnessName;

/// A tracepoint and the program for it.
#[derive(Clone, Copy, Debug)]
pub struct Hook {
    /// Program name in the object.
    pub program: &'static str,
    /// Tracepoint category.
    pub category: &'static str,
    /// Tracepoint name.
    pub name: &'static str,
    /// Whether the probe works without it.
    pub optional: bool,
}

/// What is attached or not as a whole: one source.
#[derive(Clone, Copy, Debug)]
pub struct Probe {
    /// The source that it feeds.
    pub witness: WitnessName,
    /// Its hooks.
    pub hooks: &'static [Hook],
    /// Whether it follows descriptors to devices, which needs BTF.
    pub needs_files: bool,
}

const fn hook(program: &'static str, category: &'static str, name: &'static str) -> Hook {
    Hook {
        program,
        category,
        name,
        optional: false,
    }
}

const fn optional(hook: Hook) -> Hook {
    Hook {
        optional: true,
        ..hook
    }
}

/// Every probe.
pub const PROBES: [Probe; 9] = [
    Probe {
        witness: WitnessName::PrintkConsole,
        hooks: &[hook("printk_console", "printk", "console")],
        needs_files: false,
    },
    Probe {
        witness: WitnessName::RasAer,
        hooks: &[hook("aer_event", "ras", "aer_event")],
        needs_files: false,
    },
    Probe {
        witness: WitnessName::RasMemory,
        hooks: &[hook("mc_event", "ras", "mc_event")],
        needs_files: false,
    },
    Probe {
        witness: WitnessName::MceRecord,
        hooks: &[hook("mce_record", "mce", "mce_record")],
        needs_files: false,
    },
    Probe {
        witness: WitnessName::RasFirmware,
        hooks: &[
            hook("non_standard_event", "ras", "non_standard_event"),
            optional(hook("arm_event", "ras", "arm_event")),
        ],
        needs_files: false,
    },
    Probe {
        witness: WitnessName::OomVictim,
        hooks: &[hook("oom_victim", "oom", "mark_victim")],
        needs_files: false,
    },
    Probe {
        witness: WitnessName::ProcessExit,
        hooks: &[hook("process_exit", "sched", "sched_process_exit")],
        needs_files: true,
    },
    Probe {
        witness: WitnessName::Module,
        hooks: &[
            hook("module_load", "module", "module_load"),
            hook("module_free", "module", "module_free"),
            optional(hook("module_tool", "sched", "sched_process_exec")),
            optional(hook("module_delete", "syscalls", "sys_enter_delete_module")),
        ],
        needs_files: false,
    },
    Probe {
        witness: WitnessName::SyscallIoctl,
        hooks: &[
            // The exit comes first, so that no start is ever without its end.
            hook("ioctl_exit", "syscalls", "sys_exit_ioctl"),
            hook("ioctl_enter", "syscalls", "sys_enter_ioctl"),
        ],
        needs_files: true,
    },
];

/// The sources that the driver's modules feed.
pub(super) const DRIVER_WITNESSES: [WitnessName; 3] = [
    WitnessName::DriverIoctl,
    WitnessName::ReportError,
    WitnessName::DevXid,
];

/// Their programs in the object of the probes.
pub(super) const DRIVER_PROGRAMS: [&str; 9] = [
    "driver_ioctl",
    "driver_ioctl_return",
    "driver_open",
    "driver_open_return",
    "driver_mmap",
    "driver_mmap_return",
    "driver_close",
    "driver_close_return",
    "dev_xid",
];

/// The program in C.
pub(super) const REPORT_ERROR: &str = "report_error";

/// The source that a program serves.
pub fn witness_of_program(program: &str) -> Option<WitnessName> {
    let probe = PROBES
        .iter()
        .find(|probe| probe.hooks.iter().any(|hook| hook.program == program));
    match program {
        _ if probe.is_some() => probe.map(|probe| probe.witness),
        REPORT_ERROR => Some(WitnessName::ReportError),
        "dev_xid" => Some(WitnessName::DevXid),
        _ if DRIVER_PROGRAMS.contains(&program) => Some(WitnessName::DriverIoctl),
        _ => None,
    }
}

gtrace_event::shown_enum! {
    /// A module of the driver that is probed.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum DriverModule {
        /// `nvidia`.
        Nvidia = "nvidia",
        /// `nvidia_uvm`.
        NvidiaUvm = "nvidia_uvm",
    }
}

impl DriverModule {
    /// Its functions, by driver generation, the newest first.
    pub(super) const fn functions(self) -> &'static [Functions] {
        match self {
            Self::Nvidia => &[
                // 545 and later.
                Functions {
                    ioctl: "nvidia_unlocked_ioctl",
                    open: "nvidia_open",
                    mmap: "nvidia_mmap",
                    close: "nvidia_close",
                },
                // 515 to 535.
                Functions {
                    ioctl: "nvidia_frontend_unlocked_ioctl",
                    open: "nvidia_frontend_open",
                    mmap: "nvidia_frontend_mmap",
                    close: "nvidia_frontend_close",
                },
            ],
            Self::NvidiaUvm => &[Functions {
                ioctl: "uvm_unlocked_ioctl_entry",
                open: "uvm_open_entry",
                mmap: "uvm_mmap_entry",
                close: "uvm_release_entry",
            }],
        }
    }
}

/// The functions behind a module's `struct file_operations`.
pub(super) struct Functions {
    pub(super) ioctl: &'static str,
    pub(super) open: &'static str,
    pub(super) mmap: &'static str,
    pub(super) close: &'static str,
}
