use std::net::{SocketAddr, TcpListener};
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fs, io};

use gtrace_api::SocketFile;
use gtrace_engine::config::{Compat, ReadAddress};
use gtrace_tls::{AccessFiles, FileError, Guard};

use super::inherit::Inherited;
use super::{Limits, holder, https};

/// Where the API listens and which store it reads.
#[derive(Clone, Debug, Default)]
pub struct ApiConfig {
    /// Path of the Unix socket; `None` for no Unix socket.
    pub socket: Option<PathBuf>,
    /// TCP address for reading; `None` for no TCP.
    pub listen: Option<ReadAddress>,
    /// Addresses for other hosts, over TLS.
    pub listen_https: Vec<SocketAddr>,
    /// Certificate and credentials for these.
    pub access: Option<AccessFiles>,
    /// The store's path, as [`gtrace_store::Reader::open`] takes it.
    pub store: PathBuf,
    /// What clients may cost.
    pub limits: Limits,
    /// As which other programs it answers too.
    pub compat: Compat,
}

/// Why the API cannot listen.
#[derive(Debug, thiserror::Error)]
pub enum ApiError {
    /// Another process listens on the TCP address.
    #[error("cannot listen on {address}: {cause}{}; stop it, or choose another address with --listen", held_by(.holder))]
    Tcp {
        /// The address.
        address: SocketAddr,
        /// The system's error.
        cause: io::Error,
        /// The process that has it, where /proc shows that.
        holder: Option<String>,
    },
    /// There is no certificate for a socket that speaks TLS.
    #[error("an https listener needs a certificate: set tls_cert, tls_key and credentials")]
    NoCertificate,
    /// Certificate or credentials cannot be used.
    #[error("https cannot be served: {file}{}", remedy(.file))]
    Access {
        /// What is wrong with which file. No source: the message has it, and would be printed with it twice.
        file: FileError,
    },
    /// A running daemon answers on the Unix socket.
    #[error("the socket {} is in use{}; stop that gtrace first, or choose another path with --socket", .path.display(), held_by(.holder))]
    SocketHeld {
        /// The socket's path.
        path: PathBuf,
        /// The process that has it, where /proc shows that.
        holder: Option<String>,
    },
    /// The Unix socket cannot be made.
    #[error("cannot make the socket {}: {cause}; {remedy}", .path.display())]
    Socket {
        /// The socket's path.
        path: PathBuf,
        /// The system's error.
        cause: io::Error,
        /// What to do.
        remedy: &'static str,
    },
}

impl From<FileError> for ApiError {
    fn from(file: FileError) -> Self {
        Self::Access { file }
    }
}

fn held_by(holder: &Option<String>) -> String {
    holder
        .as_ref()
        .map(|h| format!(", held by {h}"))
        .unwrap_or_default()
}

fn remedy(error: &FileError) -> &'static str {
    match error {
        FileError::Read { cause, .. } if cause.kind() == io::ErrorKind::NotFound => {
            "; the keys tls_cert, tls_key and credentials name the files, and `gtrace token new` makes the last"
        }
        _ => "",
    }
}

/// The sockets that the API listens on. The Unix socket's file goes when this is dropped.
#[derive(Debug)]
pub struct Bound {
    pub(super) unix: Option<UnixListener>,
    pub(super) tcp: Option<TcpListener>,
    pub(super) https: Vec<TcpListener>,
    pub(super) guard: Option<Arc<Guard>>,
    pub(super) file: Option<SocketFile>,
    pub(super) socket: Option<PathBuf>,
    pub(super) store: PathBuf,
    pub(super) limits: Limits,
    pub(super) compat: Compat,
}

impl Bound {
    /// The TCP address, with the port that the system chose where the configuration has port 0.
    pub fn tcp_addr(&self) -> Option<SocketAddr> {
        self.tcp.as_ref()?.local_addr().ok()
    }

    /// The addresses for other hosts.
    pub fn https_addrs(&self) -> impl Iterator<Item = SocketAddr> {
        self.https
            .iter()
            .filter_map(|https| https.local_addr().ok())
    }

    /// The same sockets for another server; the Unix socket's file stays with this one.
    ///
    /// # Errors
    ///
    /// If there is no descriptor left for one.
    pub fn try_clone(&self) -> io::Result<Self> {
        Ok(Self {
            unix: self
                .unix
                .as_ref()
                .map(UnixListener::try_clone)
                .transpose()?,
            tcp: self.tcp.as_ref().map(TcpListener::try_clone).transpose()?,
            https: self
                .https
                .iter()
                .map(TcpListener::try_clone)
                .collect::<Result<_, _>>()?,
            guard: self.guard.clone(),
            file: None,
            socket: self.socket.clone(),
            store: self.store.clone(),
            limits: self.limits,
            compat: self.compat,
        })
    }

    /// Removes the Unix socket's file before this is dropped: a server that still runs may hold it.
    pub fn remove_socket_file(&self) {
        if let Some(file) = &self.file {
            file.remove();
        }
    }

    /// The Unix socket's path.
    pub fn socket(&self) -> Option<&Path> {
        self.socket.as_deref()
    }
}

/// Binds every configured socket.
///
/// # Errors
///
/// The first socket that cannot be had, with the process that holds it where that can be seen.
pub fn bind(config: &ApiConfig) -> Result<Bound, ApiError> {
    bind_beside(config, Inherited::default())
}

/// As [`bind`], beside sockets that are there: each goes before what the configuration says of its kind.
pub fn bind_beside(config: &ApiConfig, inherited: Inherited) -> Result<Bound, ApiError> {
    let mut socket = config.socket.clone();
    let (unix, file) = match (inherited.unix, &config.socket) {
        // Its file is systemd's.
        (Some((listener, path)), _) => {
            socket = path;
            (Some(listener), None)
        }
        (None, Some(path)) => {
            let (listener, file) = bind_unix(path)?;
            (Some(listener), Some(file))
        }
        (None, None) => (None, None),
    };
    let tcp = match inherited.tcp {
        Some(listener) => Some(listener),
        None => config.listen.map(|a| bind_tcp(a.into())).transpose()?,
    };
    let https = match inherited.https.is_empty() {
        false => inherited.https,
        true => {
            let bound = config.listen_https.iter().copied().map(bind_tcp);
            bound.collect::<Result<_, _>>()?
        }
    };
    let guard = match (&config.access, https.is_empty()) {
        (_, true) => None,
        (None, false) => return Err(ApiError::NoCertificate),
        (Some(files), false) => Some(Arc::new(read_access(files)?)),
    };
    Ok(Bound {
        unix,
        tcp,
        https,
        guard,
        file,
        socket,
        store: config.store.clone(),
        limits: config.limits,
        compat: config.compat,
    })
}

/// Whether https can be served with `files`, without binding a socket.
///
/// # Errors
///
/// [`ApiError::Access`] with the file that cannot be used, as [`bind`].
pub fn check_access(files: &AccessFiles) -> Result<(), ApiError> {
    read_access(files).map(drop)
}

fn read_access(files: &AccessFiles) -> Result<Guard, ApiError> {
    Ok(Guard::new(files.clone(), https::ALPN)?)
}

fn bind_tcp(address: SocketAddr) -> Result<TcpListener, ApiError> {
    let failed = |cause: io::Error| {
        let in_use = cause.kind() == io::ErrorKind::AddrInUse;
        let holder = in_use.then(|| holder::of_tcp_port(address)).flatten();
        ApiError::Tcp {
            address,
            cause,
            holder,
        }
    };
    let listener = TcpListener::bind(address).map_err(failed)?;
    listener.set_nonblocking(true).map_err(failed)?;
    Ok(listener)
}

fn bind_unix(path: &Path) -> Result<(UnixListener, SocketFile), ApiError> {
    let failed = |cause: io::Error| {
        let remedy = match cause.kind() {
            io::ErrorKind::PermissionDenied => "run as root, or choose another path with --socket",
            io::ErrorKind::AlreadyExists => {
                "something that is no socket is in the way: remove it, or choose another path with --socket"
            }
            _ => "choose another path with --socket",
        };
        ApiError::Socket {
            path: path.to_owned(),
            cause,
            remedy,
        }
    };
    if let Some(parent) = path.parent().filter(|p| !p.as_os_str().is_empty()) {
        fs::create_dir_all(parent).map_err(failed)?;
    }
    clear_stale(path, failed)?;
    let listener = match UnixListener::bind(path) {
        // A second instance was faster between the check and here.
        Err(e) if e.kind() == io::ErrorKind::AddrInUse => {
            return Err(ApiError::SocketHeld {
                path: path.to_owned(),
                holder: holder::of_unix_path(path),
            });
        }
        other => other.map_err(failed)?,
    };
    let file = SocketFile::new(path).map_err(failed)?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o660)).map_err(failed)?;
    listener.set_nonblocking(true).map_err(failed)?;
    Ok((listener, file))
}

/// Removes the socket file that a dead daemon left behind.
fn clear_stale(path: &Path, failed: impl Fn(io::Error) -> ApiError) -> Result<(), ApiError> {
    match fs::symlink_metadata(path) {
        Ok(metadata) if !metadata.file_type().is_socket() => {
            return Err(failed(io::ErrorKind::AlreadyExists.into()));
        }
        Ok(_) => {}
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(e) => return Err(failed(e)),
    }
    match UnixStream::connect(path) {
        // The socket of a process that has gone refuses connections.
        Err(e) if e.kind() == io::ErrorKind::ConnectionRefused => {
            fs::remove_file(path).map_err(failed)
        }
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(e) if e.kind() == io::ErrorKind::PermissionDenied => Err(failed(e)),
        _ => Err(ApiError::SocketHeld {
            path: path.to_owned(),
            holder: holder::of_unix_path(path),
        }),
    }
}
