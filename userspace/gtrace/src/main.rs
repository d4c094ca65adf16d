//! The `gtrace` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    gtrace::cli::main()
}
