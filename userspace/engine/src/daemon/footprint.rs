//! gtrace's own footprint: shown in the status, and kept small.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::hub::Hub;
use crate::memory;

/// Between polls of gtrace's own footprint.
const FOOTPRINT_EVERY: Duration = Duration::from_secs(5);

/// Grown by so many bytes, what the allocator keeps and nothing uses goes back to the kernel.
const GIVEN_BACK_BEYOND: u64 = 2 << 20;

/// At the latest so long after the last time: what was in use then, as a kernel log's history that was dealt with, need not
/// be now, and what it leaves between is no growth. After growth, as by a storm, sooner at first.
const GIVEN_BACK_EVERY: Duration = Duration::from_secs(60);

/// Watches it for ever.
pub(super) async fn watch(hub: Arc<Hub>) {
    let mut least = u64::MAX;
    let (mut given_back, mut wait) = (Instant::now(), GIVEN_BACK_EVERY);
    loop {
        let (mut rss_anon_bytes, cpu_seconds) = memory::footprint();
        let grown = rss_anon_bytes > least.saturating_add(GIVEN_BACK_BEYOND);
        if grown || given_back.elapsed() >= wait {
            // An answer of the API or a driver's probes took it for a moment, and the allocator has
            // kept it. What is in use is the measure from now on.
            memory::give_back();
            given_back = Instant::now();
            wait = match grown {
                true => FOOTPRINT_EVERY,
                false => (wait * 2).min(GIVEN_BACK_EVERY),
            };
            rss_anon_bytes = memory::footprint().0;
            least = rss_anon_bytes;
        }
        least = least.min(rss_anon_bytes);
        hub.update_status(|status| {
            status.footprint.rss_anon_bytes = rss_anon_bytes;
            status.footprint.cpu_seconds = cpu_seconds;
        });
        tokio::time::sleep(FOOTPRINT_EVERY).await;
    }
}
