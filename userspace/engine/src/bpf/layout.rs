//! The running kernel's layout, as the probes need it.

use std::fs;

use gtrace_abi::{Offsets, RasOffsets};

use super::btf::Btf;
use super::tracefs::Tracefs;

/// Where the kernel shows its own type information.
pub const KERNEL_BTF: &str = "/sys/kernel/btf/vmlinux";

/// The layout, and what of it could not be had.
#[derive(Clone, Debug, Default)]
pub struct Layout {
    /// For the probes' `.rodata`.
    pub offsets: Offsets,
    /// The same of the ras and mce tracepoints.
    pub ras: RasOffsets,
    /// Why descriptors cannot be followed to devices, if so.
    pub files_problem: Option<String>,
}

/// Reads the layout of the running kernel.
pub fn read(tracefs: &Tracefs) -> Layout {
    let mut offsets = Offsets::default();
    let files_problem = match fs::read(KERNEL_BTF) {
        Ok(blob) => files(&blob, &mut offsets).err(),
        Err(error) => Some(format!(
            "{KERNEL_BTF} cannot be read: {error} (the kernel needs CONFIG_DEBUG_INFO_BTF)"
        )),
    };
    offsets.have_files = u32::from(files_problem.is_none());
    let field = |category, name, field| tracefs.field_offset(category, name, field).unwrap_or(0);
    offsets.printk_msg = field("printk", "console", "msg");
    offsets.oom_pid = field("oom", "mark_victim", "pid");
    offsets.module_load_name = field("module", "module_load", "name");
    offsets.module_free_name = field("module", "module_free", "name");
    offsets.delete_module_name = field("syscalls", "sys_enter_delete_module", "name_user");
    offsets.aer_dev_name = field("ras", "aer_event", "dev_name");
    offsets.aer_status = field("ras", "aer_event", "status");
    offsets.aer_severity = field("ras", "aer_event", "severity");
    offsets.aer_tlp_header_valid = field("ras", "aer_event", "tlp_header_valid");
    offsets.aer_tlp_header = field("ras", "aer_event", "tlp_header");
    offsets.ioctl_fd = field("syscalls", "sys_enter_ioctl", "fd");
    offsets.ioctl_cmd = field("syscalls", "sys_enter_ioctl", "cmd");
    offsets.ioctl_arg = field("syscalls", "sys_enter_ioctl", "arg");
    offsets.ioctl_ret = field("syscalls", "sys_exit_ioctl", "ret");
    let (memory, check, section) = ("mc_event", "mce_record", "non_standard_event");
    let ras = RasOffsets {
        mc_error_type: field("ras", memory, "error_type"),
        mc_msg: field("ras", memory, "msg"),
        mc_label: field("ras", memory, "label"),
        mc_error_count: field("ras", memory, "error_count"),
        mc_index: field("ras", memory, "mc_index"),
        mc_address: field("ras", memory, "address"),
        mc_syndrome: field("ras", memory, "syndrome"),
        mce_status: field("mce", check, "status"),
        mce_addr: field("mce", check, "addr"),
        mce_cpu: field("mce", check, "cpu"),
        mce_bank: field("mce", check, "bank"),
        mce_ipid: field("mce", check, "ipid"),
        mce_vendor: field("mce", check, "cpuvendor"),
        arm_sev: field("ras", "arm_event", "sev"),
        arm_cpu: field("ras", "arm_event", "cpu"),
        section_type: field("ras", section, "sec_type"),
        section_fru_text: field("ras", section, "fru_text"),
        section_sev: field("ras", section, "sev"),
    };
    Layout {
        offsets,
        ras,
        files_problem,
    }
}

fn files(blob: &[u8], offsets: &mut Offsets) -> Result<(), String> {
    let btf = Btf::parse(blob).map_err(|e| e.to_string())?;
    let wanted: [(&mut u32, &str, &str); 12] = [
        (&mut offsets.task_files, "task_struct", "files"),
        (&mut offsets.task_signal, "task_struct", "signal"),
        (&mut offsets.task_exit_code, "task_struct", "exit_code"),
        (&mut offsets.signal_live, "signal_struct", "live"),
        (
            &mut offsets.signal_group_exit_code,
            "signal_struct",
            "group_exit_code",
        ),
        (&mut offsets.files_fdt, "files_struct", "fdt"),
        (&mut offsets.fdt_max_fds, "fdtable", "max_fds"),
        (&mut offsets.fdt_fd, "fdtable", "fd"),
        (&mut offsets.fdt_open_fds, "fdtable", "open_fds"),
        (&mut offsets.file_inode, "file", "f_inode"),
        (&mut offsets.inode_rdev, "inode", "i_rdev"),
        (&mut offsets.inode_mode, "inode", "i_mode"),
    ];
    for (offset, strukt, member) in wanted {
        *offset = btf
            .member_offset(strukt, member)
            .map_err(|e| e.to_string())?;
    }
    Ok(())
}
