//! Files that name people and places: for this user only, and never in the place of another.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use super::shared::Failure;

/// Whether [`create`] could make the file, to be asked before what is to be in it is made.
pub(super) fn check(path: &Path) -> Result<(), Failure> {
    if fs::metadata(path).is_ok_and(|found| found.is_file()) {
        let error = io::Error::from(io::ErrorKind::AlreadyExists);
        return Err(unwritable(path, &error));
    }
    check_writable(path)
}

/// Whether a file could be written there, also in the place of one, to be asked before what is to be in it is made.
pub(super) fn check_writable(path: &Path) -> Result<(), Failure> {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let writable: io::Result<()> = match fs::metadata(path) {
        Ok(found) if found.is_file() => OpenOptions::new().append(true).open(path).map(drop),
        Ok(found) if found.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
        Ok(_) => Ok(()),
        // A name that is too long, or something of a file.
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        Err(_) if path.as_os_str().as_bytes().ends_with(b"/") => {
            Err(io::ErrorKind::IsADirectory.into())
        }
        Err(_) => tempfile::tempfile_in(folder.unwrap_or(Path::new("."))).map(drop),
    };
    writable.map_err(|error| unwritable(path, &error))
}

/// Writes a file that is not there yet; what is no file, a device or a pipe, is written to.
pub(super) fn create(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    create_by(path, |file| file.write_all(bytes))
}

fn create_by(path: &Path, write: impl FnOnce(&mut File) -> io::Result<()>) -> Result<(), Failure> {
    let is_other = fs::metadata(path).is_ok_and(|found| !found.is_file());
    let mut options = OpenOptions::new();
    options.write(true);
    if !is_other {
        options.create_new(true).mode(0o600);
    }
    let written = options.open(path).and_then(|mut file| {
        write(&mut file).inspect_err(|_| {
            // A part would keep the next attempt from the name.
            if !is_other {
                let _ = fs::remove_file(path);
            }
        })
    });
    written.map_err(|error| unwritable(path, &error))
}

fn unwritable(path: &Path, error: &io::Error) -> Failure {
    let remedy = match error.kind() {
        io::ErrorKind::AlreadyExists => "; name another one",
        io::ErrorKind::NotFound => "; make its folder first, or name another one",
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            "; name one in a folder that you may write to"
        }
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "; make room there, or name another one"
        }
        _ => "",
    };
    let path = path.display();
    Failure::not_possible(format!("{path} cannot be written: {error}{remedy}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_whole_or_not_there_and_takes_no_others_place() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("report.html");
        let full = create_by(&path, |file| {
            file.write_all(b"half")?;
            Err(io::ErrorKind::StorageFull.into())
        });
        assert!(full.is_err() && !path.exists());
        check(&path).unwrap();
        create(&path, b"whole").unwrap();
        for refused in [check(&path), create(&path, b"another")] {
            let Failure(_, why) = refused.unwrap_err();
            assert!(why.contains("name another one"), "{why}");
        }
        // In its place one may be written, and it is as it was.
        check_writable(&path).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"whole");
        // Where there is no folder for it, or the name is a folder's or none, that is known before too.
        for (path, says) in [
            (dir.path().join("none/report.html"), "make its folder first"),
            (dir.path().into(), "cannot be written"),
            (dir.path().join("new/"), "cannot be written"),
            (path.join(""), "cannot be written"),
            (dir.path().join("x".repeat(300)), "cannot be written"),
        ] {
            let Failure(_, why) = check(&path).unwrap_err();
            assert!(why.contains(says), "{why}");
        }
        let device = Path::new("/dev/null");
        check(device).unwrap();
        create(device, b"x").unwrap();
    }
}
