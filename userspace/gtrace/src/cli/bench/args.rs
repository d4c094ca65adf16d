//! The arguments of `gtrace bench remote`.

use std::path::PathBuf;

use gtrace_link::Preference;

use crate::cli::exec::connection::Connection;

/// Measure what CUDA calls cost on the GPU of another host, link by link, beside the raw limit of each.
///
/// Without --remote a server is started on this machine with the CPU emulator of a GPU: then what
/// is measured is remoting, not a GPU.
///
/// Exit status: 3 if the server does not answer or refuses, 2 wrong usage.
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// The server: HOST, HOST:PORT or unix:PATH.
    #[arg(long, value_name = "ADDR", env = "GTRACE_REMOTE")]
    pub(super) remote: Option<String>,
    /// Links to measure, with commas between them; without it all that work.
    #[arg(long, value_name = "shm|unix|tcp|rdma", value_delimiter = ',')]
    pub(super) link: Vec<Preference>,
    #[command(flatten)]
    pub(super) connection: Connection,
    /// Have every call answered before it returns.
    #[arg(long)]
    pub(super) strict: bool,
    /// Calls a second that are due; without it half of what a loop that waits for each call makes.
    #[arg(long, value_name = "CALLS/S", value_parser = rate)]
    pub(super) rate: Option<f64>,
    /// Also make the calls of a recorded program again, by name: a trace of `gtrace trace -o` or `gtrace exec --trace`.
    #[arg(long, value_name = "FILE.pftrace")]
    pub(super) replay: Option<PathBuf>,
    /// Few calls and small copies: that it works.
    #[arg(long, conflicts_with = "full")]
    pub(super) short: bool,
    /// Copies up to 1 GiB instead of 64 MiB, and longer.
    #[arg(long)]
    pub(super) full: bool,
    /// Print JSON.
    #[arg(long)]
    pub(super) json: bool,
    /// Write the histograms as a log of HdrHistogram.
    #[arg(long, value_name = "FILE")]
    pub(super) hlog: Option<PathBuf>,
    /// Draw the percentiles of calls that are waited for.
    #[arg(long, value_name = "FILE")]
    pub(super) svg: Option<PathBuf>,
}

fn rate(text: &str) -> Result<f64, String> {
    text.parse()
        .ok()
        .filter(|rate: &f64| (0.1..=1e8).contains(rate))
        .ok_or_else(|| {
            format!("`{text}` is no rate: write a number of calls a second from 0.1 to 1e8")
        })
}
