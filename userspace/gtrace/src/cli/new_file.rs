//! Files that name people and places: for this user only, and never in the place of another.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use super::shared::Failure;

/// Whether [`create`] could make the file, to be asked before what is to be in it is made.
pub(super) fn check(path: &Path) -> Result<(), Failure> {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let writable: io::Result<()> = match fs::metadata(path) {
        Ok(found) if found.is_file() => Err(io::ErrorKind::AlreadyExists.into()),
        Ok(found) if found.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
        Ok(_) => Ok(()),
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
        assert_eq!(fs::read(&path).unwrap(), b"whole");
        // Where there is no folder for it, or a folder is there, that is known before too.
        for (path, says) in [
            (dir.path().join("none/report.html"), "make its folder first"),
            (dir.path().into(), "cannot be written"),
        ] {
            let Failure(_, why) = check(&path).unwrap_err();
            assert!(why.contains(says), "{why}");
        }
        let device = Path::new("/dev/null");
        check(device).unwrap();
        create(device, b"x").unwrap();
    }
}
