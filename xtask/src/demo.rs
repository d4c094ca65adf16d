//! `cargo xtask demo`: a private daemon and a game day on it: injected faults, and a table of what came through.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

use crate::context::{Context, Profile};
use crate::packages::Privilege;
use crate::setup;
use crate::shell::{self, step};

const START_LIMIT: Duration = Duration::from_secs(30);
const STOP_LIMIT: Duration = Duration::from_secs(15);

/// Builds gtrace and runs a game day, which checks that each drill comes through.
pub(crate) fn run(context: &Context, profile: Profile) -> Result<()> {
    setup::build(context, profile, &["gtrace"])?;
    let privilege = Privilege::find();
    if privilege == Privilege::None {
        bail!("the demonstration loads BPF programs and needs root: run as root, or install sudo");
    }
    setup::mounts(privilege);
    let mut demo = Demo::start(context.binary(profile, "gtrace"), privilege)?;
    let result = demo.round();
    let stopped = demo.stop();
    if result.is_err() || stopped.is_err() {
        demo.show_log();
    }
    result.and(stopped)
}

/// A daemon with a state directory of its own.
struct Demo {
    gtrace: PathBuf,
    privilege: Privilege,
    dir: PathBuf,
    daemon: Child,
}

impl Demo {
    fn start(gtrace: PathBuf, privilege: Privilege) -> Result<Self> {
        let dir = tempfile::Builder::new()
            .prefix("gtrace-demo-")
            .permissions(Permissions::from_mode(0o700))
            .tempdir()
            .context("cannot create a directory for the daemon's state")?
            .keep();
        step(format!(
            "starting `gtrace run` with its state in {}",
            dir.display()
        ));
        let log = fs::File::create(dir.join("daemon.log")).context("cannot write daemon.log")?;
        let errors = log.try_clone().context("cannot write daemon.log")?;
        let daemon = privilege
            .command(&gtrace.to_string_lossy())
            .arg("run")
            .arg("--state-dir")
            .arg(&dir)
            .arg("--socket")
            .arg(socket(&dir))
            .args(["--listen", "127.0.0.1:0"])
            .stdin(Stdio::null())
            .stdout(log)
            .stderr(errors)
            .spawn()
            .with_context(|| format!("cannot start {}", gtrace.display()));
        match daemon {
            Ok(daemon) => Ok(Self {
                gtrace,
                privilege,
                dir,
                daemon,
            }),
            Err(error) => {
                let _ = fs::remove_dir_all(&dir);
                Err(error)
            }
        }
    }

    fn gtrace(&self) -> Command {
        self.privilege.command(&self.gtrace.to_string_lossy())
    }

    /// From a daemon that starts to the table.
    fn round(&mut self) -> Result<()> {
        self.wait_until_it_answers()?;
        step("injecting drills: gtrace gameday");
        shell::run(
            self.gtrace()
                .args(["gameday", "--yes", "--socket"])
                .arg(socket(&self.dir)),
        )?;
        step("what a person sees: gtrace events --since 5m --limit 12");
        shell::run(
            self.gtrace()
                .args(["events", "--since", "5m", "--limit", "12", "--store"])
                .arg(store(&self.dir)),
        )
    }

    fn wait_until_it_answers(&mut self) -> Result<()> {
        let answered = shell::wait_for(START_LIMIT, || {
            if let Some(status) = self.daemon.try_wait().context("lost the daemon")? {
                bail!("`gtrace run` ended while starting ({status})");
            }
            let output = shell::output(
                self.gtrace()
                    .args(["status", "--json", "--socket"])
                    .arg(socket(&self.dir)),
            )?;
            // Its exit code reports problems found, which is an answer too.
            let json = serde_json::from_slice::<Value>(&output.stdout);
            Ok(json
                .is_ok_and(|status| status["running"] == true)
                .then_some(()))
        })?;
        answered.with_context(|| {
            format!(
                "`gtrace status` had no answer from the daemon within {} s",
                START_LIMIT.as_secs()
            )
        })
    }

    /// Ends the daemon as systemd would, and expects it to go by itself.
    fn stop(&mut self) -> Result<()> {
        if self.daemon.try_wait().context("lost the daemon")?.is_some() {
            return Ok(());
        }
        step("stopping the daemon");
        self.signal("TERM")?;
        let daemon = &mut self.daemon;
        let ended = shell::wait_for(STOP_LIMIT, || Ok(daemon.try_wait()?))?;
        let Some(status) = ended else {
            self.signal("KILL")?;
            self.daemon.wait().context("lost the daemon")?;
            bail!(
                "the daemon did not end within {} s of SIGTERM",
                STOP_LIMIT.as_secs()
            );
        };
        if !status.success() {
            bail!("the daemon ended with {status} on SIGTERM");
        }
        Ok(())
    }

    /// sudo passes SIGTERM on, and cannot pass on SIGKILL.
    fn signal(&self, name: &str) -> Result<()> {
        let pid = self.daemon.id().to_string();
        let script = "kill -s \"$1\" \"$2\"";
        let mut command = self.privilege.command("sh");
        shell::run(command.args(["-c", script, "sh", name, &pid]))
    }

    fn show_log(&self) {
        let log = fs::read_to_string(self.dir.join("daemon.log")).unwrap_or_default();
        let lines: Vec<_> = log.lines().collect();
        eprintln!("gtrace: the end of the daemon's log:");
        for line in &lines[lines.len().saturating_sub(40)..] {
            eprintln!("    {line}");
        }
    }
}

impl Drop for Demo {
    fn drop(&mut self) {
        if let Ok(None) = self.daemon.try_wait() {
            let _ = self.signal("KILL");
            let _ = self.daemon.wait();
        }
        // Its files belong to root.
        let mut remove = self.privilege.command("rm");
        let _ = shell::run(remove.arg("-rf").arg(&self.dir));
    }
}

fn socket(dir: &Path) -> PathBuf {
    dir.join("gtrace.sock")
}

fn store(dir: &Path) -> PathBuf {
    dir.join("store.db")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A fake gtrace whose game day ends with `code`. It logs its arguments, and runs once it takes SIGTERM.
    fn fake_gtrace(dir: &Path, code: u8) -> PathBuf {
        let script = format!(
            "#!/bin/sh\necho \"$@\" >> {0}/asked\ncase $1 in\n\
             run) trap 'kill $!; exit 0' TERM; sleep 60 & touch {0}/runs; wait ;;\n\
             status) [ -e {0}/runs ] && echo '{{\"running\":true}}' ;;\ngameday) exit {code} ;;\nesac\n",
            dir.display()
        );
        let path = dir.join("gtrace");
        fs::write(&path, script).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o755)).unwrap();
        path
    }

    #[test]
    fn a_round_leaves_nothing_behind_and_fails_with_its_game_day() {
        for code in [0, 1] {
            let dir = tempfile::tempdir().unwrap();
            let gtrace = fake_gtrace(dir.path(), code);
            let mut demo = Demo::start(gtrace, Privilege::None).unwrap();
            assert_eq!(demo.round().is_ok(), code == 0);
            demo.stop().unwrap();
            let state = demo.dir.clone();
            drop(demo);
            assert!(!state.exists());
            let asked = fs::read_to_string(dir.path().join("asked")).unwrap();
            let gameday = asked.lines().find(|line| line.starts_with("gameday"));
            assert!(gameday.unwrap().contains("--yes"), "{asked}");
        }
    }
}
