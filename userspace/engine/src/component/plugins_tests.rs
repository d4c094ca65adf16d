use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::Arc;

use tokio::sync::mpsc::UnboundedReceiver;

use super::*;
use crate::component::initial;
use crate::supervise::names;

fn shell(_: Option<&Cgroup>) -> Command {
    Command::new("/bin/sh")
}

struct World {
    context: Context,
    commands: UnboundedReceiver<HubCommand>,
    dir: tempfile::TempDir,
}

impl World {
    fn new(deadline: Duration) -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let (hub, commands) = Hub::new(crate::hub::bare_status());
        hub.update_status(|status| status.sources = initial());
        hub.set_gpus(Vec::new());
        let options = Options {
            folder: dir.path().to_owned(),
            interval: Duration::from_millis(50),
            deadline,
        };
        let plugins = Plugins {
            options: Some(options),
            owner: rustix::process::geteuid().as_raw(),
            launcher: shell,
            faults: Reasons::default(),
        };
        let context = Context {
            plugins: Arc::new(plugins),
            ..Context::bare(hub)
        };
        Self {
            context,
            commands,
            dir,
        }
    }

    fn write(&self, name: &str, script: &str) {
        // Never half of it, as it may be run at any time.
        let hidden = self.dir.path().join(".new");
        fs::write(&hidden, script).unwrap();
        fs::set_permissions(&hidden, fs::Permissions::from_mode(0o755)).unwrap();
        fs::rename(hidden, self.dir.path().join(name)).unwrap();
    }

    /// The next run of `plugin` that is as wanted.
    fn until(&mut self, plugin: &str, is: impl Fn(&Result<Vec<Check>, String>) -> bool) -> Checked {
        loop {
            match self.commands.blocking_recv().unwrap() {
                HubCommand::Checked(checked)
                    if checked.plugin == plugin && is(&checked.outcome) =>
                {
                    return checked;
                }
                _ => {}
            }
        }
    }

    /// The next look that is as wanted.
    fn looked(&mut self, is: impl Fn(&Looked) -> bool) -> Looked {
        loop {
            match self.commands.blocking_recv().unwrap() {
                HubCommand::Looked(looked) if is(&looked) => return looked,
                _ => {}
            }
        }
    }

    fn health(&self) -> ComponentHealth {
        self.context.checked(NAME)
    }

    fn value(&self, name: &str, label: (&str, &str)) -> Option<f64> {
        let metrics = self.context.hub.samples.newest();
        let has =
            |m: &&Metric| m.name == name && m.labels.iter().any(|(k, v)| (*k, v.as_str()) == label);
        metrics.iter().find(has).map(|m| m.value)
    }
}

fn healthy(name: &str) -> String {
    format!("echo '{{\"check\":\"{name}\",\"state\":\"healthy\",\"metrics\":{{\"rpm\":900}}}}'\n")
}

#[test]
fn plugins_that_work_break_hang_vanish_and_recover() {
    let mut world = World::new(Duration::from_millis(400));
    world.write("fan", &healthy("fan"));
    world.write("hangs", "sleep 1000");
    let other = world.dir.path().join("writable");
    fs::write(&other, healthy("never")).unwrap();
    fs::set_permissions(&other, fs::Permissions::from_mode(0o777)).unwrap();
    SitePlugins.start(&world.context).unwrap();
    let checked = world.until("fan", Result::is_ok);
    assert_eq!(checked.outcome.unwrap()[0].state, HealthState::Healthy);
    // The hanging one keeps nobody waiting, and is killed.
    let why = world.until("hangs", Result::is_err).outcome.unwrap_err();
    assert!(why.contains("was killed"), "{why}");
    world.until("fan", Result::is_ok);
    let judged = world.health();
    assert_eq!(judged.state, HealthState::Degraded);
    let all = judged.reasons.join("; ");
    assert!(
        all.contains("writable is not run") && all.contains("hangs: it did not end"),
        "{all}"
    );
    assert_eq!(
        world.value("gtrace_plugin_value", ("metric", "rpm")),
        Some(900.0)
    );
    assert_eq!(
        world.value("gtrace_plugin_check_healthy", ("check", "fan")),
        Some(1.0)
    );

    world.write(
        "fan",
        "echo '{\"check\":\"fan\",\"state\":\"unhealthy\",\"reason\":\"stands still\"}'; echo OK",
    );
    let bad = |outcome: &Result<Vec<Check>, String>| {
        outcome
            .as_ref()
            .is_ok_and(|checks| checks[0].state == HealthState::Unhealthy)
    };
    let checked = world.until("fan", bad);
    let occurrence = checked.occurrence(&checked.outcome.as_ref().unwrap()[0]);
    assert_eq!(
        occurrence.message,
        "plugin fan: fan is unhealthy: stands still"
    );
    assert!(!checked.is_complete);
    world.until("fan", bad);
    let all = world.health().reasons.join("; ");
    assert!(all.contains("fan: line 2"), "{all}");
    world.write("fan", "exit 7");
    assert!(
        world
            .until("fan", Result::is_err)
            .outcome
            .unwrap_err()
            .contains('7')
    );
    // A quote in the reason, where the script takes that from another program.
    world.write(
        "fan",
        "echo '{\"check\":\"fan\",\"state\":\"unhealthy\",\"reason\":\"no \"fan\"\"}'",
    );
    world.until("fan", |outcome| {
        outcome
            .as_ref()
            .is_err_and(|why| why.starts_with("line 1: "))
    });
    world.write(
        "fan",
        "echo '{\"check\":\"fan\",\"state\":\"healthy\",\"gpu\":\"0000:3b:00.0\"}'",
    );
    let checked = world.until("fan", Result::is_ok);
    assert!(
        checked.outcome.as_ref().unwrap().is_empty() && checked.of_unknown.len() == 1,
        "of a GPU that is not there nothing is known: {checked:?}"
    );
    // Refused is not taken away: it is there, and is not run.
    let fan = world.dir.path().join("fan");
    fs::set_permissions(&fan, fs::Permissions::from_mode(0o775)).unwrap();
    let looked = world.looked(|looked| looked.refused.contains_key("fan"));
    assert!(looked.there.unwrap().contains("fan"));
    assert!(looked.refused["fan"].contains("chmod go-w"));
    fs::set_permissions(&fan, fs::Permissions::from_mode(0o755)).unwrap();
    world.until("fan", Result::is_ok);

    fs::remove_file(fan).unwrap();
    world.looked(|looked| {
        looked
            .there
            .as_ref()
            .is_ok_and(|there| !there.contains("fan"))
    });
    world.write("hangs", &healthy("late"));
    fs::remove_file(&other).unwrap();
    world.until("hangs", Result::is_ok);
    world.until("hangs", Result::is_ok);
    assert_eq!(world.health().state, HealthState::Healthy);
    // The folder itself is no longer root's alone: nothing is run, and that is said.
    fs::set_permissions(world.dir.path(), fs::Permissions::from_mode(0o777)).unwrap();
    world.looked(|looked| looked.there.is_err());
    let judged = world.health();
    assert!(
        judged.reasons.join("; ").contains("chmod go-w"),
        "{judged:?}"
    );
    fs::remove_file(world.dir.path().join("hangs")).unwrap();
    fs::set_permissions(world.dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let until = Instant::now() + Duration::from_secs(20);
    while world.health().state != HealthState::Healthy {
        assert!(Instant::now() < until, "{:?}", world.health());
        std::thread::sleep(Duration::from_millis(10));
    }
    let left = world
        .context
        .hub
        .tasks
        .stop(&[names::PLUGINS], Duration::from_secs(10));
    assert!(left.is_empty());
}

#[test]
fn nothing_is_run_before_somebody_has_looked_for_gpus() {
    let world = World::new(Duration::from_secs(5));
    let (hub, mut commands) = Hub::new(crate::hub::bare_status());
    let context = Context {
        hub,
        ..world.context.clone()
    };
    world.write("fan", &healthy("fan"));
    let mut runner = Runner::new(&context, context.plugins.options.clone().unwrap());
    let mut ran = || {
        runner.round();
        let received = std::iter::from_fn(|| commands.try_recv().ok());
        received
            .filter(|command| matches!(command, HubCommand::Checked(_)))
            .count()
    };
    for _ in 0..3 {
        assert_eq!(ran(), 0);
    }
    context.hub.set_gpus(Vec::new());
    let until = Instant::now() + Duration::from_secs(20);
    while ran() == 0 {
        assert!(Instant::now() < until, "it is run");
    }
}

#[test]
fn without_a_folder_nothing_is_run() {
    let (hub, mut commands) = Hub::new(crate::hub::bare_status());
    hub.update_status(|status| status.sources = initial());
    let context = Context::bare(hub);
    SitePlugins.start(&context).unwrap();
    assert!(context.hub.tasks.statuses().is_empty());
    // What plugins found when there was one holds no longer.
    let command = commands.try_recv().unwrap();
    let none = |looked: &Looked| looked.there.as_ref().is_ok_and(BTreeSet::is_empty);
    assert!(
        matches!(&command, HubCommand::Looked(looked) if none(looked)),
        "{command:?}"
    );
    assert!(
        SitePlugins
            .supported(&context)
            .unwrap_err()
            .contains("`plugins`")
    );
    let nowhere = Plugins::new(Some(Options {
        folder: Path::new("/nonexistent/plugins.d").to_owned(),
        interval: SLEEP,
        deadline: SLEEP,
    }));
    let context = Context {
        plugins: Arc::new(nowhere),
        ..context
    };
    assert!(
        SitePlugins
            .supported(&context)
            .unwrap_err()
            .contains("cannot be read")
    );
}
