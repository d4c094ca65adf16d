//! What a worker gives up before it reads a byte of its client.
//!
//! A worker executes what a stranger sends, on a driver whose faults nobody here can mend. So it is to hold nothing that is
//! worth taking over: it has a user of its own where the server may give it one, no capabilities, sees the files that the
//! driver needs ([`files`]), and makes the system calls that a driver makes ([`calls`]). What a host does not allow is
//! reported, in the server's log and status, and never passed over.

mod calls;
mod files;
mod identity;

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::str::FromStr;

use rustix::process::{DumpableBehavior, Resource, Rlimit};
use serde::{Deserialize, Serialize};

pub use identity::{UserError, Users};

/// Whether workers are confined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SandboxMode {
    /// As far as this host allows; what is not in force is reported.
    #[default]
    On,
    /// In full, or the server does not start.
    Required,
    /// Not at all: a client that takes its worker over has what the server's user has.
    Off,
}

impl FromStr for SandboxMode {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "on" => Ok(Self::On),
            "required" => Ok(Self::Required),
            "off" => Ok(Self::Off),
            _ => Err(format!("`{text}` is none of on, required and off")),
        }
    }
}

impl fmt::Display for SandboxMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::On => "on",
            Self::Required => "required",
            Self::Off => "off",
        })
    }
}

/// A part of the confinement.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Layer {
    /// `user`, `privileges`, `files`, `system_calls` or `cgroup`.
    pub name: String,
    /// Whether all of it is in force.
    pub active: bool,
    /// What is, or why it is not and what would help.
    pub note: String,
}

impl Layer {
    pub(crate) fn active(name: &str, note: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            active: true,
            note: note.into(),
        }
    }

    pub(crate) fn missing(name: &str, note: impl Into<String>) -> Self {
        Self {
            active: false,
            ..Self::active(name, note)
        }
    }
}

/// The order of the supervisor to a worker.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Confinement {
    /// The user and group to become, or why the server has none to give.
    pub(crate) user: Result<(u32, u32), String>,
    /// RDMA may be used.
    pub(crate) rdma: bool,
    /// Folders that may be read besides those of every driver: those of its libraries.
    pub(crate) folders: Vec<PathBuf>,
    /// The folder of NVIDIA's Multi-Process Service, which is reached by sockets and pipes, if it is used.
    pub(crate) mps: Option<PathBuf>,
}

/// This process is killed when the thread ends that started it. A change of user takes that back.
pub(crate) fn end_with_parent() -> io::Result<()> {
    let signal = Some(rustix::process::Signal::KILL);
    Ok(rustix::process::set_parent_process_death_signal(signal)?)
}

/// Keeps other processes of this user out of the supervisor's, which has the private key and the tokens: they can neither
/// trace it nor read its memory, and it leaves no core file.
pub fn protect_process() -> io::Result<()> {
    let none = DumpableBehavior::NotDumpable;
    Ok(rustix::process::set_dumpable_behavior(none)?)
}

/// Confines this process for good, which must have but one thread. What it may open later is decided here.
///
/// # Errors
///
/// A part that is to be in force and could not be: the process must not go on then.
pub(crate) fn enter(confinement: &Confinement) -> io::Result<Vec<Layer>> {
    let failed = |what: &str, error: io::Error| io::Error::other(format!("{what}: {error}"));
    let none = Rlimit {
        current: Some(0),
        maximum: Some(0),
    };
    // A core file would have the client's data, in a folder of the server.
    rustix::process::setrlimit(Resource::Core, none)
        .map_err(|e| failed("no core files", e.into()))?;
    files::hold();
    let rules = files::rules(confinement);
    let user = identity::become_user(&confinement.user)?;
    end_with_parent()?;
    rustix::thread::set_no_new_privs(true).map_err(|e| failed("no new privileges", e.into()))?;
    let (files, landlock) = files::restrict(rules);
    // NVIDIA's driver writes the names of its threads to /proc, whose files are root's where a process is not dumpable. So
    // it is where other workers have another user, or are kept out of /proc by Landlock: they can neither trace this one
    // then nor read its memory. After the change of user, which resets it.
    let dumpable = match user.active || landlock {
        true => DumpableBehavior::Dumpable,
        false => DumpableBehavior::NotDumpable,
    };
    rustix::process::set_dumpable_behavior(dumpable).map_err(|e| failed("dumpable", e.into()))?;
    let privileges = Layer::active(
        "privileges",
        "no capabilities, none to be had, no core files",
    );
    let calls = calls::restrict(confinement).map_err(|e| failed("system calls", e))?;
    Ok(vec![user, privileges, files, calls])
}
