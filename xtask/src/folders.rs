//! Folders that are removed or begun anew.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use anyhow::{Context as _, Result};

/// Removes a folder with all that is in it, if it is there.
pub(crate) fn remove(path: &Path) -> Result<()> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot clear {}", path.display()))
        }
        _ => Ok(()),
    }
}

/// Makes an empty folder, whatever was there before.
pub(crate) fn empty(path: &Path) -> Result<()> {
    remove(path)?;
    fs::create_dir_all(path).with_context(|| format!("cannot create {}", path.display()))
}
