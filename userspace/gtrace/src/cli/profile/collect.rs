//! Where counts come from.

use gtrace_collect::{Calls, Collector, Daemon, Files, Server};

use super::Args;
use crate::cli::shared;

/// Those that the command line asks for.
///
/// # Errors
///
/// A configuration that is refused.
pub(super) fn collectors(args: &Args) -> anyhow::Result<Vec<Box<dyn Collector>>> {
    let mut collectors: Vec<Box<dyn Collector>> = Vec::new();
    if args.counts_api() {
        let settings = args.probes.settings();
        collectors.push(Box::new(Calls::new(args.pid, settings, shared::say)));
    }
    if args.driver {
        let instance = args.place.resolve()?;
        let client = instance.reading_client();
        instance.say_daemon(&client);
        collectors.push(Box::new(Daemon::new(client)));
    }
    if args.remote && !args.stats_file.is_empty() {
        collectors.push(Box::new(Files::new(&args.stats_file)));
    } else if args.remote {
        collectors.push(Box::new(Server::new(args.status_socket.as_deref())));
    }
    Ok(collectors)
}
