//! The socket at which `gtrace serve` of this host reports its state, and whom its workers serve.

use std::collections::BTreeMap;
use std::io::{self, Read as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::net::sockopt::{self, Timeout};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType};
use serde::Deserialize;

/// Longest state that is read, bytes.
const STATE_MAX: usize = 16 << 20;
/// How long the server has for the whole answer.
const DEADLINE: Duration = Duration::from_secs(2);
/// Characters that are kept of what a client says of itself.
const WORDS_MAX: usize = 64;

/// Name of the socket in its folder.
const NAME: &str = "serve-status.sock";

/// Folders of the system's server: started by hand, or as the unit gtrace-serve.service.
const FOLDERS: [&str; 2] = ["/run/gtrace", "/run/gtrace-serve"];

/// The socket to ask: `GTRACE_SERVE_STATUS`, unless it is set to nothing, else the first that is there.
pub fn to_ask() -> PathBuf {
    let named = std::env::var_os("GTRACE_SERVE_STATUS").filter(|path| !path.is_empty());
    if let Some(path) = named {
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

/// Of the server's state, what says whom its workers serve.
#[derive(Deserialize)]
struct State {
    sessions: Vec<Session>,
}

#[derive(Deserialize)]
struct Session {
    worker: u32,
    client: Option<Client>,
}

#[derive(Deserialize)]
struct Client {
    host: String,
    pid: u32,
    program: String,
}

/// The clients that the server at `socket` serves, by the process of their worker: `HOST: PROGRAM (PID)`.
///
/// # Errors
///
/// The system's: nobody listens there, no answer in time; `InvalidData` for an answer that is none.
pub fn clients(socket: &Path) -> io::Result<BTreeMap<u32, String>> {
    let state: State = serde_json::from_slice(&ask(socket, DEADLINE)?)?;
    let clients = state.sessions.into_iter().filter_map(|session| {
        let Client { host, pid, program } = session.client?;
        let client = format!("{}: {} ({pid})", short(&host), short(&program));
        Some((session.worker, client))
    });
    Ok(clients.collect())
}

/// What the server at `socket` says until it closes, all of it before `deadline` has passed.
fn ask(socket: &Path, deadline: Duration) -> io::Result<Vec<u8>> {
    let until = Instant::now() + deadline;
    let left = || match until.saturating_duration_since(Instant::now()) {
        Duration::ZERO => Err(io::Error::from(io::ErrorKind::TimedOut)),
        left => Ok(Some(left)),
    };
    let (family, kind) = (AddressFamily::UNIX, SocketType::STREAM);
    let stream = rustix::net::socket_with(family, kind, SocketFlags::CLOEXEC, None)?;
    // The time for sending is that for a place in the listener's queue, too: see unix_stream_connect() of Linux.
    sockopt::set_socket_timeout(&stream, Timeout::Send, left()?)?;
    rustix::net::connect(&stream, &SocketAddrUnix::new(socket)?)?;
    let mut stream = UnixStream::from(stream);
    let (mut text, mut piece) = (Vec::new(), [0; 16 << 10]);
    loop {
        stream.set_read_timeout(left()?)?;
        match stream.read(&mut piece) {
            Ok(0) => return Ok(text),
            Ok(read) => text.extend_from_slice(&piece[..read]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
        if text.len() > STATE_MAX {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "the state is too long",
            ));
        }
    }
}

/// The beginning of a text of somebody else's, without control characters.
fn short(text: &str) -> String {
    let printable = text.chars().filter(|c| !c.is_control());
    printable.take(WORDS_MAX).collect()
}

fn candidates() -> impl Iterator<Item = PathBuf> {
    let user = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    FOLDERS
        .into_iter()
        .map(PathBuf::from)
        // A relative one counts as none (XDG Base Directory Specification).
        .chain(user.filter(|folder| folder.is_absolute()))
        .map(|folder| folder.join(NAME))
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::os::unix::net::UnixListener;

    use super::*;

    #[test]
    fn a_server_that_never_comes_to_an_end_is_given_up() {
        let dir = tempfile::tempdir().unwrap();
        let deadline = Duration::from_millis(50);
        let timed_out = |error: io::Error| {
            matches!(
                error.kind(),
                io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut
            )
        };
        let socket = dir.path().join("trickles.sock");
        let listener = UnixListener::bind(&socket).unwrap();
        let trickle = move || {
            let mut stream = listener.accept().unwrap().0;
            while stream.write_all(b" ").is_ok() {
                std::thread::sleep(Duration::from_millis(1));
            }
        };
        std::thread::scope(|threads| {
            threads.spawn(trickle);
            assert!(timed_out(ask(&socket, deadline).unwrap_err()));
        });
        // Nobody accepts, and its queue is full.
        let socket = dir.path().join("full.sock");
        let (family, kind) = (AddressFamily::UNIX, SocketType::STREAM);
        let listener = rustix::net::socket(family, kind, None).unwrap();
        rustix::net::bind(&listener, &SocketAddrUnix::new(&socket).unwrap()).unwrap();
        rustix::net::listen(&listener, 0).unwrap();
        let _waiting = UnixStream::connect(&socket).unwrap();
        assert!(timed_out(ask(&socket, deadline).unwrap_err()));
    }

    #[test]
    fn clients_are_named_by_their_worker_and_their_words_are_cut() {
        let dir = tempfile::tempdir().unwrap();
        let socket = dir.path().join("status.sock");
        assert!(clients(&socket).is_err());
        let listener = UnixListener::bind(&socket).unwrap();
        let state = serde_json::json!({ "pid": 1, "sessions": [
            { "worker": 7, "client": { "host": "lab\u{1b}[31m", "pid": 9, "program": "x".repeat(1000), "peer": "10.0.0.2:40000" } },
            { "worker": 8, "client": null },
        ] });
        for text in [state.to_string(), "no JSON".to_owned()] {
            let answers = std::thread::scope(|threads| {
                threads.spawn(|| listener.accept().unwrap().0.write_all(text.as_bytes()));
                clients(&socket)
            });
            match answers {
                Ok(clients) => {
                    let words = format!("lab[31m: {} (9)", "x".repeat(WORDS_MAX));
                    assert_eq!(clients, [(7, words)].into());
                }
                Err(error) => {
                    assert_eq!(text, "no JSON");
                    assert_eq!(error.kind(), io::ErrorKind::InvalidData);
                }
            }
        }
    }
}
