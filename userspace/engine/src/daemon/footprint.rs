//! gtrace's own footprint: shown in the status, and kept small.

use std::time::{Duration, Instant};

use crate::hub::Hub;
use crate::memory;

/// At least between readings of gtrace's own footprint.
const FOOTPRINT_EVERY: Duration = Duration::from_secs(5);

/// Grown by so many bytes, what the allocator keeps and nothing uses goes back to the kernel.
const GIVEN_BACK_BEYOND: u64 = 2 << 20;

/// At the latest so long after the last time: what was in use then, as a kernel log's history that was dealt with, need not
/// be now, and what it leaves between is no growth. After growth, as by a storm, sooner at first.
const GIVEN_BACK_EVERY: Duration = Duration::from_secs(60);

/// What is known of it.
#[derive(Debug)]
pub(super) struct Footprint {
    read: Option<Instant>,
    /// Anonymous memory in bytes, the least since some was given back.
    least: u64,
    given_back: Instant,
    /// How long after that some more is given back, unless it grows.
    wait: Duration,
}

impl Footprint {
    pub(super) fn new() -> Self {
        Self {
            read: None,
            least: u64::MAX,
            given_back: Instant::now(),
            wait: GIVEN_BACK_EVERY,
        }
    }

    /// Reads and shows it, and gives memory back, if that is due.
    pub(super) fn poll(&mut self, hub: &Hub) {
        if self.read.is_some_and(|at| at.elapsed() < FOOTPRINT_EVERY) {
            return;
        }
        self.read = Some(Instant::now());
        let (mut rss_anon_bytes, cpu_seconds) = memory::footprint();
        let grown = rss_anon_bytes > self.least.saturating_add(GIVEN_BACK_BEYOND);
        if grown || self.given_back.elapsed() >= self.wait {
            // An answer of the API or a driver's probes took it for a moment, and the allocator has
            // kept it. What is in use is the measure from now on.
            memory::give_back();
            self.given_back = Instant::now();
            self.wait = match grown {
                true => FOOTPRINT_EVERY,
                false => (self.wait * 2).min(GIVEN_BACK_EVERY),
            };
            rss_anon_bytes = memory::footprint().0;
            self.least = rss_anon_bytes;
        }
        self.least = self.least.min(rss_anon_bytes);
        hub.update_status(|status| {
            status.footprint.rss_anon_bytes = rss_anon_bytes;
            status.footprint.cpu_seconds = cpu_seconds;
        });
    }
}
