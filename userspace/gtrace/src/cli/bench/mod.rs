//! `gtrace bench`: what things cost here.

mod args;
mod child;
mod links;
mod remote;
mod server;

use std::process::ExitCode;

pub use self::child::client;

/// Measure what calls cost on the GPU of another host.
#[derive(clap::Args, Debug)]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(clap::Subcommand, Debug)]
enum What {
    Remote(args::Args),
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
