//! The settings of this process, and the number that it has given itself.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use gtrace_recording::Variables;
use gtrace_recording::clock::boottime;
use gtrace_recording::message::Message;

use crate::report;

/// The number of this process; 0: none yet.
static PROCESS: AtomicU64 = AtomicU64::new(0);
/// Whether somebody listens, as far as is known.
static LISTENING: AtomicBool = AtomicBool::new(true);

/// What the environment says.
pub(crate) fn variables() -> &'static Variables {
    static VARIABLES: OnceLock<Variables> = OnceLock::new();
    VARIABLES.get_or_init(|| Variables::read(|name| std::env::var_os(name)))
}

/// Whether calls are recorded.
pub(crate) fn is_recorded() -> bool {
    variables().socket.is_some() && LISTENING.load(Ordering::Relaxed)
}

/// Nobody listens: nothing is recorded from now on.
pub(crate) fn not_listening() {
    LISTENING.store(false, Ordering::Relaxed);
}

/// The number of this process. The first request announces the process.
pub(crate) fn process() -> u64 {
    let known = PROCESS.load(Ordering::Relaxed);
    if known != 0 {
        return known;
    }
    let pid = u64::from(std::process::id());
    // Programs that follow each other in one process begin at different times.
    let number = (boottime() ^ pid << 40).max(1);
    match PROCESS.compare_exchange(0, number, Ordering::Relaxed, Ordering::Relaxed) {
        Err(other) => other,
        Ok(_) => {
            let name = std::fs::read("/proc/self/comm").unwrap_or_default();
            report::report(&Message::Process {
                process: number,
                pid,
                name: name.trim_ascii_end(),
            });
            number
        }
    }
}

/// The child of fork(2) is another process.
pub(crate) fn in_child() {
    PROCESS.store(0, Ordering::Relaxed);
}
