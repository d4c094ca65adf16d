//! gtrace's own footprint: shown in the status, and kept small.

use std::sync::Arc;
use std::time::Duration;

use crate::hub::Hub;
use crate::memory;

/// Between polls of gtrace's own footprint.
const FOOTPRINT_EVERY: Duration = Duration::from_secs(5);

/// Grown by so many bytes, what the allocator keeps and nothing uses goes back to the kernel.
const GIVEN_BACK_BEYOND: u64 = 2 << 20;

/// So many bytes given back are reason to try once more at the next look: what was in use then may not be now.
const WORTH_IT: u64 = 256 << 10;

/// Watches it for ever.
pub(super) async fn watch(hub: Arc<Hub>) {
    let mut least = u64::MAX;
    let mut again = false;
    loop {
        let (mut rss_anon_bytes, cpu_seconds) = memory::footprint();
        let grown = rss_anon_bytes > least.saturating_add(GIVEN_BACK_BEYOND);
        if grown || again {
            // An answer of the API or a driver's probes took it for a moment, and the allocator has
            // kept it. What is in use is the measure from now on, once that brings no more.
            memory::give_back();
            let before = std::mem::replace(&mut rss_anon_bytes, memory::footprint().0);
            least = rss_anon_bytes;
            again = grown || before.saturating_sub(rss_anon_bytes) >= WORTH_IT;
        }
        least = least.min(rss_anon_bytes);
        hub.update_status(|status| {
            status.footprint.rss_anon_bytes = rss_anon_bytes;
            status.footprint.cpu_seconds = cpu_seconds;
        });
        tokio::time::sleep(FOOTPRINT_EVERY).await;
    }
}
