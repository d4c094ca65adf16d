//! What happens in the new process before the plugin: `gtrace plugin-child` does this and becomes the plugin.

use std::convert::Infallible;
use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;

use caps::CapSet;
use rustix::fs::Mode;
use rustix::process::{Pid, Resource, Rlimit};

use crate::program::die_with;

/// Open files of a plugin.
const FILES: u64 = 256;
/// The search path that plugins have.
pub(crate) const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// Becomes the plugin at `path`, in the control group `cgroup` where there is one: with standard input, output and error and no other
/// descriptor, without capabilities and the right to get new ones, without core files. It ends with the daemon, whose process id is
/// `parent`.
///
/// # Errors
///
/// What of this failed, or that the daemon has ended already: the plugin is not run then.
pub fn exec(path: &Path, cgroup: Option<&Path>, parent: i32) -> io::Result<Infallible> {
    die_with(Pid::from_raw(parent))?;
    if let Some(cgroup) = cgroup {
        // Before the right to do so is gone. Without it the plugin runs in the daemon's group.
        let _ = std::fs::write(cgroup.join("cgroup.procs"), "0");
    }
    limit(Resource::Core, 0)?;
    limit(Resource::Nofile, FILES)?;
    rustix::process::umask(Mode::from_raw_mode(0o077));
    rustix::process::chdir("/")?;
    rustix::thread::set_no_new_privs(true)?;
    // With no_new_privs set, a root without capabilities gets none by executing a program (capabilities(7)).
    for set in [CapSet::Inheritable, CapSet::Effective, CapSet::Permitted] {
        caps::clear(None, set).map_err(io::Error::other)?;
    }
    close_on_exec()?;
    Err(Command::new(path).exec())
}

fn limit(resource: Resource, most: u64) -> io::Result<()> {
    let both = Rlimit {
        current: Some(most),
        maximum: Some(most),
    };
    Ok(rustix::process::setrlimit(resource, both)?)
}

/// Has every descriptor above standard error closed by the exec: some of systemd's and of libraries are not marked so.
#[allow(unsafe_code, reason = "rustix has no close_range")]
fn close_on_exec() -> io::Result<()> {
    let (first, last) = (3_u32, u32::MAX);
    // SAFETY: close_range(2), since Linux 5.9, takes three integers; with CLOSE_RANGE_CLOEXEC it closes nothing now, so no
    // owner of a descriptor loses it in this process.
    let result = unsafe {
        libc::syscall(
            libc::SYS_close_range,
            first,
            last,
            libc::CLOSE_RANGE_CLOEXEC,
        )
    };
    match result {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
