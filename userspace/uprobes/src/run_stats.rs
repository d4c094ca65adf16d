//! Time of the BPF programs, as the kernel counts it. Counting costs every BPF program of the host,
//! so that it is switched on for short whiles only.
#![allow(unsafe_code)] // libbpf's call has no safe form

use std::fs;
use std::io;
use std::os::fd::{AsFd as _, AsRawFd as _, FromRawFd as _, OwnedFd};

use libbpf_rs::Object;

use crate::way::Way;

/// While it lives, the kernel counts.
#[derive(Debug)]
pub(crate) struct Statistics {
    _fd: OwnedFd,
}

impl Statistics {
    /// Needs CAP_SYS_ADMIN; Linux 5.8.
    pub(crate) fn switch_on() -> io::Result<Self> {
        // SAFETY: takes a number, gives a descriptor or a negative error.
        let fd = unsafe { libbpf_sys::bpf_enable_stats(libbpf_sys::BPF_STATS_RUN_TIME) };
        if fd < 0 {
            return Err(io::Error::from_raw_os_error(-fd));
        }
        // SAFETY: a new descriptor, which nobody else owns.
        let fd = unsafe { OwnedFd::from_raw_fd(fd) };
        Ok(Self { _fd: fd })
    }
}

/// Runs and nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Runs {
    /// Runs.
    pub(crate) runs: u64,
    /// Nanoseconds in them.
    pub(crate) ns: u64,
}

/// What the kernel has counted for the programs of a way.
pub(crate) fn of_programs(object: &Object, way: Way) -> Runs {
    let (start, end) = way.programs();
    let mut sum = Runs::default();
    for program in object.progs() {
        if program.name() != start && end.is_none_or(|end| program.name() != end) {
            continue;
        }
        let fd = program.as_fd().as_raw_fd();
        let info = fs::read_to_string(format!("/proc/self/fdinfo/{fd}")).unwrap_or_default();
        let field = |name| {
            info.lines()
                .find_map(|line| line.strip_prefix(name)?.trim().parse::<u64>().ok())
                .unwrap_or(0)
        };
        sum.runs += field("run_cnt:");
        sum.ns += field("run_time_ns:");
    }
    sum
}
