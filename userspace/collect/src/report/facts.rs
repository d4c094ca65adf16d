//! Which host the records are of, and what is known of it.

use gtrace_api::Status;
use gtrace_api::text::clean;
use gtrace_devices::{DriverVersion, ProcRoot};
use gtrace_engine::host;
use gtrace_event::{Event, Timestamp};
use gtrace_report::{Fact, Material, SnapshotPart};

/// How the records relate to this host: a store may be a copy of another one's.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// This host, since it booted.
    ThisBoot,
    /// This host, before it booted the last time.
    EarlierBoot,
    /// Another host.
    OtherHost,
    /// No record says.
    NotKnown,
}

impl Place {
    pub(super) fn of(material: &Material) -> Self {
        let newest = |of: fn(&Event) -> Option<&String>| material.events.iter().rev().find_map(of);
        let incident = material.incident.as_ref();
        let boot =
            newest(|event| event.boot_id.as_ref()).or(incident.and_then(|i| i.boot_id.as_ref()));
        let machine = newest(|event| event.machine_id.as_ref())
            .or(incident.and_then(|i| i.machine_id.as_ref()));
        match (boot, machine, host::machine_id()) {
            (Some(boot), _, _) if *boot == host::boot_id() => Self::ThisBoot,
            (_, Some(machine), Some(own)) if *machine == own => Self::EarlierBoot,
            (None, None, _) => Self::NotKnown,
            _ => Self::OtherHost,
        }
    }
}

/// Adds the host's name and versions. Those of the running kernel hold for records of this boot only.
pub(super) fn add(material: &mut Material, place: &Place) {
    let incident = material.incident.as_ref();
    let newest = material
        .events
        .iter()
        .rev()
        .find(|event| event.host.is_some());
    let name = incident
        .and_then(|i| i.host.clone())
        .or_else(|| newest?.host.clone());
    let boot = newest.and_then(|event| event.boot_id.clone());
    let machine = newest.and_then(|event| event.machine_id.clone());
    if let Some(name) = name {
        material.host = name;
    }
    let mut fact = |name: &str, value: Option<String>| {
        let fact = |value| Fact {
            name: name.to_owned(),
            value,
        };
        material.facts.extend(value.map(fact));
    };
    fact("Boot id", boot);
    fact("Machine id", machine);
    if *place == Place::ThisBoot {
        fact(
            "Kernel",
            Some(format!("{} {}", host::kernel_release(), host::machine())),
        );
        let driver = DriverVersion::read(&ProcRoot("/proc".into()));
        let driver = driver.map_or_else(|| "none is loaded".to_owned(), |driver| driver.version);
        fact("NVIDIA driver, when the report was made", Some(driver));
    } else {
        fact(
            "Versions",
            Some("not recorded: the records are not of this host's running kernel".to_owned()),
        );
    }
}

/// Who has a GPU open now.
pub(super) fn device_users(status: &Status, made: Timestamp) -> SnapshotPart {
    let mut text = format!("{:>8}  {:<16}  {:>5}  DEVICES\n", "PID", "NAME", "FILES");
    for user in &status.gpu_processes {
        let (name, devices) = (clean(&user.comm), user.devices.join(" "));
        text.push_str(&format!(
            "{:>8}  {name:<16}  {:>5}  {devices}\n",
            user.pid, user.open_files
        ));
    }
    if status.gpu_processes.is_empty() {
        text.push_str("(no process has a device of the driver open)\n");
    }
    SnapshotPart {
        name: format!("processes with a GPU open at {made}, when the report was made"),
        text,
        error: None,
    }
}
