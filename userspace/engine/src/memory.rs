//! gtrace's own footprint.
#![allow(unsafe_code)] // mallopt(3), malloc_trim(3)

use std::path::Path;

use gtrace_devices::read_pseudo_file;
use rustix::time::{ClockId, clock_gettime};

/// Has all threads allocate from few pools: by default glibc gives each thread one of its own, and
/// what one frees another cannot use.
pub fn few_arenas() {
    #[cfg(target_env = "gnu")]
    // SAFETY: takes numbers; called before other threads are started.
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, 2)
    };
}

/// Gives memory that start-up or a storm needed for a moment back to the kernel: the kernel's type
/// information alone takes over 20 MB to parse.
pub fn give_back() {
    #[cfg(target_env = "gnu")]
    // SAFETY: takes a number, may be called at any time from any thread.
    unsafe {
        libc::malloc_trim(0)
    };
}

/// Resident anonymous memory in bytes, and CPU time used in seconds, ended threads included.
pub fn footprint() -> (u64, f64) {
    let status = read_pseudo_file(Path::new("/proc/self/status")).unwrap_or_default();
    let used = clock_gettime(ClockId::ProcessCPUTime);
    (
        rss_anon(&status),
        used.tv_sec as f64 + used.tv_nsec as f64 / 1e9,
    )
}

fn rss_anon(status: &str) -> u64 {
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("RssAnon:"));
    let kib = line.and_then(|l| l.trim().strip_suffix(" kB")?.parse::<u64>().ok());
    kib.unwrap_or(0) * 1024
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_the_kernel_writes() {
        assert_eq!(rss_anon("Name:\tx\nRssAnon:\t    1234 kB\n"), 1234 * 1024);
        let (rss_anon_bytes, cpu_seconds) = footprint();
        assert!(rss_anon_bytes > 0 && cpu_seconds > 0.0);
    }
}
