//! Files that are there whole, or as they were before.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::Path;

/// Writes `text` to `file`, whole or not at all, also where the power fails meanwhile.
///
/// # Errors
///
/// What the system says.
pub fn save(file: &Path, text: &str) -> io::Result<()> {
    let dir = match file.parent() {
        Some(dir) if dir != Path::new("") => dir,
        _ => Path::new("."),
    };
    fs::create_dir_all(dir)?;
    let mut name = file.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.new", std::process::id()));
    let new = dir.join(name);
    // Of a process of this number that was killed at it.
    let _ = fs::remove_file(&new);
    let written = File::create_new(&new).and_then(|mut out| {
        out.write_all(text.as_bytes())?;
        out.sync_all()?;
        fs::rename(&new, file)?;
        sync_directory(dir)
    });
    if written.is_err() {
        // The error of the writing counts.
        let _ = fs::remove_file(&new);
    }
    written
}

fn sync_directory(dir: &Path) -> io::Result<()> {
    match File::open(dir)?.sync_all() {
        // Some file systems cannot, and the file is whole.
        Err(error) if matches!(error.raw_os_error(), Some(libc::EINVAL | libc::ENOTSUP)) => Ok(()),
        synced => synced,
    }
}
