//! The main thread while the daemon runs: supervises the tasks, feeds systemd's watchdog and keeps the footprint small until the
//! daemon is to end.

use std::time::{Duration, Instant};

use gtrace_event::WitnessName;

use super::footprint::Footprint;
use crate::hub::Hub;
use crate::input::{Input, InputSender};
use crate::sources::devices::source_lost;
use crate::supervise::{Loss, Timer};

/// Shortest time between checks of the tasks.
const TICK_MIN: Duration = Duration::from_millis(50);
/// Between attempts to report what the core has no room for.
const REPORT_AGAIN: Duration = Duration::from_secs(2);

/// How the daemon ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// As it was asked to.
    InOrder,
    /// A task was gone that only a new process brings back.
    Lost(Loss),
    /// It was asked to, and this task does not end.
    Hung(&'static str),
}

pub(super) fn notify(state: &[sd_notify::NotifyState<'_>]) {
    if let Err(error) = sd_notify::notify(state) {
        tracing::debug!("systemd was not notified: {error}");
    }
}

/// Supervises until the daemon is `asked` to end, or a task is lost that only a new process brings back.
pub(super) async fn watch_over(
    hub: &Hub,
    inputs: &InputSender,
    asked: impl Future<Output = anyhow::Result<()>>,
) -> anyhow::Result<Option<Loss>> {
    tokio::pin!(asked);
    let watchdog = sd_notify::watchdog_enabled().map(|period| period / 2);
    let mut fed = Instant::now();
    let mut reports = Vec::new();
    let mut unfit = None;
    let mut footprint = Footprint::new();
    let timer = Timer::new()?;
    loop {
        footprint.poll(hub);
        let mut wait = hub.tasks.next_tick(Instant::now());
        if !reports.is_empty() {
            wait = wait.min(REPORT_AGAIN);
        }
        let wait = watchdog.map_or(wait, |half| wait.min(half)).max(TICK_MIN);
        tokio::select! {
            asked = &mut asked => return asked.map(|()| None),
            () = hub.tasks.changed() => {}
            over = timer.sleep(wait) => over?,
        }
        let now = Instant::now();
        reports.extend(hub.tasks.tick(now));
        // While the core has no room they wait.
        reports.retain(|loss| !report(loss, inputs));
        if let Some(loss) = hub.tasks.lost() {
            return Ok(Some(loss));
        }
        let reason = hub.tasks.unfit(now);
        if reason != unfit {
            match &reason {
                Some(reason) => tracing::error!("unfit, so the watchdog is not fed: {reason}"),
                None => tracing::info!("fit again"),
            }
            unfit = reason;
        }
        if unfit.is_none() && watchdog.is_some_and(|period| now.duration_since(fed) >= period / 2) {
            fed = now;
            notify(&[sd_notify::NotifyState::Watchdog]);
        }
    }
}

fn report(loss: &Loss, inputs: &InputSender) -> bool {
    let observation = source_lost(loss.task, &loss.reason);
    inputs
        .try_send(Input::once(WitnessName::Gtrace, observation))
        .is_ok()
}
