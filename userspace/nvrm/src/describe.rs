use crate::escape::*;
use crate::{
    class_name, code_offset, control_category, control_class, control_index, control_name, uvm_name,
};

/// A call in words: its request number as ioctl(2) got it, and the code that stands at
/// [`code_offset`] of its parameters (ignored where the call has none).
///
/// `RM_CONTROL NV2080_CTRL_CMD_GPU_GET_INFO_V2`, `RM_ALLOC NV01_DEVICE_0`, `UVM_MIGRATE`,
/// `ioctl 0xc0104699`.
pub fn describe(cmd: u32, code: u32) -> String {
    match escape_number(cmd) {
        Some(nr) if escape_name(nr).is_some() => describe_escape(nr, code),
        Some(_) => format!("ioctl {cmd:#x}"),
        None => uvm_name(cmd).map_or_else(|| format!("ioctl {cmd:#x}"), ToOwned::to_owned),
    }
}

/// As [`describe`], for an escape's bare number: the driver's `rm_ioctl` gets that.
pub fn describe_escape(nr: u32, code: u32) -> String {
    let Some(name) = escape_name(nr) else {
        return format!("escape {nr:#x}");
    };
    let about = match nr {
        NR_RM_CONTROL => describe_control(code),
        NR_RM_VID_HEAP_CONTROL => {
            heap_function_name(code).map_or_else(|| format!("function {code}"), ToOwned::to_owned)
        }
        _ if code_offset(nr).is_some() => {
            class_name(code).map_or_else(|| format!("class {code:#06x}"), ToOwned::to_owned)
        }
        _ => return name.to_owned(),
    };
    format!("{name} {about}")
}

/// A control command in words: its name, or its number taken apart, as in
/// `0x20801234 (class 0x2080 NV20_SUBDEVICE_0, category 0x12, index 0x34)`.
pub fn describe_control(cmd: u32) -> String {
    if let Some(name) = control_name(cmd) {
        return name.to_owned();
    }
    let class = control_class(cmd);
    let (space, name) = class_name(class).map_or(("", ""), |name| (" ", name));
    format!(
        "{cmd:#010x} (class {class:#06x}{space}{name}, category {:#04x}, index {:#04x})",
        control_category(cmd),
        control_index(cmd),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_read_as_their_names() {
        for (cmd, code, text) in [
            (
                0xc020_462a,
                0x2080_0102,
                "RM_CONTROL NV2080_CTRL_CMD_GPU_GET_INFO_V2",
            ),
            (0xc030_462b, 0x80, "RM_ALLOC NV01_DEVICE_0"),
            (0xc030_462b, 0x7fff, "RM_ALLOC class 0x7fff"),
            (0xc038_4627, 0x3e, "RM_ALLOC_MEMORY NV01_MEMORY_SYSTEM"),
            (0xc0b8_464a, 2, "RM_VID_HEAP_CONTROL ALLOC_SIZE"),
            (0xc0b8_464a, 99, "RM_VID_HEAP_CONTROL function 99"),
            (0xc010_4629, 7, "RM_FREE"),
            (51, 7, "UVM_MIGRATE"),
            (0xc010_4699, 0, "ioctl 0xc0104699"),
            (0x5401, 0, "ioctl 0x5401"),
        ] {
            assert_eq!(describe(cmd, code), text);
        }
        assert_eq!(describe_escape(0x99, 0), "escape 0x99");
        assert_eq!(describe_escape(NR_RM_ALLOC, 0), "RM_ALLOC NV01_ROOT");
    }

    #[test]
    fn an_unnamed_command_is_taken_apart() {
        assert_eq!(
            describe_control(0x2080_fe34),
            "0x2080fe34 (class 0x2080 NV20_SUBDEVICE_0, category 0xfe, index 0x34)"
        );
        assert_eq!(
            describe_control(0xdead_beef),
            "0xdeadbeef (class 0xdead, category 0xbe, index 0xef)"
        );
    }
}
