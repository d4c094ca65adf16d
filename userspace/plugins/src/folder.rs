//! Which executables are plugins: only those that nobody but root can have put there.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Component, Path, PathBuf};

/// Most plugins of a host.
pub const PLUGINS_MAX: usize = 16;
/// Longest name.
const NAME_MAX: usize = 64;
/// Most links on the way to the folder, as in the kernel.
const LINKS_MAX: usize = 40;
/// Bits that let others than the owner write.
const WRITABLE_BY_OTHERS: u32 = 0o022;
/// On a folder: only its owner and that of a file can rename the file.
const STICKY: u32 = 0o1000;

/// A plugin that may be run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plugin {
    /// Its file's name.
    pub name: String,
    /// Its file, without links.
    pub path: PathBuf,
}

/// The folder is refused, with all that is in it.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// It cannot be read.
    #[error("plugins {path} cannot be read: {cause}", path = .path.display())]
    Read {
        /// The folder, or one above it.
        path: PathBuf,
        /// What the system said.
        cause: io::Error,
    },
    /// Somebody else than root could put plugins there.
    #[error("plugins {path} are refused: {cause}; remedy: chown root {path} && chmod go-w {path}", path = .path.display())]
    Refused {
        /// The folder, or one above it.
        path: PathBuf,
        /// Why.
        cause: String,
    },
}

/// What is in the folder.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// By name.
    pub plugins: Vec<Plugin>,
    /// Names of all that are there and could be plugins, refused ones too.
    pub there: BTreeSet<String>,
    /// What is refused: its name, and why with the remedy.
    pub refused: Vec<(String, String)>,
}

/// Looks into `folder`. `owner` is the user whom everything has to belong to: 0, for root.
///
/// # Errors
///
/// [`FolderError`]: then nothing in it is run.
pub fn find(folder: &Path, owner: u32) -> Result<Found, FolderError> {
    let folder = check_folder(folder, owner)?;
    let failed = |cause| FolderError::Read {
        path: folder.clone(),
        cause,
    };
    let mut names = Vec::new();
    for entry in fs::read_dir(&folder).map_err(failed)? {
        let name = entry.map_err(failed)?.file_name();
        // Hidden files are those of editors and package managers.
        if !name.as_encoded_bytes().starts_with(b".") {
            names.push(name);
        }
    }
    names.sort();
    let mut found = Found::default();
    for name in names {
        found.there.extend(
            name.to_str()
                .filter(|name| is_name(name))
                .map(str::to_owned),
        );
        let shown = gtrace_api::text::clean(&name.to_string_lossy());
        let path = folder.join(&name);
        let refused = match (
            name.to_str().filter(|name| is_name(name)),
            check_file(&path, owner),
        ) {
            (None, _) => Some(format!(
                "its name has to have 1 to {NAME_MAX} letters, digits, `-`, `_` or `.`: rename it"
            )),
            (_, Err(why)) => Some(why),
            (Some(_), Ok(())) if found.plugins.len() >= PLUGINS_MAX => Some(format!(
                "there are more than {PLUGINS_MAX} plugins: join some"
            )),
            (Some(name), Ok(())) => {
                let name = name.to_owned();
                found.plugins.push(Plugin { name, path });
                None
            }
        };
        // Names of others are of no length that can be relied on.
        if let Some(why) = refused
            && found.refused.len() < PLUGINS_MAX
        {
            found
                .refused
                .push((shown.chars().take(NAME_MAX).collect(), why));
        }
    }
    Ok(found)
}

fn is_name(name: &str) -> bool {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"-_.".contains(&b);
    (1..=NAME_MAX).contains(&name.len()) && name.bytes().all(plain)
}

/// The folder's real path, after a check of it, of all above it, and of the links on the way with all above them: who can rename
/// one of them, or put another link in the place of one, can put other plugins there.
fn check_folder(folder: &Path, owner: u32) -> Result<PathBuf, FolderError> {
    let read = |path: &Path| {
        fs::symlink_metadata(path).map_err(|cause| FolderError::Read {
            path: path.to_owned(),
            cause,
        })
    };
    let refuse = |path: &Path, cause: String| FolderError::Refused {
        path: path.to_owned(),
        cause,
    };
    if !folder.is_absolute() {
        return Err(refuse(folder, "the path is not absolute".to_owned()));
    }
    let itself = read(folder)?;
    if !itself.is_dir() {
        return Err(refuse(folder, "it is no directory".to_owned()));
    }
    if let Some(why) = of_another(&itself, owner) {
        return Err(refuse(folder, why));
    }
    let mut real = PathBuf::from("/");
    let mut left: Vec<OsString> = parts(folder);
    let mut links = 0;
    while let Some(part) = left.pop() {
        if let Some(why) = others_can_change(&read(&real)?, owner) {
            return Err(refuse(&real, why));
        }
        if part == ".." {
            real.pop();
            continue;
        }
        let next = real.join(&part);
        let metadata = read(&next)?;
        if !metadata.is_symlink() {
            real = next;
            continue;
        }
        links += 1;
        if links > LINKS_MAX {
            return Err(refuse(&next, "there are too many links".to_owned()));
        }
        // In a folder that all can write to, such as /tmp, it may be anybody's.
        if let Some(why) = untrusted(&metadata, owner) {
            return Err(refuse(&next, why));
        }
        let to = fs::read_link(&next).map_err(|cause| FolderError::Read { path: next, cause })?;
        if to.is_absolute() {
            real = PathBuf::from("/");
        }
        left.extend(parts(&to));
    }
    // What has just been checked, should the folder have been replaced meanwhile.
    match of_another(&read(&real)?, owner) {
        Some(why) => Err(refuse(&real, why)),
        None => Ok(real),
    }
}

/// The names in a path, the last one first.
fn parts(path: &Path) -> Vec<OsString> {
    let parts = path.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some("..".into()),
        Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
    });
    let mut parts: Vec<OsString> = parts.collect();
    parts.reverse();
    parts
}

/// Why it does not count as put there by root.
fn untrusted(metadata: &Metadata, owner: u32) -> Option<String> {
    let uid = metadata.uid();
    (uid != 0 && uid != owner).then(|| format!("it belongs to the user {uid}"))
}

/// Why what is in a folder can be another's, though it belongs to `owner`.
fn others_can_change(folder: &Metadata, owner: u32) -> Option<String> {
    let sticky = folder.mode() & STICKY != 0 && folder.uid() == 0;
    let writable = folder.mode() & WRITABLE_BY_OTHERS != 0 && !sticky;
    untrusted(folder, owner)
        .or_else(|| writable.then(|| "others than its owner can write to it".to_owned()))
}

fn of_another(metadata: &Metadata, owner: u32) -> Option<String> {
    if metadata.uid() != owner {
        let who = if owner == 0 {
            "root".to_owned()
        } else {
            format!("the user {owner}")
        };
        return Some(format!(
            "it belongs to the user {}, not to {who}",
            metadata.uid()
        ));
    }
    let mode = metadata.mode() & 0o7777;
    (mode & WRITABLE_BY_OTHERS != 0)
        .then(|| format!("others than its owner can write to it (mode {mode:04o})"))
}

fn check_file(path: &Path, owner: u32) -> Result<(), String> {
    let metadata = fs::symlink_metadata(path).map_err(|error| error.to_string())?;
    if !metadata.is_file() {
        return Err(
            "it is no ordinary file: links are not followed, put the file itself here".to_owned(),
        );
    }
    if let Some(why) = of_another(&metadata, owner) {
        return Err(format!("{why}: chown root and chmod go-w"));
    }
    match metadata.mode() & 0o100 {
        0 => {
            Err("its owner may not execute it: chmod u+x, or move it to another folder".to_owned())
        }
        _ => Ok(()),
    }
}
