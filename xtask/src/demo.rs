//! `cargo xtask demo`: a private daemon, injected faults, and a table of what came through.

use std::fs;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

use crate::context::{Context, Profile};
use crate::drills::{self, DRILLS, Drill};
use crate::packages::Privilege;
use crate::setup;
use crate::shell::{self, step};

const START_LIMIT: Duration = Duration::from_secs(30);
const ARRIVAL_LIMIT: Duration = Duration::from_secs(20);
const STOP_LIMIT: Duration = Duration::from_secs(15);

/// `cargo xtask demo`: as [`run`], an exit code instead of an error for a drill that was lost.
pub(crate) fn command(context: &Context, profile: Profile) -> Result<ExitCode> {
    run(context, profile)?;
    Ok(ExitCode::SUCCESS)
}

/// Builds gtrace, injects each drill and checks that it came through.
pub(crate) fn run(context: &Context, profile: Profile) -> Result<()> {
    setup::build(context, profile, &["gtrace"])?;
    let privilege = Privilege::find();
    if privilege == Privilege::None {
        bail!("the demonstration loads BPF programs and needs root: run as root, or install sudo");
    }
    setup::mounts(privilege);
    let since = shell::read(Command::new("date").args(["-u", "+%Y-%m-%dT%H:%M:%S"]))?;
    let mut demo = Demo::start(context.binary(profile, "gtrace"), privilege)?;
    let result = demo.round(since.trim());
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
        let dir = std::env::temp_dir().join(format!("gtrace-demo-{}", std::process::id()));
        fs::DirBuilder::new()
            .mode(0o700)
            .create(&dir)
            .with_context(|| format!("cannot create {}", dir.display()))?;
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
    fn round(&mut self, since: &str) -> Result<()> {
        let sources = self.wait_until_it_answers()?;
        let expected = Expected {
            since,
            sources: &sources,
        };
        for drill in &DRILLS {
            step(format!("injecting {}", drill.name()));
            shell::read(self.gtrace().arg("inject").args(drill.inject))?;
        }
        step("waiting until each drill is in the store");
        let all = |events: &[Value]| {
            DRILLS
                .iter()
                .all(|drill| expected.find(drill, events).is_ok())
        };
        let mut events = Vec::new();
        shell::wait_for(ARRIVAL_LIMIT, || {
            events = self.events()?;
            Ok(all(&events).then_some(()))
        })?;
        step("what a person sees: gtrace events --since 5m --limit 12");
        shell::run(
            self.gtrace()
                .args(["events", "--since", "5m", "--limit", "12", "--store"])
                .arg(store(&self.dir)),
        )?;
        step("what came through");
        println!("{}", expected.table(&events));
        let lost = DRILLS
            .iter()
            .filter(|drill| expected.find(drill, &events).is_err())
            .count();
        if lost > 0 {
            bail!(
                "{lost} of {} drills did not come through as they should",
                DRILLS.len()
            );
        }
        step(format!("all {} drills came through", DRILLS.len()));
        Ok(())
    }

    /// The sources of the kernel log that the daemon says are active.
    fn wait_until_it_answers(&mut self) -> Result<Vec<String>> {
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
            Ok(json.ok().and_then(|status| drills::log_sources(&status)))
        })?;
        answered.with_context(|| {
            format!(
                "`gtrace status` had no answer from the daemon within {} s",
                START_LIMIT.as_secs()
            )
        })
    }

    fn events(&self) -> Result<Vec<Value>> {
        let output = shell::output(
            self.gtrace()
                .args(["events", "--json", "--since", "5m", "--store"])
                .arg(store(&self.dir)),
        )?;
        let text = String::from_utf8_lossy(&output.stdout);
        parse_events(&text).with_context(|| {
            format!(
                "`gtrace events --json` printed no JSON ({}): {}",
                output.status,
                String::from_utf8_lossy(&output.stderr).trim()
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

/// One JSON array, or one object a line.
fn parse_events(text: &str) -> Result<Vec<Value>> {
    let mut events = Vec::new();
    for value in serde_json::Deserializer::from_str(text).into_iter::<Value>() {
        match value? {
            Value::Array(list) => events.extend(list),
            event => events.push(event),
        }
    }
    Ok(events)
}

/// What events have to be like.
struct Expected<'a> {
    /// Not older than this second.
    since: &'a str,
    /// Seen by all of these.
    sources: &'a [String],
}

impl Expected<'_> {
    /// The event of `drill`, or what is wrong.
    fn find<'e>(&self, drill: &Drill, events: &'e [Value]) -> Result<&'e Value, String> {
        let event = drill.find(events, self.since).ok_or("not found")?;
        let faults = drills::faults(event, self.sources);
        if faults.is_empty() {
            Ok(event)
        } else {
            Err(faults.join("; "))
        }
    }

    fn table(&self, events: &[Value]) -> String {
        let names: Vec<_> = DRILLS.iter().map(Drill::name).collect();
        let width = names.iter().map(|name| name.chars().count()).max();
        let width = width.unwrap_or(0);
        let mut table = format!("{:width$}  found  seen by", "drill");
        for (name, drill) in names.iter().zip(&DRILLS) {
            let (found, by) = match self.find(drill, events) {
                Ok(event) => ("yes", drills::witnesses(event).join(", ")),
                Err(what) => ("NO", what),
            };
            table.push_str(&format!("\n{name:width$}  {found:5}  {by}"));
        }
        table
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_read_as_lines_and_as_an_array() {
        assert_eq!(parse_events("{\"a\":1}\n{\"a\":2}\n").unwrap().len(), 2);
        assert_eq!(parse_events("[{\"a\":1}]").unwrap().len(), 1);
        assert!(parse_events("").unwrap().is_empty());
        parse_events("no JSON").unwrap_err();
    }

    #[test]
    fn a_lost_drill_stands_in_the_table() {
        let expected = Expected {
            since: "2026-01-01T00:00:00",
            sources: &[],
        };
        let table = expected.table(&[]);
        assert_eq!(table.lines().count(), DRILLS.len() + 1);
        assert!(table.contains("NO") && !table.contains("yes"));
    }

    /// A fake gtrace: prints `events` in lines, and logs its arguments.
    fn fake_gtrace(dir: &Path, events: &[Value]) -> PathBuf {
        let lines: String = events.iter().map(|event| format!("{event}\n")).collect();
        fs::write(dir.join("events"), lines).unwrap();
        let script = format!(
            "#!/bin/sh\necho \"$@\" >> {0}/asked\ncase $1 in\n\
             run) trap 'kill $!; exit 0' TERM; sleep 60 & wait ;;\n\
             status) echo '{{\"running\":true}}' ;;\nevents) cat {0}/events ;;\nesac\n",
            dir.display()
        );
        let path = dir.join("gtrace");
        fs::write(&path, script).unwrap();
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs::set_permissions(&path, mode).unwrap();
        path
    }

    #[test]
    fn a_round_injects_each_drill_and_leaves_nothing_behind() {
        let dir = tempfile::tempdir().unwrap();
        let events: Vec<_> = DRILLS.iter().map(Drill::sample).collect();
        let gtrace = fake_gtrace(dir.path(), &events);
        let mut demo = Demo::start(gtrace, Privilege::None).unwrap();
        demo.round("2026-03-03T04:05:06").unwrap();
        demo.stop().unwrap();
        let state = demo.dir.clone();
        drop(demo);
        assert!(!state.exists());
        let asked = fs::read_to_string(dir.path().join("asked")).unwrap();
        let injected = asked.lines().filter(|line| line.starts_with("inject"));
        assert_eq!(injected.count(), DRILLS.len());
    }
}
