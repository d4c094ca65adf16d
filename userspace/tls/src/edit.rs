//! Changes the tokens of a file of credentials, and keeps all else in it.

use std::fmt;
use std::fs;
use std::io::{self, Write as _};
use std::num::NonZeroU32;
use std::os::unix::fs::{
    DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _, fchown,
};
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jiff::Timestamp;
use toml_edit::{ArrayOfTables, DocumentMut, Item, Table, value};

use super::credentials::{self, Credentials, ENTRIES_MAX, GpuShare, Role, TokenEntry, hash, hex};
use super::pem::Contents;
use super::{DEFAULT_CREDENTIALS, FileError};

/// What every token begins with, so that tools that look for secrets find it.
const PREFIX: &str = "gtrace_";
/// Random bytes of a token.
const SECRET_BYTES: usize = 32;

/// The first lines of a new file.
const HEAD: &str = "\
# Who may use the listeners of gtrace that other hosts reach. gtrace reads this file again when it changes.
# `gtrace token new|list|revoke` changes the tokens. A certificate is listed by hand:
#
# [[certificate]]
# name = \"ops\"
# role = \"operate\"              # or read
# subject = \"CN=ops, O=Example\" # or fingerprint = \"SHA-256\"
";

/// A token that is to be made.
#[derive(Clone, Debug)]
pub struct NewToken {
    /// Its name in logs and metrics.
    pub name: String,
    /// What it may do.
    pub role: Role,
    /// Until when; `None` for ever.
    pub expires: Option<Timestamp>,
    /// How often its holder may ask; `None`: the listener's own limit holds.
    pub requests_per_minute: Option<NonZeroU32>,
    /// What `gtrace serve` gives to its holder.
    pub gpu: GpuShare,
    /// Hosts of a fleet that its holder may see, at the fleet's head; all without one.
    pub hosts: Vec<String>,
}

impl NewToken {
    /// One for ever and of all there is, with the listener's own limits.
    pub fn new(name: impl Into<String>, role: Role) -> Self {
        Self {
            name: name.into(),
            role,
            expires: None,
            requests_per_minute: None,
            gpu: GpuShare::default(),
            hosts: Vec::new(),
        }
    }
}

/// The secret of a new token: this is the only time that anybody sees it.
pub struct Secret(String);

impl Secret {
    /// The secret itself.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

/// The tokens of the file at `path`, in its order.
///
/// # Errors
///
/// [`FileError`] with the file's name.
pub fn list_tokens(path: &Path) -> Result<Vec<TokenEntry>, FileError> {
    let contents = Contents::read(path, false)?;
    let text = text(&contents)?;
    credentials::tokens(text).map_err(|reason| contents.refused(reason))
}

/// Adds a token to the file at `path`, which is made if there is none, and returns its secret.
///
/// # Errors
///
/// [`FileError`] with the file's name, also where there is a token of that name.
pub fn new_token(path: &Path, token: &NewToken, now: Timestamp) -> Result<Secret, FileError> {
    let mut random = [0; SECRET_BYTES];
    let secret = match getrandom::fill(&mut random) {
        Ok(()) => format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(random)),
        Err(error) => {
            return Err(FileError::Write {
                path: path.to_owned(),
                cause: io::Error::other(format!("the system gives no random bytes: {error}")),
            });
        }
    };
    // The folder of a file that was named is there, or the name has a mistake.
    if path == Path::new(DEFAULT_CREDENTIALS) {
        make_folder(path)?;
    }
    change(path, |document| {
        credentials::check_name(&token.name)?;
        let hosts = Some(token.hosts.as_slice()).filter(|hosts| !hosts.is_empty());
        credentials::check_hosts(hosts)?;
        let tables = document
            .entry("token")
            .or_insert_with(|| Item::ArrayOfTables(ArrayOfTables::new()))
            .as_array_of_tables_mut()
            .ok_or("`token` must be a list of tables: [[token]]")?;
        if tables.iter().any(|table| is_called(table, &token.name)) {
            return Err(format!(
                "there is a token {} already; revoke and remove it, or choose another name",
                token.name
            ));
        }
        if tables.len() >= ENTRIES_MAX {
            return Err(format!("there are {ENTRIES_MAX} tokens; remove some"));
        }
        let mut table = Table::new();
        table.insert("name", value(token.name.as_str()));
        table.insert("role", value(token.role.to_string()));
        table.insert("sha256", value(hex(&hash(&secret))));
        table.insert("created", value(seconds(now)));
        if let Some(at) = token.expires {
            table.insert("expires", value(seconds(at)));
        }
        if let Some(rate) = token.requests_per_minute {
            table.insert("requests_per_minute", value(i64::from(rate.get())));
        }
        let mut gpu = toml_edit::InlineTable::new();
        if let Some(clients) = token.gpu.max_clients {
            gpu.insert("max_clients", i64::from(clients.get()).into());
        }
        if let Some(memory) = &token.gpu.max_memory {
            gpu.insert("max_memory", memory.as_str().into());
        }
        if let Some(gpus) = &token.gpu.gpus {
            gpu.insert("gpus", gpus.as_str().into());
        }
        if !gpu.is_empty() {
            table.insert("gpu", value(gpu));
        }
        if !token.hosts.is_empty() {
            let hosts = token.hosts.iter().map(String::as_str);
            table.insert("hosts", value(hosts.collect::<toml_edit::Array>()));
        }
        tables.push(table);
        Ok(())
    })?;
    Ok(Secret(secret))
}

/// Marks the token `name` as revoked: it stays in the file, so that the log can say what was shown.
///
/// # Errors
///
/// [`FileError`] with the file's name, also where there is no such token.
pub fn revoke_token(path: &Path, name: &str, now: Timestamp) -> Result<(), FileError> {
    if path.try_exists().is_ok_and(|exists| !exists) {
        return Err(FileError::Content {
            path: path.to_owned(),
            reason: format!("there is no token {name}, as there is no such file"),
        });
    }
    change(path, |document| {
        let table = document
            .get_mut("token")
            .and_then(Item::as_array_of_tables_mut)
            .and_then(|tables| tables.iter_mut().find(|table| is_called(table, name)))
            .ok_or_else(|| format!("there is no token {name}; `gtrace token list` lists all"))?;
        if table.contains_key("revoked") {
            return Err(format!("the token {name} is revoked already"));
        }
        table.insert("revoked", value(seconds(now)));
        Ok(())
    })
}

fn is_called(table: &Table, name: &str) -> bool {
    table.get("name").and_then(Item::as_str) == Some(name)
}

/// `at` without a fraction: people read it.
fn seconds(at: Timestamp) -> String {
    Timestamp::from_second(at.as_second())
        .unwrap_or(at)
        .to_string()
}

fn text(contents: &Contents) -> Result<&str, FileError> {
    std::str::from_utf8(&contents.bytes).map_err(|_| contents.refused("it is not UTF-8"))
}

/// The folder of the file at `path`, as packages make it for `/etc/gtrace`.
fn make_folder(path: &Path) -> Result<(), FileError> {
    let Some(folder) = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
    else {
        return Ok(());
    };
    let made = fs::DirBuilder::new()
        .recursive(true)
        .mode(0o755)
        .create(folder);
    made.map_err(|cause| FileError::Write {
        path: folder.to_owned(),
        cause,
    })
}

/// Replaces the file at `path` at once by what `edit` makes of it. Two that change it take turns.
fn change(
    path: &Path,
    edit: impl FnOnce(&mut DocumentMut) -> Result<(), String>,
) -> Result<(), FileError> {
    // Where the name is a link, the file that it leads to is replaced.
    let path = &fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let failed = |cause: io::Error| FileError::Write {
        path: path.clone(),
        cause,
    };
    let directory = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    };
    // Nobody else may open it: whoever can open a file can lock it for ever, and a folder like /etc/gtrace is open to all users.
    let mut name = std::ffi::OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(".lock");
    let lock = lock_file(&directory, &directory.join(name)).map_err(failed)?;
    lock.lock().map_err(failed)?;
    let (contents, owner) = match fs::metadata(path) {
        Ok(metadata) => (Contents::read(path, false)?, Some(metadata)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let head = Contents {
                path: path.clone(),
                bytes: HEAD.into(),
            };
            (head, None)
        }
        Err(cause) => return Err(failed(cause)),
    };
    let refused = |reason: String| contents.refused(reason);
    let before = text(&contents)?;
    Credentials::parse(before).map_err(refused)?;
    let mut document: DocumentMut = before
        .parse()
        .map_err(|error: toml_edit::TomlError| refused(error.to_string()))?;
    edit(&mut document).map_err(refused)?;
    let mut after = document.to_string();
    if owner.is_none() {
        // A document of comments alone has them at its end.
        after = format!("{HEAD}\n{}", after.replacen(HEAD, "", 1).trim_start());
    }
    Credentials::parse(&after).map_err(refused)?;
    let mut new = tempfile::Builder::new()
        .prefix(".credentials")
        .tempfile_in(&directory)
        .map_err(failed)?;
    let mode = owner
        .as_ref()
        .map_or(0o640, |m| m.permissions().mode() & 0o777);
    new.write_all(after.as_bytes()).map_err(failed)?;
    new.as_file()
        .set_permissions(fs::Permissions::from_mode(mode))
        .map_err(failed)?;
    if let Some(owner) = owner {
        // Only root can give it back to another owner; for all others it is their own already.
        let _ = fchown(new.as_file(), Some(owner.uid()), Some(owner.gid()));
    }
    new.as_file().sync_all().map_err(failed)?;
    new.persist(path).map_err(|error| failed(error.error))?;
    let synced = fs::File::open(&directory).and_then(|folder| folder.sync_all());
    synced.map_err(failed)
}

/// The file `name` of `folder`, made where it is not there: for those who may change files of the folder, whoever comes first.
fn lock_file(folder: &Path, name: &Path) -> io::Result<fs::File> {
    let mut options = fs::File::options();
    let made = options.write(true).create_new(true).mode(0o600).open(name);
    let lock = match made {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            return options.create_new(false).open(name);
        }
        made => made?,
    };
    let folder = fs::metadata(folder)?;
    // Who is not root can be of another group than the folder: nobody else of that takes the lock then.
    if fchown(&lock, None, Some(folder.gid())).is_ok() {
        let mode = 0o600 | (folder.mode() & 0o020);
        lock.set_permissions(fs::Permissions::from_mode(mode))?;
    }
    // Only root can give it to another user.
    let _ = fchown(&lock, Some(folder.uid()), None);
    Ok(lock)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token(name: &str) -> NewToken {
        NewToken {
            name: name.into(),
            role: Role::Read,
            expires: None,
            requests_per_minute: NonZeroU32::new(600),
            gpu: GpuShare {
                max_clients: NonZeroU32::new(2),
                max_memory: Some("8G".into()),
                gpus: None,
            },
            hosts: Vec::new(),
        }
    }

    #[test]
    fn tokens_are_made_listed_and_revoked_and_all_else_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("gtrace/credentials.toml");
        let now: Timestamp = "2026-03-03T00:00:00.5Z".parse().unwrap();
        let error = revoke_token(&path, "prometheus", now).unwrap_err();
        assert!(error.to_string().contains("no token prometheus"), "{error}");
        assert!(new_token(&path, &token("prometheus"), now).is_err());
        make_folder(&path).unwrap();
        let secret = new_token(&path, &token("prometheus"), now).unwrap();
        let read = || fs::read_to_string(&path).unwrap();
        assert!(read().starts_with(HEAD), "{}", read());
        assert!(!read().contains(secret.expose()), "the file has the secret");
        let mode = fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o640);
        let known = Credentials::parse(&read()).unwrap();
        let holder = known.by_token(secret.expose(), now).unwrap();
        assert_eq!(holder.gpu.memory(), Some(8 << 30));

        // One for hosts of a fleet is good at the fleet's head alone.
        let hosts = vec!["team=ml".to_owned(), "gpu-*".to_owned()];
        let of_fleet = NewToken {
            hosts: hosts.clone(),
            ..token("ml")
        };
        let ml = new_token(&path, &of_fleet, now).unwrap();
        let known = Credentials::parse(&read()).unwrap();
        let denied = known.by_token(ml.expose(), now).unwrap_err();
        assert_eq!(denied.label(), "of_fleet");
        assert!(known.authenticate(Some(ml.expose()), None, now).is_err());
        let proof =
            |hash: &[u8; 32]| (*hash == super::super::credentials::hash(ml.expose())).then_some(());
        assert!(known.by_proof(now, proof).is_err());
        let holder = known
            .authenticate_at_head(Some(ml.expose()), None, now)
            .unwrap();
        assert_eq!(holder.hosts, hosts);
        assert!(known.still_holds(&holder, None, now));
        let wider = Credentials::parse(&read().replace("\"team=ml\", ", "")).unwrap();
        assert!(!wider.still_holds(&holder, None, now));
        let none = read().replace("\"team=ml\", \"gpu-*\"", "");
        let why = Credentials::parse(&none).unwrap_err();
        assert!(why.contains("without the key, all"), "{why}");
        let wrong = NewToken {
            hosts: vec!["=ml".to_owned()],
            ..token("wrong")
        };
        assert!(new_token(&path, &wrong, now).is_err());

        let certificate = "\n[[certificate]] # of the on-call engineers\nname = \"ops\"\nrole = \"operate\"\n\
             subject = \"CN=ops\"\n";
        fs::write(&path, read() + certificate).unwrap();
        let error = new_token(&path, &token("prometheus"), now).unwrap_err();
        assert!(error.to_string().contains("already"), "{error}");
        let second = new_token(&path, &token("grafana"), now).unwrap();
        revoke_token(&path, "prometheus", now).unwrap();
        assert!(read().contains(certificate), "{}", read());
        let entries = list_tokens(&path).unwrap();
        let names: Vec<_> = entries
            .iter()
            .map(|e| (e.name.as_str(), e.revoked.is_some()))
            .collect();
        assert_eq!(
            names,
            [("prometheus", true), ("ml", false), ("grafana", false)]
        );
        assert_eq!(
            entries[0].created.unwrap().to_string(),
            "2026-03-03T00:00:00Z"
        );
        let known = Credentials::parse(&read()).unwrap();
        let denied = known.by_token(secret.expose(), now).unwrap_err();
        assert_eq!(denied.label(), "revoked");
        assert!(known.by_token(second.expose(), now).is_ok());
        for name in ["prometheus", "nobody"] {
            assert!(revoke_token(&path, name, now).is_err());
        }
        // Who has the folder locked, as any user can who may open it, keeps nobody waiting.
        let folder = fs::File::open(path.parent().unwrap()).unwrap();
        folder.lock().unwrap();
        new_token(&path, &token("fourth"), now).unwrap();
        let lock = path.with_file_name(".credentials.toml.lock");
        let mode = fs::metadata(lock).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        // Root may be first in the folder of another user, or somebody in that of a group: who may change its files takes the lock too.
        let place = path.parent().unwrap();
        fs::set_permissions(place, fs::Permissions::from_mode(0o770)).unwrap();
        let _ = std::os::unix::fs::chown(place, Some(4711), Some(4711));
        new_token(&place.join("serve.toml"), &token("alice"), now).unwrap();
        let lock = fs::metadata(place.join(".serve.toml.lock")).unwrap();
        let place = fs::metadata(place).unwrap();
        assert_eq!(lock.mode() & 0o777, 0o620);
        assert_eq!((lock.uid(), lock.gid()), (place.uid(), place.gid()));
        // What somebody broke is reported and left as it is.
        let broken = read() + "[[token";
        fs::write(&path, &broken).unwrap();
        assert!(new_token(&path, &token("third"), now).is_err());
        assert_eq!(read(), broken);
    }
}
