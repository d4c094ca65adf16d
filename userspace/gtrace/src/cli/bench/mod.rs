//! `gtrace bench`: what things cost here.

mod child;
mod links;
mod output;
mod plan;
mod recorded;
mod remote;
pub mod report;
mod server;
mod text;

use std::process::ExitCode;

pub use self::child::client;
pub use self::report::Report;

/// Measure what calls cost on the GPU of another host.
#[derive(clap::Args, Debug)]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(clap::Subcommand, Debug)]
enum What {
    Remote(remote::Args),
}

/// Runs the command.
///
/// # Errors
///
/// What keeps it from being measured.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    match args.what {
        What::Remote(args) => remote::run(&args),
    }
}
