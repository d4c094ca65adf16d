//! Remote GPUs: whether `gtrace serve` of this host answers. `/metrics` asks it at each scrape.

use std::time::Duration;

use gtrace_api::{ComponentHealth, HealthState, SourceState};

use super::{About, Component, Context, Snapshot, show};
use crate::hub::{Hub, RemoteAnswer};
use crate::supervise::names;

/// Name of the component.
pub const NAME: &str = "remoting";
const NONE: &str = "no gtrace serve on this host";
/// An answer says nothing of now when it is older: three scrapes by Prometheus's default of a minute.
const FRESH: Duration = Duration::from_secs(180);

/// Whether the configuration switches it off, so that nobody is asked.
pub fn is_off(hub: &Hub) -> bool {
    hub.state(NAME) == Some(SourceState::Off)
}

/// Shows what came of asking the server for its state.
pub fn observe(hub: &Hub, answer: RemoteAnswer) {
    hub.set_remote(answer);
    let (state, reason) = match answer {
        RemoteAnswer::Absent => (SourceState::Absent, Some(NONE)),
        RemoteAnswer::Answered => (SourceState::Active, None),
        RemoteAnswer::Silent => (SourceState::Degraded, Some("gtrace serve does not answer")),
    };
    if answer == RemoteAnswer::Answered {
        hub.saw(NAME);
    }
    show(hub, NAME, state, reason.map(str::to_owned));
}

/// The component.
#[derive(Clone, Copy, Debug)]
pub struct Remoting;

impl Component for Remoting {
    fn about(&self) -> About {
        About {
            name: NAME,
            gives: "sessions and calls of the clients of gtrace serve on this host, at each scrape of /metrics",
            needs: "a running gtrace serve with its status socket",
            remedy: "none needed unless this host shares its GPUs: gtrace serve",
            task: names::HTTP,
        }
    }

    fn supported(&self, _context: &Context) -> Result<(), String> {
        let socket = crate::remote::to_ask();
        match socket.exists() {
            true => Ok(()),
            false => Err(format!(
                "no gtrace serve: {} is not there",
                socket.display()
            )),
        }
    }

    fn start(&self, context: &Context) -> std::io::Result<()> {
        if !context.disabled.contains(&NAME) {
            let (state, reason) = match self.supported(context) {
                Ok(()) => (SourceState::Active, None),
                Err(reason) => (SourceState::Absent, Some(reason)),
            };
            show(&context.hub, NAME, state, reason);
        }
        Ok(())
    }

    /// Degraded if the server was asked and did not answer.
    fn check(&self, context: &Context, _now: &Snapshot) -> ComponentHealth {
        let (state, reason) = match context.hub.remote() {
            None => (
                HealthState::Unknown,
                Some("not asked yet: /metrics does".to_owned()),
            ),
            Some((_, age)) if age > FRESH => {
                let reason = format!("not asked for {} s: /metrics does", age.as_secs());
                (HealthState::Unknown, Some(reason))
            }
            Some((RemoteAnswer::Absent, _)) => (HealthState::Unknown, Some(NONE.to_owned())),
            Some((RemoteAnswer::Answered, _)) => (HealthState::Healthy, None),
            Some((RemoteAnswer::Silent, age)) => {
                let age = age.as_secs();
                let reason = format!("gtrace serve did not answer when asked {age} s ago");
                (HealthState::Degraded, Some(reason))
            }
        };
        ComponentHealth::now(state, reason)
    }
}
