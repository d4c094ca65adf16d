use crate::table::Table;

static CONTROLS: Table = Table::new(include_str!("../data/controls.tsv"));

/// Public name of a control command, the `cmd` field of `RM_CONTROL`.
///
/// Source: `ctrl/*.h` of open-gpu-kernel-modules. About two dozen numbers mean different commands
/// in different driver branches, nearly all of them internal (`NV2080_CTRL_CMD_INTERNAL_*`); the
/// name is then the one of 580.
pub fn control_name(cmd: u32) -> Option<&'static str> {
    CONTROLS.find(cmd).map(|row| row.name)
}

/// Number of the class that a control command belongs to: its upper 16 bits (`ctrlxxxx.h`).
pub fn control_class(cmd: u32) -> u32 {
    cmd >> 16
}

/// Category of a control command within its class: bits 8 to 15. From 0x80 on it is a category of
/// the closed driver's older commands (`NVxxxx_CTRL_LEGACY_*` of `ctrlxxxx.h`).
pub fn control_category(cmd: u32) -> u32 {
    (cmd >> 8) & 0xff
}

/// Index of a control command within its category: the lowest 8 bits.
pub fn control_index(cmd: u32) -> u32 {
    cmd & 0xff
}

/// Number of control commands that have a name here.
pub fn control_count() -> usize {
    CONTROLS.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_order() {
        crate::table::check(CONTROLS);
        assert!(control_count() >= 1_600, "{}", control_count());
    }

    #[test]
    fn a_name_says_the_class_that_the_number_has() {
        let mut checked = 0;
        for row in CONTROLS.rows() {
            // Others, as NV_CONF_COMPUTE_CTRL_CMD_*, do not have their class in the name.
            let Some(class) = row
                .name
                .strip_prefix("NV")
                .and_then(|rest| rest.get(..4))
                .and_then(|digits| u32::from_str_radix(digits, 16).ok())
            else {
                continue;
            };
            assert_eq!(control_class(row.number), class, "{row:?}");
            checked += 1;
        }
        assert!(checked > 1_500);
    }

    #[test]
    fn commands_of_the_main_classes_are_known() {
        for (cmd, name) in [
            (0x0000_01f0, "NV0000_CTRL_CMD_SYSTEM_GET_FEATURES"),
            (0x0000_0214, "NV0000_CTRL_CMD_GPU_GET_PROBED_IDS"),
            (0x0000_3d05, "NV0000_CTRL_CMD_OS_UNIX_EXPORT_OBJECT_TO_FD"),
            (0x0080_0201, "NV0080_CTRL_CMD_GPU_GET_CLASSLIST"),
            (0x2080_0102, "NV2080_CTRL_CMD_GPU_GET_INFO_V2"),
            (0x2080_1303, "NV2080_CTRL_CMD_FB_GET_INFO_V2"),
            (0x2080_1227, "NV2080_CTRL_CMD_GR_GET_CAPS_V2"),
            (0xa06c_0101, "NVA06C_CTRL_CMD_GPFIFO_SCHEDULE"),
            (0xa06f_0101, "NVA06F_CTRL_GET_CLASS_ENGINEID"),
            (
                0xcb33_0101,
                "NV_CONF_COMPUTE_CTRL_CMD_SYSTEM_GET_CAPABILITIES",
            ),
        ] {
            assert_eq!(control_name(cmd), Some(name), "{cmd:#x}");
        }
        assert_eq!(control_name(0xdead_beef), None);
    }

    #[test]
    fn a_number_is_taken_apart() {
        assert_eq!(control_class(0x2080_1234), 0x2080);
        assert_eq!(control_category(0x2080_1234), 0x12);
        assert_eq!(control_index(0x2080_1234), 0x34);
    }
}
