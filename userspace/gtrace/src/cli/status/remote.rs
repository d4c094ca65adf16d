//! `gtrace status --remote`: which clients on other hosts use the GPUs of this host.

use std::io;
use std::path::Path;
use std::process::ExitCode;

use gtrace_collect::server_status::text;
use gtrace_engine::remote;
use gtrace_server::ServerStatus;

use crate::cli::shared::{self, Exit};

/// Runs the command.
pub(super) fn run(path: Option<&Path>, json: bool) -> anyhow::Result<ExitCode> {
    let path = path.map_or_else(remote::to_ask, Path::to_path_buf);
    match ServerStatus::ask(&path) {
        Ok(status) => {
            shared::show(json, &status, || text(&status))?;
            Ok(Exit::Success.into())
        }
        Err(error) => {
            let remedy = match error.kind() {
                io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused => {
                    "; `gtrace serve` does not run here, or was given another --status-socket"
                }
                io::ErrorKind::PermissionDenied => "; ask as the user that serves, or as root",
                _ => "",
            };
            say!("{}: {error}{remedy}", path.display());
            Ok(Exit::NotPossible.into())
        }
    }
}
