//! System packages: finds out what is missing and, on Debian and its derivatives, installs it.

use std::collections::HashMap;
use std::io::IsTerminal as _;
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use anyhow::{Result, bail};

use crate::os::{self, OsRelease};
use crate::shell::{self, step};

/// How root's rights are had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Privilege {
    /// This process has them.
    Root,
    /// sudo gives them, without a question or after one on the terminal.
    Sudo,
    /// Not at all.
    None,
}

impl Privilege {
    /// Finds out without asking a person anything.
    pub(crate) fn find() -> Self {
        if os::is_root() {
            Self::Root
        } else if shell::in_path("sudo")
            && (std::io::stdin().is_terminal()
                || shell::succeeds(Command::new("sudo").args(["-n", "true"])))
        {
            Self::Sudo
        } else {
            Self::None
        }
    }

    /// A command that runs `program` with these rights; as it is where there are none.
    pub(crate) fn command(self, program: &str) -> Command {
        match self {
            Self::Root | Self::None => Command::new(program),
            Self::Sudo => {
                let mut command = Command::new("sudo");
                command.args(["--", program]);
                command
            }
        }
    }
}

/// Whether packages can be installed here: apt is there, and so are root's rights.
pub(crate) fn can_install() -> bool {
    OsRelease::read().is_debian_like()
        && shell::in_path("apt-get")
        && Privilege::find() != Privilege::None
}

/// Installs those of `packages` that are missing; `why` completes the sentence that says so.
pub(crate) fn ensure(packages: &[&str], why: &str) -> Result<()> {
    let missing = missing(packages);
    if missing.is_empty() {
        return Ok(());
    }
    let list = missing.join(" ");
    let os = OsRelease::read();
    if !os.is_debian_like() || !shell::in_path("apt-get") {
        bail!(
            "{why}, and {} has not what Debian calls {list}: install the same by this system's \
             package manager",
            os.pretty_name
        );
    }
    let privilege = Privilege::find();
    if privilege == Privilege::None {
        bail!(
            "{why}, and {list} is missing: run `apt-get install {list}` as root (this user is not \
             root, and sudo is absent or asks for a password without a terminal)"
        );
    }
    let unknown = unknown_to_apt(&missing, privilege)?;
    if !unknown.is_empty() {
        bail!(
            "{why}, and the package sources of {} do not have {}: add a source that has it, or \
             follow docs/building.md for another way",
            os.pretty_name,
            unknown.join(" ")
        );
    }
    step(format!("installing {list}: {why}"));
    let began = Instant::now();
    let install = || {
        // Without --no-remove, apt would replace a compiler of the distribution's that conflicts.
        shell::run(
            apt_get(privilege)
                .args(["install", "--yes", "--no-remove", "--no-install-recommends"])
                .args(&missing),
        )
    };
    with_fresh_lists(install, || {
        update(privilege, &format!("{list} could not be installed"), began)
    })
}

/// Installs, and where that fails once more with lists that `update` has fetched since: what old ones name a mirror no longer
/// has. `update` says whether there are any.
fn with_fresh_lists(
    install: impl Fn() -> Result<()>,
    update: impl FnOnce() -> Result<bool>,
) -> Result<()> {
    install().or_else(|error| match update() {
        Ok(true) => install(),
        _ => Err(error),
    })
}

/// The version of `package` that apt would install, `apt-get update` tried when it knows none.
pub(crate) fn candidate(package: &str) -> Option<String> {
    if let Some(version) = candidates(&[package]).remove(package) {
        return Some(version);
    }
    let privilege = Privilege::find();
    if privilege == Privilege::None || !shell::in_path("apt-get") {
        return None;
    }
    unknown_to_apt(&[package], privilege).ok()?;
    candidates(&[package]).remove(package)
}

/// Those of `packages` that dpkg does not have installed; all of them where there is no dpkg.
fn missing<'a>(packages: &[&'a str]) -> Vec<&'a str> {
    let installed = shell::output(
        Command::new("dpkg-query")
            .args(["-W", "-f=${Package} ${db:Status-Status}\n"])
            .args(packages),
    )
    .map(|output| String::from_utf8_lossy(&output.stdout).into_owned())
    .unwrap_or_default();
    packages
        .iter()
        .copied()
        .filter(|package| {
            !installed
                .lines()
                .any(|line| line.strip_suffix(" installed") == Some(package))
        })
        .collect()
}

/// Those of `packages` that apt knows no version of, after an update if there are some.
fn unknown_to_apt<'a>(packages: &[&'a str], privilege: Privilege) -> Result<Vec<&'a str>> {
    let unknown = |packages: &[&'a str]| -> Vec<&'a str> {
        let known = candidates(packages);
        packages
            .iter()
            .copied()
            .filter(|package| !known.contains_key(*package))
            .collect()
    };
    let began = Instant::now();
    let first = unknown(packages);
    if first.is_empty() {
        return Ok(first);
    }
    let why = format!("apt does not know {}", first.join(" "));
    match update(privilege, &why, began)? {
        true => Ok(unknown(packages)),
        false => Ok(first),
    }
}

/// Fetches apt's lists, once in a process; whether they are newer than `since`.
fn update(privilege: Privilege, why: &str, since: Instant) -> Result<bool> {
    static FETCHED: Mutex<Option<Instant>> = Mutex::new(None);
    once(&FETCHED, since, || {
        step(format!("apt-get update: {why}"));
        shell::run(apt_get(privilege).args(["update", "--quiet"]))
    })
}

/// Does `fetch` unless that was done, at `fetched`; whether that was after `since`. A thread waits for another one that is at it:
/// apt does not wait for the lock of its lists, as it does for that of dpkg.
fn once(
    fetched: &Mutex<Option<Instant>>,
    since: Instant,
    fetch: impl FnOnce() -> Result<()>,
) -> Result<bool> {
    let mut fetched = fetched.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(time) = *fetched {
        return Ok(time > since);
    }
    fetch()?;
    *fetched = Some(Instant::now());
    Ok(true)
}

fn candidates(packages: &[&str]) -> HashMap<String, String> {
    shell::read(
        Command::new("apt-cache")
            .arg("policy")
            .args(packages)
            .env("LC_ALL", "C"),
    )
    .map(|text| parse_policy(&text))
    .unwrap_or_default()
}

/// Package and candidate version out of what `apt-cache policy` prints.
pub(crate) fn parse_policy(text: &str) -> HashMap<String, String> {
    let mut found = HashMap::new();
    let mut package = None;
    for line in text.lines() {
        if let Some(version) = line.trim().strip_prefix("Candidate: ") {
            if let (Some(package), true) = (package, version != "(none)") {
                found.insert(str::to_owned(package), version.to_owned());
            }
        } else if !line.starts_with(' ') {
            package = line.strip_suffix(':');
        }
    }
    found
}

fn apt_get(privilege: Privilege) -> Command {
    // Through sudo, a variable set on the command itself would not arrive.
    let mut command = privilege.command("env");
    command.args(["DEBIAN_FRONTEND=noninteractive", "apt-get"]);
    // The system's own upgrades, or another thread of this process, may be at it.
    command.args(["-o", "DPkg::Lock::Timeout=300"]);
    command
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn what_a_mirror_no_longer_has_is_asked_for_again_with_fresh_lists() {
        let run = |works_at: u32, fetches: bool| {
            let tries = Cell::new(0);
            let install = || {
                tries.set(tries.get() + 1);
                match tries.get() >= works_at {
                    true => Ok(()),
                    false => bail!("404 Not Found"),
                }
            };
            let done = with_fresh_lists(install, || Ok(fetches));
            (done.is_ok(), tries.get())
        };
        assert_eq!(run(1, true), (true, 1));
        assert_eq!(run(2, true), (true, 2));
        assert_eq!(run(3, true), (false, 2));
        assert_eq!(run(2, false), (false, 1), "lists are as they were");
    }

    #[test]
    fn threads_that_need_fresh_lists_fetch_them_one_after_the_other_and_once() {
        let (fetched, fetching) = (Mutex::new(None), Mutex::new(0));
        let barrier = std::sync::Barrier::new(8);
        let before = Instant::now();
        let fetch = || {
            barrier.wait();
            once(&fetched, before, || {
                *fetching.try_lock().expect("another thread is at it") += 1;
                Ok(())
            })
        };
        let all: Vec<Result<bool>> = std::thread::scope(|threads| {
            let all: Vec<_> = (0..8).map(|_| threads.spawn(fetch)).collect();
            all.into_iter().map(|it| it.join().unwrap()).collect()
        });
        assert!(all.iter().all(|newer| matches!(newer, Ok(true))));
        assert_eq!(*fetching.lock().unwrap(), 1);
        assert!(!once(&fetched, Instant::now(), || bail!("once more")).unwrap());
        // One that failed is no reason not to try again.
        assert!(once(&Mutex::new(None), before, || bail!("no network")).is_err());
    }

    #[test]
    fn apt_policy_distinguishes_known_packages_from_unknown_ones() {
        let text = "rustc-web:\n  Installed: (none)\n  Candidate: 1.96.0+dfsg1-1~deb12u2\n  \
                    Version table:\n     1.85.0+dfsg3-1~deb12u3 500\nvirtual-only:\n  Installed: \
                    (none)\n  Candidate: (none)\n";
        let found = parse_policy(text);
        assert_eq!(found["rustc-web"], "1.96.0+dfsg1-1~deb12u2");
        assert_eq!(found.len(), 1);
    }
}
