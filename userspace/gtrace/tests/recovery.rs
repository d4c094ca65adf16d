//! What a GPU's driver asks for: from the CPU emulator's NVML through a daemon that is started later to its events, incidents
//! and health.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::panic,
    reason = "only tests use it"
)]

#[path = "support/nvml_daemon.rs"]
mod nvml_daemon;

use gtrace_event::{Event, HealthAction, HealthState, Incident};
use nvml_daemon::Daemon;

fn events(daemon: &Daemon) -> Vec<Event> {
    let path = "/api/v1/events?kind=recovery_action";
    daemon.client.get(path).unwrap()
}

#[test]
fn a_host_whose_driver_asked_for_a_reset_before_the_daemon_was_started_is_unhealthy_until_it_asks_for_none()
 {
    let daemon = Daemon::start("recovery=1");
    let gpu = daemon.reasons(&["recovery-reset"]);
    assert_eq!(
        (gpu.state, gpu.action),
        (HealthState::Unhealthy, HealthAction::ResetGpu)
    );
    assert_eq!(daemon.run(&["health"]).status.code(), Some(1));
    let event = daemon.event("recovery_action");
    assert_eq!(
        event.message,
        "the driver asks for a recovery action: GPU Reset Required"
    );
    let metrics = daemon.client.get_text("/metrics").unwrap();
    let has_value =
        |line: &str| line.starts_with("gtrace_gpu_recovery_action{") && line.ends_with(" 1.0");
    assert!(metrics.lines().any(has_value), "{metrics}");
    let (scan, code) = daemon.scan();
    let found = scan.subjects.iter().find(|one| one.subject == gpu.subject);
    let rules = found.unwrap().reasons.iter().map(|reason| &*reason.rule);
    assert_eq!(rules.collect::<Vec<_>>(), ["recovery-reset"]);
    assert_eq!(code, Some(1));
    // It is killed; meanwhile nothing changes.
    let daemon = daemon.restart();
    daemon.reasons(&["recovery-reset"]);
    daemon.until("samples", |client| {
        let metrics = client.get_text("/metrics").ok()?;
        metrics.lines().any(has_value).then_some(())
    });
    // The driver asks for more.
    daemon.control("recovery=2");
    let gpu = daemon.reasons(&["recovery-reboot"]);
    assert_eq!(gpu.action, HealthAction::Reboot);
    let found = events(&daemon);
    assert_eq!(found.len(), 2, "{found:#?}");
    let incidents: Vec<Incident> = daemon.client.get("/api/v1/incidents").unwrap();
    assert_eq!(incidents.len(), 1, "{incidents:#?}");
    daemon.control("recovery=0");
    // Without the kernel log nobody calls it healthy.
    let gpu = daemon.reasons(&[]);
    assert!(!gpu.state.is_bad() && gpu.action == HealthAction::None);
}
