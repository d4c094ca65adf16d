//! The running kernel's layout, as the probes need it.

use gtrace_abi::{Offsets, RasOffsets};
use libbpf_rs::btf::Btf;
use libbpf_rs::btf::types::{Composite, MemberAttr, Struct};

use super::tracefs::Tracefs;

/// Where the kernel shows its own type information.
pub const KERNEL_BTF: &str = "/sys/kernel/btf/vmlinux";
/// Anonymous structures are nested this deep at most.
const DEPTH_MAX: u32 = 8;

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
    let files_problem = match Btf::from_path(KERNEL_BTF) {
        Ok(btf) => files(&btf, &mut offsets).err(),
        Err(error) => Some(format!(
            "{KERNEL_BTF} cannot be read: {error:#} (the kernel needs CONFIG_DEBUG_INFO_BTF)"
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

fn files(btf: &Btf<'_>, offsets: &mut Offsets) -> Result<(), String> {
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
    // There are some 150,000 types: one pass finds those of all names.
    let is_named = |one: &Struct<'_>, name: &str| one.name().is_some_and(|of| of == name);
    let structs = btf.type_by_kind::<Struct<'_>>();
    let structs: Vec<_> = structs
        .filter(|one| wanted.iter().any(|(_, name, _)| is_named(one, name)))
        .collect();
    for (offset, name, member) in wanted {
        let mut named = structs.iter().filter(|one| is_named(one, name));
        *offset = named
            .find_map(|one| offset_of(btf, &Composite::from(*one), member, 0))
            .filter(|bits| bits % 8 == 0)
            .ok_or_else(|| format!("the kernel's type information has no `{name}.{member}`"))?
            / 8;
    }
    Ok(())
}

/// Where `member` begins, in bits; anonymous inner structures are looked through.
fn offset_of(btf: &Btf<'_>, of: &Composite<'_>, member: &str, depth: u32) -> Option<u32> {
    of.iter().find_map(|found| {
        let (MemberAttr::Normal { offset } | MemberAttr::BitField { offset, .. }) = found.attr;
        if let Some(name) = found.name {
            return (name == member).then_some(offset);
        }
        if depth == DEPTH_MAX {
            return None;
        }
        let inner: Composite<'_> = btf.type_by_id(found.ty)?;
        offset.checked_add(offset_of(btf, &inner, member, depth + 1)?)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const INT: u32 = 1 << 24;
    const STRUCT: u32 = 4 << 24;

    /// Type information as the kernel has it (Documentation/bpf/btf.rst).
    fn btf(types: &[u32], strings: &[u8]) -> Btf<'static> {
        let len = types.len() as u32 * 4;
        let mut bytes = vec![0x9f, 0xeb, 1, 0];
        let header = [24, 0, len, len, strings.len() as u32];
        let words = header.iter().chain(types);
        bytes.extend(words.flat_map(|word| word.to_le_bytes()));
        bytes.extend(strings);
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), bytes).unwrap();
        Btf::from_path(file.path()).unwrap()
    }

    fn bits(btf: &Btf<'_>, member: &str) -> Option<u32> {
        let found: Struct<'_> = btf.type_by_name("s").unwrap();
        offset_of(btf, &Composite::from(found), member, 0)
    }

    /// struct s { int a; struct { int pad; int b; }; } with the inner one at byte 8.
    #[test]
    fn finds_members_through_anonymous_structs() {
        let (int, s, a, b, pad) = (1, 5, 7, 9, 11);
        #[rustfmt::skip]
        let types = [
            int, INT, 4, 32,
            0, STRUCT | 2, 8, pad, 1, 0, b, 1, 32,
            s, STRUCT | 2, 16, a, 1, 0, 0, 2, 64,
        ];
        let btf = btf(&types, b"\0int\0s\0a\0b\0pad\0");
        let found = ["a", "b", "c"].map(|member| bits(&btf, member));
        assert_eq!(found, [Some(0), Some(96), None]);
        let missing = files(&btf, &mut Offsets::default()).unwrap_err();
        assert!(missing.ends_with("has no `task_struct.files`"), "{missing}");
    }

    #[test]
    fn a_struct_that_contains_itself_ends_the_search() {
        let types = [1, STRUCT | 1, 4, 0, 1, 0];
        assert_eq!(bits(&btf(&types, b"\0s\0"), "x"), None);
    }
}
