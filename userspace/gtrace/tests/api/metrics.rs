//! `/metrics`, and the alerts that read it.

use super::*;

#[test]
fn metrics_are_well_formed_in_both_formats() {
    let daemon = Daemon::start();
    let event = xid("0000:3b:00.0", 79, Severity::Fatal, HOUR);
    let counted = Counted::from(&event);
    for (provenance, n) in [(Provenance::Kernel, 3), (Provenance::Injected, 2)] {
        let metrics = &daemon.hub.metrics;
        metrics.count_event(&counted, provenance, true, n);
    }
    daemon.hub.update_status(|status| {
        let open = |n| [("fatal".to_owned(), n)].into();
        status.events = open(1);
        status.events_apart = [("injected".to_owned(), open(4))].into();
    });
    let call = |pid, device: &str, gpu: Option<&str>, p50_ns| CallStats {
        pid,
        comm: "python3".into(),
        device: device.to_owned(),
        gpu: gpu.map(|gpu| gpu.parse().unwrap()),
        ioctl: "0xc020462a".into(),
        op: Some("RM_CONTROL".into()),
        code: Some("0x20800102".into()),
        code_name: Some("NV2080_CTRL_CMD_GPU_GET_INFO_V2".into()),
        count: 10,
        errors: 1,
        failures: 2,
        statuses: vec![CallFailures {
            status: "0x51".into(),
            name: Some("NV_ERR_NO_MEMORY".into()),
            count: 2,
        }],
        total_ns: 1_000_000,
        p50_ns,
        p90_ns: 2000,
        p99_ns: 3000,
        p999_ns: 4000,
        max_ns: 5000,
        buckets: Vec::new(),
    };
    let own = Some("0000:3b:00.0");
    daemon.hub.set_calls(vec![
        call(1, "nvidia0", own, 1000),
        call(2, "nvidia0", own, 1500),
        call(2, "nvidiactl", None, 700),
        call(3, "240:7", None, 700),
        call(3, "240:8", None, 700),
    ]);
    let get = |accept: &str| {
        daemon.raw_tcp(&format!(
            "GET /metrics HTTP/1.0\r\nHost: localhost\r\nAccept: {accept}\r\n\r\n"
        ))
    };
    let (_, open_metrics) = get("application/openmetrics-text;version=1.0.0");
    assert!(open_metrics.contains("application/openmetrics-text; version=1.0.0; charset=utf-8"));
    assert!(open_metrics.ends_with("# EOF\n"));
    for line in [
        "gtrace_xid_total{gpu=\"0000:3b:00.0\",xid=\"79\",provenance=\"kernel\"} 3",
        "gtrace_xid_total{gpu=\"0000:3b:00.0\",xid=\"79\",provenance=\"injected\"} 2",
        "gtrace_events_total{kind=\"xid\",severity=\"fatal\",gpu=\"0000:3b:00.0\",provenance=\"injected\"} 2",
        "gtrace_open_events{severity=\"fatal\",provenance=\"kernel\"} 1.0",
        "gtrace_open_events{severity=\"fatal\",provenance=\"injected\"} 4.0",
        "gtrace_source_state{source=\"printk:console\",state=\"active\"} 1",
        "gtrace_source_lost_total{source=\"printk:console\"} 1",
        "gtrace_driver_calls_total{op=\"RM_CONTROL\",code=\"NV2080_CTRL_CMD_GPU_GET_INFO_V2\",\
         device=\"nvidia0\",gpu=\"0000:3b:00.0\"} 20",
        "gtrace_driver_calls_total{op=\"RM_CONTROL\",code=\"NV2080_CTRL_CMD_GPU_GET_INFO_V2\",\
         device=\"nvidiactl\"} 10",
        "gtrace_driver_calls_total{op=\"RM_CONTROL\",code=\"NV2080_CTRL_CMD_GPU_GET_INFO_V2\",\
         device=\"other\"} 20",
        "gtrace_driver_call_errors_total{op=\"RM_CONTROL\",\
         code=\"NV2080_CTRL_CMD_GPU_GET_INFO_V2\",device=\"nvidia0\",gpu=\"0000:3b:00.0\"} 2",
        "gtrace_driver_call_time_seconds_total{op=\"RM_CONTROL\",\
         code=\"NV2080_CTRL_CMD_GPU_GET_INFO_V2\",device=\"nvidiactl\"} 0.001",
        "gtrace_driver_call_latency_seconds{op=\"RM_CONTROL\",\
         code=\"NV2080_CTRL_CMD_GPU_GET_INFO_V2\",device=\"nvidia0\",gpu=\"0000:3b:00.0\",\
         percentile=\"50\"} 0.0000015",
        "gtrace_driver_call_failures_total{op=\"RM_CONTROL\",\
         code=\"NV2080_CTRL_CMD_GPU_GET_INFO_V2\",device=\"nvidia0\",gpu=\"0000:3b:00.0\",\
         status=\"NV_ERR_NO_MEMORY\"} 4",
        "gtrace_paused 0.0",
        "gtrace_build_info{version=\"0.1.0\"} 1",
    ] {
        assert!(
            open_metrics.contains(line),
            "{line} is not in\n{open_metrics}"
        );
    }
    let (_, prometheus) = get("text/plain;version=0.0.4");
    assert!(prometheus.contains("# TYPE gtrace_xid_total counter"));
    assert!(!prometheus.contains("# EOF") && !prometheus.contains("# UNIT"));
    for text in [&open_metrics, &prometheus] {
        let mut families: Vec<&str> = text.lines().filter(|l| l.starts_with("# TYPE ")).collect();
        let all = families.len();
        families.sort_unstable();
        families.dedup();
        assert_eq!(families.len(), all);
        let samples: Vec<&str> = text.lines().filter(|l| l.starts_with("gtrace_")).collect();
        assert!(
            samples.iter().all(|s| s.split(' ').count() == 2),
            "{samples:?}"
        );
    }
}

#[test]
fn the_documented_alerts_are_about_what_the_kernel_wrote() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/api.md");
    let docs = std::fs::read_to_string(path).unwrap();
    let rules = docs
        .split("```")
        .find(|block| block.starts_with("yaml\ngroups:"));
    let rules = rules.unwrap();
    let mut found = 0;
    for family in [
        "gtrace_events_total",
        "gtrace_xid_total",
        "gtrace_open_events",
    ] {
        for (at, _) in rules.match_indices(family) {
            let labels = rules[at + family.len()..].split('}').next().unwrap();
            assert!(labels.starts_with('{'), "{family}{labels}");
            assert!(labels.contains("provenance=\"kernel\""), "{family}{labels}");
            found += 1;
        }
    }
    assert!(found > 2, "{rules}");
}
