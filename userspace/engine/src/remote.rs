//! The socket at which `gtrace serve` of this host reports its state.

use std::path::{Path, PathBuf};

/// Name of the socket in its folder.
const NAME: &str = "serve-status.sock";

/// Folders of the system's server: started by hand, or as the unit gtrace-serve.service.
const FOLDERS: [&str; 2] = ["/run/gtrace", "/run/gtrace-serve"];

/// The socket to ask: `GTRACE_SERVE_STATUS`, else the first that is there.
pub fn to_ask() -> PathBuf {
    if let Some(path) = std::env::var_os("GTRACE_SERVE_STATUS") {
        return path.into();
    }
    let found = candidates().find(|path| path.exists());
    found.unwrap_or_else(|| Path::new(FOLDERS[0]).join(NAME))
}

/// The socket that a server makes: in the first folder that this user may write to, which root makes.
pub fn to_make() -> PathBuf {
    let writable = |path: &PathBuf| {
        path.parent()
            .is_some_and(|dir| rustix::fs::access(dir, rustix::fs::Access::WRITE_OK).is_ok())
    };
    let found = candidates().find(writable);
    found.unwrap_or_else(|| {
        let folder = Path::new(FOLDERS[0]);
        // Without permission, making the socket fails with the reason.
        let _ = std::fs::create_dir(folder);
        folder.join(NAME)
    })
}

fn candidates() -> impl Iterator<Item = PathBuf> {
    let user = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    FOLDERS
        .into_iter()
        .map(PathBuf::from)
        .chain(user)
        .map(|folder| folder.join(NAME))
}
