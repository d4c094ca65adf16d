//! The ways in which kernels offer uprobes.

use crate::procfs::kernel_version;

/// A way, the best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Way {
    /// uprobe.session, Linux 6.13: one probe sees a call's start and its end.
    Session,
    /// uprobe.multi, Linux 6.6: two links, one of starts and one of ends.
    Multi,
    /// A probe for each start and each end. Each takes about a tenth of a second to take away, so that
    /// only [`Way::MOST_SINGLE`] functions are probed.
    Single,
}

impl Way {
    /// All, the best first.
    pub const ALL: [Self; 3] = [Self::Session, Self::Multi, Self::Single];

    /// How many functions are probed by single probes.
    pub const MOST_SINGLE: usize = 16;

    /// As it is shown.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Session => "uprobe.session",
            Self::Multi => "uprobe.multi",
            Self::Single => "single uprobes",
        }
    }

    /// The first kernel that has it, where it was not always there.
    pub const fn since(self) -> &'static str {
        match self {
            Self::Session => "Linux 6.13",
            Self::Multi => "Linux 6.6",
            Self::Single => "Linux 5.15",
        }
    }

    /// The programs at the start of a call and, if it is another one, at its end.
    pub(crate) const fn programs(self) -> (&'static str, Option<&'static str>) {
        match self {
            Self::Session => ("cuda_session", None),
            Self::Multi => ("cuda_multi", Some("cuda_multi_end")),
            Self::Single => ("cuda_single", Some("cuda_single_end")),
        }
    }
}

/// Whether the kernel's own filter by process can be relied on: before 6.10 it saw only one thread.
pub(crate) fn kernel_filters_processes(release: &str) -> bool {
    kernel_version(release) >= (6, 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_are_compared_as_numbers() {
        for (release, filters) in [
            ("6.9.12", false),
            ("6.10.0-rc1", true),
            ("6.1.0-37-amd64", false),
            ("6.18.44-fc-v657", true),
            ("7.0", true),
            ("strange", false),
        ] {
            assert_eq!(kernel_filters_processes(release), filters, "{release}");
        }
    }
}
