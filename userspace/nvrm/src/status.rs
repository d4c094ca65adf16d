use crate::table::Table;

static STATUSES: Table = Table::new(include_str!("../data/statuses.tsv"));

/// Lowest status that is a warning (`NV_WARN_HOT_SWITCH`).
const WARNINGS: u32 = 0x0001_0001;

/// Highest number that is kept for warnings; the header uses a handful of them.
const WARNINGS_END: u32 = 0x0001_ffff;

/// Public name of an `NV_STATUS`: `NV_OK`, `NV_ERR_NO_MEMORY` for 0x51, `NV_WARN_…`.
///
/// Source: `nvstatuscodes.h` of open-gpu-kernel-modules; numbers up to 0x8a are the same in every
/// branch that has them. 0x8b and later were given anew between 590 and 615, and have no name here.
pub fn status_name(status: u32) -> Option<&'static str> {
    STATUSES.find(status).map(|row| row.name)
}

/// What a status means to whoever runs the host, in one clause, where that helps.
pub fn status_text(status: u32) -> Option<&'static str> {
    STATUSES.find(status)?.wording
}

/// The status of that name, with or without its prefix, in any case: `NV_ERR_NO_MEMORY`,
/// `no_memory`. Without a prefix an error is meant before a warning.
pub fn status_by_name(name: &str) -> Option<u32> {
    let wanted = name.trim();
    let numbered = |prefix: &str| {
        STATUSES.rows().find_map(|row| {
            let short = row.name.strip_prefix(prefix)?;
            short.eq_ignore_ascii_case(wanted).then_some(row.number)
        })
    };
    ["", "NV_ERR_", "NV_WARN_", "NV_"]
        .into_iter()
        .find_map(numbered)
}

/// Whether a status says that the call failed: neither `NV_OK` nor a warning.
pub fn is_failure(status: u32) -> bool {
    status != 0 && !(WARNINGS..=WARNINGS_END).contains(&status)
}

/// Number of statuses that have a name here.
pub fn status_count() -> usize {
    STATUSES.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_order() {
        crate::table::check(STATUSES);
        // NV_OK, 0x1 to 0x8a, NV_ERR_GENERIC, nine warnings.
        assert_eq!(status_count(), 1 + 0x8a + 1 + 9);
        for status in 0..=0x8a {
            assert!(status_name(status).is_some(), "{status:#x}");
        }
    }

    #[test]
    fn each_name_leads_back_to_its_status() {
        for row in STATUSES.rows() {
            assert_eq!(status_by_name(row.name), Some(row.number));
            assert_eq!(
                status_by_name(&row.name.to_lowercase()),
                Some(row.number),
                "{row:?}"
            );
            if let Some(short) = row.name.strip_prefix("NV_ERR_") {
                assert_eq!(status_by_name(short), Some(row.number), "{row:?}");
            }
        }
        assert_eq!(status_by_name(" no_memory "), Some(0x51));
        assert_eq!(status_by_name("nothing_to_do"), Some(0x0001_0006));
        assert_eq!(status_by_name("ok"), Some(0));
        assert_eq!(status_by_name("NO_SUCH_STATUS"), None);
        assert_eq!(status_by_name(""), None);
    }

    #[test]
    fn statuses_that_operators_meet() {
        for (status, name) in [
            (0x0, "NV_OK"),
            (0xf, "NV_ERR_GPU_IS_LOST"),
            (0x1a, "NV_ERR_INSUFFICIENT_RESOURCES"),
            (0x1b, "NV_ERR_INSUFFICIENT_PERMISSIONS"),
            (0x40, "NV_ERR_INVALID_STATE"),
            (0x51, "NV_ERR_NO_MEMORY"),
            (0x56, "NV_ERR_NOT_SUPPORTED"),
            (0x62, "NV_ERR_RESET_REQUIRED"),
            (0x65, "NV_ERR_TIMEOUT"),
            (0x7a, "NV_ERR_FABRIC_MANAGER_NOT_PRESENT"),
            (0xffff, "NV_ERR_GENERIC"),
        ] {
            assert_eq!(status_name(status), Some(name));
            assert!(status_text(status).is_some(), "{name}");
        }
        assert_eq!(status_name(0x8b), None);
        assert_eq!(status_text(0x8b), None);
    }

    #[test]
    fn warnings_are_no_failures() {
        assert!(!is_failure(0));
        assert!(is_failure(0x51));
        assert!(is_failure(0xffff));
        assert!(!is_failure(0x0001_0006));
        for row in STATUSES.rows() {
            assert_eq!(is_failure(row.number), row.name.starts_with("NV_ERR_"));
        }
    }
}
