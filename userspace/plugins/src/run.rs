//! One run of a plugin: in a process group of its own, with a deadline, and with a bound on what it says. Nothing of it is left when the
//! run is over, as far as the kernel lets go of it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::folder::Plugin;
use crate::launch::PATH;
use crate::program::{Left, Limits, follow};

/// How a run ended.
#[derive(Debug)]
pub enum Ended {
    /// With exit status 0 and this output.
    Done(Vec<u8>),
    /// It said nothing that counts: why.
    Failed(String),
    /// As failed, and it does not even end after SIGKILL: it waits in the kernel. No other run of it may begin before it has.
    Stuck(String, Child),
}

/// A run that is over.
#[derive(Debug)]
pub struct Run {
    /// How.
    pub ended: Ended,
    /// How long it took.
    pub took: Duration,
}

/// A control group of a plugin's own, by which what it has started is found and ended.
#[derive(Debug)]
pub struct Cgroup(PathBuf);

impl Cgroup {
    /// Makes one below that of this process; `root` is where control groups are mounted, `own` the text of /proc/self/cgroup.
    ///
    /// # Errors
    ///
    /// What the system says: most services may not write there.
    pub fn below(root: &Path, own: &str, plugin: &str) -> io::Result<Self> {
        let unified = own.lines().find_map(|line| line.strip_prefix("0::/"));
        let unified =
            unified.ok_or_else(|| io::Error::other("this host has no unified control groups"))?;
        let path = root.join(unified).join(format!("gtrace-plugin-{plugin}"));
        match fs::create_dir(&path) {
            Ok(()) => Ok(Self(path)),
            // Of a run before, by a daemon that was killed: whatever is in it is of no use any more.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                let left = Self(path);
                left.kill();
                Ok(left)
            }
            Err(error) => Err(error),
        }
    }

    /// Its folder.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Ends everything in it.
    fn kill(&self) {
        // Since Linux 5.14; before, the process group alone is ended.
        let _ = fs::write(self.0.join("cgroup.kill"), "1");
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        self.kill();
        // What the kernel still takes down is left for the next run.
        let _ = fs::remove_dir(&self.0);
    }
}

/// Runs `plugin` by `launcher`, whose last argument becomes its path.
pub fn run(plugin: &Plugin, limits: Limits, mut launcher: Command, cgroup: Option<Cgroup>) -> Run {
    use std::os::unix::process::CommandExt as _;
    let began = Instant::now();
    launcher
        .arg(&plugin.path)
        .env_clear()
        .env("PATH", PATH)
        .env("LANG", "C.UTF-8")
        .env(
            "GTRACE_PLUGIN_DEADLINE_S",
            limits.deadline.as_secs().to_string(),
        )
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0);
    let ended = match launcher.spawn() {
        Ok(child) => ended(child, limits, began, cgroup),
        Err(error) => Ended::Failed(format!("it cannot be started: {error}")),
    };
    Run {
        ended,
        took: began.elapsed(),
    }
}

fn ended(child: Child, limits: Limits, began: Instant, cgroup: Option<Cgroup>) -> Ended {
    let followed = match follow(child, limits, began, Left::Killed) {
        Ok(followed) => followed,
        Err(why) => return Ended::Failed(why),
    };
    drop(cgroup);
    match (followed.why, followed.stuck, followed.status) {
        (why, Some(child), _) => Ended::Stuck(why.unwrap_or_default(), child),
        (Some(why), None, _) => Ended::Failed(why),
        (None, None, Some(status)) if status.success() => Ended::Done(followed.out),
        (None, None, status) => {
            let status = status.map_or("ended".to_owned(), |status| status.to_string());
            let message = gtrace_api::text::clean(String::from_utf8_lossy(&followed.errors).trim());
            let message: String = message.chars().take(200).collect();
            Ended::Failed(match message.is_empty() {
                true => status,
                false => format!("{status}: {message}"),
            })
        }
    }
}
