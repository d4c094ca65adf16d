//! What the loaded probes take: time of programs, memory of maps.

use std::collections::BTreeMap;
use std::fs;
use std::os::fd::{AsRawFd as _, BorrowedFd};
use std::path::Path;

use gtrace_devices::read_pseudo_file;

/// Run statistics of the program behind a descriptor.
pub(super) fn run_stats_of(fd: BorrowedFd<'_>) -> Option<RunStats> {
    let fd = fd.as_raw_fd();
    let info = read_pseudo_file(Path::new(&format!("/proc/self/fdinfo/{fd}"))).ok()?;
    let field = |name| fdinfo_field(&info, name);
    Some(RunStats {
        runs: field("run_cnt:"),
        ns: field("run_time_ns:"),
        missed: field("recursion_misses:"),
    })
}

/// Kernel memory of all BPF maps that this process holds, bytes, as the kernel accounts it.
pub fn map_bytes() -> u64 {
    let Ok(infos) = fs::read_dir("/proc/self/fdinfo") else {
        return 0;
    };
    let infos = infos
        .filter_map(Result::ok)
        .filter_map(|entry| fs::read_to_string(entry.path()).ok());
    sum_of_maps(infos)
}

/// The same, of the texts of fdinfo files. Two descriptors can be of one map.
fn sum_of_maps(infos: impl Iterator<Item = String>) -> u64 {
    /// `BPF_MAP_TYPE_RINGBUF`; kernels before 6.4 account none of its memory.
    const RINGBUF: u64 = 27;
    infos
        .filter(|info| info.contains("map_type:"))
        .map(|info| {
            let accounted = fdinfo_field(&info, "memlock:");
            let ring = fdinfo_field(&info, "map_type:") == RINGBUF && accounted == 0;
            let bytes = if ring {
                fdinfo_field(&info, "max_entries:")
            } else {
                accounted
            };
            (fdinfo_field(&info, "map_id:"), bytes)
        })
        .collect::<BTreeMap<_, _>>()
        .into_values()
        .sum()
}

/// Run statistics of one program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RunStats {
    /// Runs.
    pub runs: u64,
    /// Nanoseconds spent in them.
    pub ns: u64,
    /// Runs skipped.
    pub missed: u64,
}

fn fdinfo_field(info: &str, name: &str) -> u64 {
    info.lines()
        .find_map(|line| line.strip_prefix(name)?.trim().parse().ok())
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::sum_of_maps;

    #[test]
    fn each_map_is_summed_once_and_a_ring_that_is_not_accounted_by_its_room() {
        let info = |kind: u32, id: u32, memlock: u32| {
            format!(
                "pos:\t0\nmap_type:\t{kind}\nmax_entries:\t4096\nmemlock:\t{memlock}\nmap_id:\t{id}\n"
            )
        };
        let infos = [
            info(1, 7, 100),
            info(27, 8, 0),
            info(1, 7, 100),
            "pos:\t0\n".to_owned(),
        ];
        assert_eq!(sum_of_maps(infos.into_iter()), 4196);
    }
}
