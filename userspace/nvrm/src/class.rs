use crate::table::Table;

static CLASSES: Table = Table::new(include_str!("../data/classes.tsv"));

/// Public name of an object class, `hClass` of an allocation: `NV01_DEVICE_0` for 0x80.
///
/// Source: `class/*.h` and `g_allclasses.h` of open-gpu-kernel-modules; where a class has several
/// names, the one that `g_allclasses.h` lists first.
pub fn class_name(class: u32) -> Option<&'static str> {
    CLASSES.find(class).map(|row| row.name)
}

/// Number of classes that have a name here.
pub fn class_count() -> usize {
    CLASSES.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_order_and_names_are_unique() {
        crate::table::check(CLASSES);
        let mut names: Vec<_> = CLASSES.rows().map(|row| row.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), class_count());
        assert!(class_count() >= 300);
    }

    #[test]
    fn classes_of_every_generation_are_known() {
        for (class, name) in [
            (0x0, "NV01_ROOT"),
            (0x3e, "NV01_MEMORY_SYSTEM"),
            (0x40, "NV01_MEMORY_LOCAL_USER"),
            (0x41, "NV01_ROOT_CLIENT"),
            (0x80, "NV01_DEVICE_0"),
            (0xda, "NV_SEMAPHORE_SURFACE"),
            (0x2080, "NV20_SUBDEVICE_0"),
            (0x90f1, "FERMI_VASPACE_A"),
            (0xa06c, "KEPLER_CHANNEL_GROUP_A"),
            (0xa0c0, "KEPLER_COMPUTE_A"),
            (0xb0c0, "MAXWELL_COMPUTE_A"),
            (0xc0c0, "PASCAL_COMPUTE_A"),
            (0xc3c0, "VOLTA_COMPUTE_A"),
            (0xc46f, "TURING_CHANNEL_GPFIFO_A"),
            (0xc6b5, "AMPERE_DMA_COPY_A"),
            (0xc9c0, "ADA_COMPUTE_A"),
            (0xc86f, "HOPPER_CHANNEL_GPFIFO_A"),
            (0xcbc0, "HOPPER_COMPUTE_A"),
            (0xc96f, "BLACKWELL_CHANNEL_GPFIFO_A"),
            (0xcdc0, "BLACKWELL_COMPUTE_A"),
            (0xcab5, "BLACKWELL_DMA_COPY_B"),
        ] {
            assert_eq!(class_name(class), Some(name), "{class:#x}");
        }
        assert_eq!(class_name(0xffff_ffff), None);
    }
}
