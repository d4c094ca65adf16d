//! How gtrace itself and the host stand: `/healthz`, `/readyz`, `/version`, the status.

use super::*;

#[test]
fn the_health_of_the_host_is_shown_beside_that_of_gtrace_and_does_not_decide_it() {
    let daemon = Daemon::start();
    let reason = ["no answer within 5 s".to_owned()];
    let health = ComponentHealth::now(HealthState::Unhealthy, reason);
    let long = Duration::from_secs(3600);
    daemon.hub.set_health("nvml", health, long);
    daemon.hub.samples.publish(&Batch {
        component: "nvml",
        time: event(Kind::Xid, Severity::Info, HOUR, "").time,
        interval: long,
        metrics: vec![
            Metric::gauge(("gtrace_gpu_power_watts", "watts"), "Power drawn", 250.5)
                .with(vec![("gpu", "0000:3b:00.0".to_owned())]),
        ],
    });
    let client = daemon.client();
    let own = client.get::<Health>("/healthz").unwrap();
    assert!(own.ok, "{:?}", own.reasons);
    let of = |name: &str, components: &[ComponentStatus]| {
        let found = components.iter().find(|component| component.name == name);
        found.cloned().unwrap()
    };
    let nvml = of("nvml", &own.components).health.unwrap();
    assert_eq!(nvml.state, HealthState::Unhealthy);
    assert_eq!(of("driver_modules", &own.components).health, None);

    let status = client.get::<Status>("/api/v1/status").unwrap();
    assert_eq!(status.host_health.state, HealthState::Unhealthy);
    assert_eq!(status.host_health.reasons, ["nvml: no answer within 5 s"]);
    assert!(
        status
            .sources
            .iter()
            .all(|s| s.state == SourceState::Active)
    );
    let console = of("printk:console", &status.components);
    assert!(console.last_seen_age_s.unwrap() < 60.0, "{console:?}");
    let nvml = of("nvml", &status.components);
    assert_eq!(nvml.last_sample, nvml.last_seen);
    assert!(nvml.last_seen_age_s.unwrap() > 3600.0, "{nvml:?}");

    let metrics = client.get_text("/metrics").unwrap();
    for line in [
        "gtrace_host_health{state=\"unhealthy\"} 1",
        "gtrace_component_health{component=\"nvml\",state=\"unhealthy\"} 1",
        "gtrace_component_last_seen_seconds{component=\"nvml\"} 1772510400",
        "gtrace_gpu_power_watts{gpu=\"0000:3b:00.0\"} 250.5",
    ] {
        assert!(metrics.contains(line), "{line} in {metrics}");
    }
    assert!(!metrics.contains("gtrace_component_last_seen_seconds{component=\"cuda\"}"));

    let socket = daemon.dir.path().join("socket");
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_gtrace"));
    let output = command.arg("status").arg("--socket").arg(socket).output();
    let text = String::from_utf8(output.unwrap().stdout).unwrap();
    let line = "host      unhealthy: nvml: no answer within 5 s\n";
    assert!(text.contains(line), "{text}");
}

#[test]
fn health_names_a_failed_source_and_trouble_with_the_store() {
    let daemon = Daemon::start();
    daemon.hub.update_status(|status| {
        status.sources[0].state = SourceState::Failed;
        status.sources[0].reason = Some("no tracefs".into());
        status.store_problem = Some("disk full".into());
    });
    let (status, answer) = daemon.raw_unix("GET /healthz HTTP/1.0\r\n\r\n");
    assert_eq!(status, 503);
    assert!(
        answer.contains("source printk:console failed: no tracefs"),
        "{answer}"
    );
    assert!(answer.contains("store: disk full"), "{answer}");
}

#[test]
fn ready_is_who_reads_the_kernel_log_and_stores_it_whatever_else_is_down() {
    let daemon = Daemon::start();
    let client = daemon.tcp_client();
    let version = client.get::<Version>("/version").unwrap();
    assert_eq!((&*version.name, &*version.version), ("gtrace", "0.1.0"));
    assert_eq!(version.api, ["v1"]);
    assert!(client.get::<Ready>("/readyz").unwrap().ok);
    let asked = || daemon.raw_tcp("GET /readyz HTTP/1.0\r\nHost: localhost\r\n\r\n");
    // A pause and a source that fails make nobody unready who reads the log.
    daemon.hub.update_status(|status| {
        status.paused = true;
        let mut nvml = status.sources[0].clone();
        nvml.name = "nvml".into();
        nvml.witness = Some(WitnessName::Nvml);
        nvml.state = SourceState::Failed;
        status.sources.push(nvml);
    });
    assert_eq!(asked().0, 200);
    daemon.hub.update_status(|status| {
        status.sources[0].state = SourceState::Failed;
        status.store_problem = Some("disk full".into());
    });
    let (status, answer) = asked();
    assert_eq!(status, 503);
    for part in [
        "the kernel log is not read",
        "store: disk full",
        "\"ok\":false",
    ] {
        assert!(answer.contains(part), "{part}: {answer}");
    }
}

#[test]
fn health_says_that_gtrace_is_paused() {
    let daemon = Daemon::start();
    let health = || daemon.client().get::<Health>("/healthz").unwrap();
    assert_eq!((health().ok, health().state), (true, CaptureState::Ok));
    daemon.hub.update_status(|status| status.paused = true);
    assert_eq!((health().ok, health().state), (true, CaptureState::Paused));
    let (status, answer) = daemon.raw_tcp("GET /healthz HTTP/1.0\r\nHost: localhost\r\n\r\n");
    assert_eq!(status, 200);
    assert!(answer.contains(r#""state":"paused""#), "{answer}");
    daemon.hub.update_status(|status| {
        status.store_problem = Some("disk full".into());
    });
    let (status, answer) = daemon.raw_unix("GET /healthz HTTP/1.0\r\n\r\n");
    assert_eq!(status, 503);
    assert!(answer.contains(r#""state":"failed""#), "{answer}");
}
