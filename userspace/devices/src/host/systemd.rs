//! What systemd says of services, over D-Bus.
//!
//! Source: org.freedesktop.systemd1(5): `ListUnitsByNames` of the manager (systemd 230), `Result` and `NRestarts` of a service (235).
//! Reading them takes no right. Everything together has one deadline; whoever calls goes by control groups where it is missed.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use tokio::net::UnixStream;
use zbus::connection::Builder;
use zbus::{Connection, OwnedObjectPath, OwnedVariant, fdo};

/// For all questions together.
pub(super) const DEADLINE: Duration = Duration::from_secs(1);
/// The system bus, below the root of the host.
const BUS: &str = "run/dbus/system_bus_socket";
const SYSTEMD: &str = "org.freedesktop.systemd1";
const MANAGER_PATH: &str = "/org/freedesktop/systemd1";
const MANAGER: &str = "org.freedesktop.systemd1.Manager";
const SERVICE: &str = "org.freedesktop.systemd1.Service";
const PROPERTIES: &str = "org.freedesktop.DBus.Properties";
/// Longest word of systemd that is taken over.
const WORD_MAX: usize = 40;

/// How a unit is, in systemd's word `ActiveState`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Active {
    /// It runs, or has done its work and counts as on: `active`, `reloading`, `refreshing`.
    On,
    /// It is being started or stopped: `activating`, `deactivating`, `maintenance`.
    Between,
    /// `inactive`.
    Off,
    /// `failed`.
    Failed,
}

/// What systemd says of a service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Unit {
    pub(super) active: Active,
    /// Nobody and nothing can start it.
    pub(super) masked: bool,
    /// `running`, `exited`, `auto-restart` and others.
    pub(super) sub: String,
    /// How it last ended: `success`, `exit-code` and others.
    pub(super) result: Option<String>,
    /// How often systemd has restarted it by itself, since somebody last started it.
    pub(super) restarts: Option<u32>,
}

/// Asks the systemd of the host whose root is `root` for these services, named without `.service`. Those that it does not know
/// are left out.
///
/// # Errors
///
/// Why it could not be asked, or what of its answer makes no sense.
pub(super) fn ask(
    root: &Path,
    units: &[&'static str],
    deadline: Duration,
) -> Result<BTreeMap<&'static str, Unit>, String> {
    let socket = root.join(BUS);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .enable_time()
        .build()
        .map_err(|error| format!("no runtime for D-Bus: {error}"))?;
    runtime.block_on(async {
        match tokio::time::timeout(deadline, read(&socket, units)).await {
            Ok(read) => read,
            Err(_) => Err(format!(
                "systemd has not answered over D-Bus for {deadline:?}"
            )),
        }
    })
}

type Listed = (
    String,
    String,
    String,
    String,
    String,
    String,
    OwnedObjectPath,
    u32,
    String,
    OwnedObjectPath,
);

async fn read(
    socket: &Path,
    units: &[&'static str],
) -> Result<BTreeMap<&'static str, Unit>, String> {
    let no_bus = |error: std::io::Error| format!("no D-Bus at {}: {error}", socket.display());
    let stream = UnixStream::connect(socket).await.map_err(no_bus)?;
    let stream = stream.into_std().map_err(no_bus)?;
    let failed = |error: zbus::Error| format!("D-Bus: {}", brief(&error.to_string()));
    let bus = Builder::unix_stream(stream).build().await.map_err(failed)?;
    let names: Vec<String> = units.iter().map(|unit| format!("{unit}.service")).collect();
    let reply = bus
        .call_method(
            Some(SYSTEMD),
            MANAGER_PATH,
            Some(MANAGER),
            "ListUnitsByNames",
            &(names,),
        )
        .await
        .map_err(failed)?;
    let listed: Vec<Listed> = reply.body().deserialize().map_err(failed)?;
    let mut found = BTreeMap::new();
    for (name, _, load, active, sub, _, path, ..) in listed {
        let Some(unit) = units
            .iter()
            .find(|unit| name.strip_suffix(".service") == Some(unit))
        else {
            continue;
        };
        if load == "not-found" {
            continue;
        }
        let active = match active.as_str() {
            "active" | "reloading" | "refreshing" => Active::On,
            "activating" | "deactivating" | "maintenance" => Active::Between,
            "inactive" => Active::Off,
            "failed" => Active::Failed,
            other => return Err(format!("systemd calls {name} {}", brief(other))),
        };
        let result = property(&bus, &path, "Result").await?;
        let restarts = property(&bus, &path, "NRestarts").await?;
        found.insert(
            *unit,
            Unit {
                active,
                masked: load == "masked",
                sub: brief(&sub),
                result: result
                    .and_then(|value| String::try_from(value).ok())
                    .map(|word| brief(&word)),
                restarts: restarts.and_then(|value| u32::try_from(value).ok()),
            },
        );
    }
    Ok(found)
}

/// A property of a service; `None` where this version of systemd has none of that name.
async fn property(
    bus: &Connection,
    path: &OwnedObjectPath,
    name: &str,
) -> Result<Option<OwnedVariant>, String> {
    let reply = bus
        .call_method(
            Some(SYSTEMD),
            path,
            Some(PROPERTIES),
            "Get",
            &(SERVICE, name),
        )
        .await;
    match reply {
        Ok(reply) => Ok(reply.body().deserialize().ok()),
        Err(zbus::Error::FDO(error)) if matches!(*error, fdo::Error::UnknownProperty(_)) => {
            Ok(None)
        }
        Err(error) => Err(format!("D-Bus: {}", brief(&error.to_string()))),
    }
}

/// The beginning of what another process said, fit for a line.
fn brief(text: &str) -> String {
    let most = if text.contains(' ') { 200 } else { WORD_MAX };
    text.chars()
        .filter(|c| !c.is_control())
        .take(most)
        .collect()
}

#[cfg(test)]
#[path = "systemd_tests.rs"]
mod tests;
