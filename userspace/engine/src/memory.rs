//! gtrace's own footprint.
#![allow(unsafe_code)] // mallopt(3), malloc_trim(3)

use std::fs;

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

/// Resident anonymous memory in bytes, and CPU time used in seconds.
pub fn footprint() -> (u64, f64) {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    (
        rss_anon(&status),
        cpu_seconds(&stat, rustix::param::clock_ticks_per_second()),
    )
}

fn rss_anon(status: &str) -> u64 {
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("RssAnon:"));
    let kib = line.and_then(|l| l.trim().strip_suffix(" kB")?.parse::<u64>().ok());
    kib.unwrap_or(0) * 1024
}

fn cpu_seconds(stat: &str, ticks: u64) -> f64 {
    // The name in brackets may hold anything; utime and stime are fields 14 and 15.
    let Some((_, rest)) = stat.rsplit_once(')') else {
        return 0.0;
    };
    let used: u64 = rest
        .split_whitespace()
        .skip(11)
        .take(2)
        .filter_map(|f| f.parse::<u64>().ok())
        .sum();
    used as f64 / ticks.max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_the_kernel_writes() {
        assert_eq!(rss_anon("Name:\tx\nRssAnon:\t    1234 kB\n"), 1234 * 1024);
        let stat = "12 (a) b) S 1 2 3 4 5 6 7 8 9 10 250 50 0 0 20 0";
        assert!((cpu_seconds(stat, 100) - 3.0).abs() < 1e-9);
        assert!(footprint().0 > 0);
    }
}
