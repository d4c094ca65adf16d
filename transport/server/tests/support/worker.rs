//! A worker for the tests of this crate: what `gtrace serve-worker` is in the whole program.

use std::process::ExitCode;

fn main() -> ExitCode {
    gtrace_server::worker_main()
}
