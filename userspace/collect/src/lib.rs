//! Rows of profiles from where calls are counted: own probes on the CUDA driver, the daemon's counts of
//! driver calls, the server of a remote GPU, and the files that a client of it writes; the state of that server as text;
//! readings for profiling sessions of a fleet, what a host's daemon adds to its state there, and what else its head may have a host do.

mod actor;
mod api_rows;
mod daemon;
mod daemon_state;
pub mod profile_file;
pub mod record;
mod remote;
pub mod report;
pub mod server_status;
mod session;
pub mod stats_file;
mod turn;

use std::time::Duration;

use gtrace_profile::Row;

pub use actor::HostActor;
pub use api_rows::Calls;
pub use daemon::{Daemon, inactive_reason};
pub use daemon_state::DaemonState;
pub use remote::Server;
pub use session::{HostSampler, NvmlOf, gpu_state};
pub use stats_file::Files;
pub use turn::Turn;

/// Longest time between two polls.
pub const POLL_INTERVAL: Duration = gtrace_uprobes::POLL_INTERVAL;

/// A place that counts calls. Its counts only rise; a process that has ended may have moved under
/// [`gtrace_profile::Process::ended`].
pub trait Collector {
    /// Begins. What was counted before may be in the readings.
    ///
    /// # Errors
    ///
    /// That nothing is counted there: what, why, and the remedy.
    fn start(&mut self) -> anyhow::Result<()>;

    /// Everything that was counted so far.
    ///
    /// # Errors
    ///
    /// As of `start`.
    fn read(&mut self) -> anyhow::Result<Vec<Row>>;

    /// Does what has to be done between two readings, and returns whether more of the
    /// calls that were asked for can come. Called at least every [`POLL_INTERVAL`] while calls are counted.
    ///
    /// # Errors
    ///
    /// As of `start`.
    fn poll(&mut self) -> anyhow::Result<bool> {
        Ok(true)
    }

    /// Whether nothing was counted before it was started.
    fn counts_from_its_start(&self) -> bool {
        false
    }

    /// What to know of what was read: that a source sees nothing, for example.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }
}
