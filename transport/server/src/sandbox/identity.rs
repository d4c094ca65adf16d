//! The user that a worker becomes.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use rustix::process::{Gid, Resource, Rlimit, Uid};
use rustix::thread::{CapabilitySet, CapabilitySets};
use serde::{Deserialize, Serialize};

use super::Layer;

/// Users that nobody has and no tool hands out: systemd's table of user ids lists this range as unused, and containers
/// get theirs from below.
const DEFAULT: Users = Users {
    first: 2_000_000_000,
    last: 2_000_065_535,
    group: None,
};

/// The users of workers: those of each credential have another one, as far as there are enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Users {
    first: u32,
    last: u32,
    /// The group of all; `None`: each has the number of its user.
    group: Option<u32>,
}

/// Why workers cannot have these users.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct UserError(String);

impl FromStr for Users {
    type Err = UserError;

    /// A name of /etc/passwd, a number, or a range of numbers as `2000000000-2000000999`.
    fn from_str(text: &str) -> Result<Self, UserError> {
        let number = |text: &str| text.parse::<u32>().ok();
        let range = match text.split_once('-') {
            Some((first, last)) => number(first).zip(number(last)),
            None => number(text).map(|one| (one, one)),
        };
        let users = match range {
            Some((first, last)) => Self {
                first,
                last,
                group: None,
            },
            None => {
                let passwd = fs::read_to_string("/etc/passwd")
                    .map_err(|error| UserError(format!("/etc/passwd: {error}")))?;
                let (user, group) = find(&passwd, text).ok_or_else(|| {
                    UserError(format!(
                        "`{text}` is no user of /etc/passwd; name one, a number, or a range such as \
                         2000000000-2000000999"
                    ))
                })?;
                Self {
                    first: user,
                    last: user,
                    group: Some(group),
                }
            }
        };
        if users.first == 0 || users.group == Some(0) {
            return Err(UserError(format!(
                "`{text}` is root, whom workers must not be"
            )));
        }
        if users.first > users.last || users.last == u32::MAX {
            return Err(UserError(format!("`{text}` is no range of users")));
        }
        Ok(users)
    }
}

fn find(passwd: &str, name: &str) -> Option<(u32, u32)> {
    passwd.lines().find_map(|line| {
        let mut fields = line.split(':');
        (fields.next()? == name).then_some(())?;
        let (user, group) = (fields.nth(1)?, fields.next()?);
        Some((user.parse().ok()?, group.parse().ok()?))
    })
}

impl Users {
    /// The configured ones, or the default; or why this process cannot give its children any.
    pub(crate) fn available(configured: Option<Self>) -> Result<Self, String> {
        let wanted = CapabilitySet::SETUID | CapabilitySet::SETGID | CapabilitySet::KILL;
        let own = rustix::thread::capabilities(None).map(|sets| sets.effective);
        if !own.is_ok_and(|own| own.contains(wanted)) {
            return Err(
                "workers run as the server's user: start it as root, or with the capabilities CAP_SETUID, CAP_SETGID \
                 and CAP_KILL, for a user for each"
                    .into(),
            );
        }
        let users = configured.unwrap_or(DEFAULT);
        for map in ["/proc/self/uid_map", "/proc/self/gid_map"] {
            let text = fs::read_to_string(map).unwrap_or_default();
            if !is_mapped(&text, users.first, users.last) {
                return Err(format!(
                    "workers run as the server's user: {} to {} are not mapped in this user namespace ({map}); name \
                     users that are with --worker-user",
                    users.first, users.last
                ));
            }
        }
        Ok(users)
    }

    /// One that is not among `taken`; the first where all are.
    pub(crate) fn one(&self, taken: &[u32]) -> (u32, u32) {
        let free = (self.first..=self.last).find(|user| !taken.contains(user));
        self.named(free.unwrap_or(self.first))
    }

    /// This one, and its group.
    pub(crate) fn named(&self, user: u32) -> (u32, u32) {
        (user, self.group.unwrap_or(user))
    }
}

/// Whether a map of a user namespace (user_namespaces(7)) has all of them.
fn is_mapped(map: &str, first: u32, last: u32) -> bool {
    map.lines().any(|line| {
        let mut numbers = line.split_whitespace().map(|n| n.parse::<u64>().ok());
        let (Some(Some(inside)), _, Some(Some(len))) =
            (numbers.next(), numbers.next(), numbers.next())
        else {
            return false;
        };
        inside <= first.into() && u64::from(last) < inside.saturating_add(len)
    })
}

/// Groups of the driver's device files that not everybody may open.
fn device_groups(files: &[PathBuf]) -> Vec<u32> {
    let mut groups: Vec<u32> = files
        .iter()
        .filter_map(|path| fs::metadata(path).ok())
        .filter(|file| file.mode() & 0o006 != 0o006 && file.mode() & 0o060 == 0o060)
        .map(|file| file.gid())
        .filter(|group| *group != 0)
        .collect();
    groups.sort_unstable();
    groups.dedup();
    groups
}

/// Becomes `user`, and keeps no capability in any case.
pub(super) fn become_user(user: &Result<(u32, u32), String>) -> io::Result<Layer> {
    let layer = match user {
        Err(why) => Layer::missing("user", why.clone()),
        Ok((uid, gid)) => {
            let failed = |error: rustix::io::Errno| {
                io::Error::other(format!(
                    "cannot become user {uid}: {}",
                    io::Error::from(error)
                ))
            };
            // The driver and RDMA devices pin memory, which root may without this limit.
            let _ = rustix::process::setrlimit(
                Resource::Memlock,
                Rlimit {
                    current: None,
                    maximum: None,
                },
            );
            let groups = device_groups(&super::files::devices(Path::new("/dev")));
            let groups: Vec<Gid> = groups.into_iter().map(Gid::from_raw).collect();
            let (uid, gid) = (Uid::from_raw(*uid), Gid::from_raw(*gid));
            // There is but one thread yet.
            rustix::thread::set_thread_groups(&groups).map_err(failed)?;
            rustix::thread::set_thread_res_gid(gid, gid, gid).map_err(failed)?;
            rustix::thread::set_thread_res_uid(uid, uid, uid).map_err(failed)?;
            Layer::active("user", "not the server's")
        }
    };
    let none = CapabilitySets {
        effective: CapabilitySet::empty(),
        permitted: CapabilitySet::empty(),
        inheritable: CapabilitySet::empty(),
    };
    let _ = rustix::thread::clear_ambient_capability_set();
    rustix::thread::set_capabilities(None, none)?;
    Ok(layer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_are_read_and_given_out_each_once() {
        let range: Users = "2000000000-2000000002".parse().unwrap();
        assert_eq!(range.one(&[]), (2_000_000_000, 2_000_000_000));
        assert_eq!(range.one(&[2_000_000_000, 2_000_000_001]).0, 2_000_000_002);
        let one: Users = "4711".parse().unwrap();
        assert_eq!(one.one(&[4711]), (4711, 4711));
        for wrong in [
            "0",
            "root",
            "5-4",
            "0-5",
            "no such user",
            "",
            "1-4294967295",
        ] {
            assert!(wrong.parse::<Users>().is_err(), "{wrong}");
        }
        let passwd =
            "root:x:0:0:root:/root:/bin/sh\ngtrace-worker:x:998:997::/:/usr/sbin/nologin\n";
        assert_eq!(find(passwd, "gtrace-worker"), Some((998, 997)));
        assert_eq!(find(passwd, "gtrace"), None);
    }

    #[test]
    fn a_user_namespace_may_lack_them() {
        assert!(is_mapped(
            "         0          0 4294967295\n",
            2_000_000_000,
            2_000_065_535
        ));
        assert!(!is_mapped("0 100000 65536\n", 2_000_000_000, 2_000_065_535));
        assert!(is_mapped("0 100000 65536\n", 61_000, 65_535));
        assert!(!is_mapped("", 1, 1));
    }
}
