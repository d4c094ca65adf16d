//! Where counts come from.

use std::time::Duration;

use gtrace_profile::Row;

use super::{Args, api_rows, driver, remote, stats_file};

/// Longest time between two looks.
pub(super) const LOOK_EVERY: Duration = gtrace_uprobes::LOOK_EVERY;

/// A place that counts calls. Its counts only rise; a process that has ended may have moved under
/// [`gtrace_profile::Process::ended`].
pub(super) trait Collector {
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

    /// Does what has to be done between two readings, and says whether there can be more calls of
    /// those that were asked for. Called at least every [`LOOK_EVERY`] while calls are counted.
    ///
    /// # Errors
    ///
    /// As of `start`.
    fn look(&mut self) -> anyhow::Result<bool> {
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

/// Those that the command line asks for.
pub(super) fn collectors(args: &Args) -> Vec<Box<dyn Collector>> {
    let mut collectors: Vec<Box<dyn Collector>> = Vec::new();
    if args.counts_api() {
        let settings = args.probes.settings();
        collectors.push(Box::new(api_rows::Calls::new(args.pid, settings)));
    }
    if args.driver {
        collectors.push(Box::new(driver::Daemon::new(&args.place)));
    }
    if args.remote && !args.stats_file.is_empty() {
        collectors.push(Box::new(stats_file::Files::new(&args.stats_file)));
    } else if args.remote {
        collectors.push(Box::new(remote::Server::new(args.status_socket.as_deref())));
    }
    collectors
}
