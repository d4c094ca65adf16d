//! The watch over RDMA ports on fake sysfs trees.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use std::fs;
use std::path::PathBuf;

use gtrace_devices::RdmaState::{self, Absent, Degraded, Healthy, Unhealthy};
use gtrace_devices::{Observed, RdmaExpected, RdmaHealth, RdmaWatch, SysRoot};
use gtrace_event::PortChange::{
    self, Bounced, Down, Enough, Flapping, FullSpeed, Slow, TooFew, Up,
};
use gtrace_event::{Kind, Severity, Timestamp, WitnessName};
use support::Stuck;

/// A fake /sys with RDMA devices.
struct Sys(tempfile::TempDir);

impl Sys {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn root(&self) -> SysRoot {
        SysRoot(self.0.path().to_owned())
    }

    fn port(&self, device: &str, port: u32) -> PathBuf {
        let class = self.0.path().join("class/infiniband");
        class.join(device).join("ports").join(port.to_string())
    }

    /// A port that is active at 400 Gb/s.
    fn add(&self, device: &str, port: u32) {
        let dir = self.port(device, port);
        for folder in ["counters", "hw_counters"] {
            fs::create_dir_all(dir.join(folder)).unwrap();
        }
        for (file, content) in [
            ("link_layer", "InfiniBand"),
            ("state", "4: ACTIVE"),
            ("phys_state", "5: LinkUp"),
            ("rate", "400 Gb/sec (4X NDR)"),
            ("counters/symbol_error", "0"),
            ("counters/link_downed", "0"),
            ("counters/port_xmit_data", "1000"),
            ("hw_counters/packet_seq_err", "0"),
            ("hw_counters/req_transport_retries_exceeded", "0"),
        ] {
            fs::write(dir.join(file), format!("{content}\n")).unwrap();
        }
    }

    /// Changes a file of a device's first port.
    fn set(&self, device: &str, file: &str, content: &str) {
        fs::write(self.port(device, 1).join(file), format!("{content}\n")).unwrap();
    }

    fn down(&self, device: &str) {
        self.set(device, "state", "1: DOWN");
        self.set(device, "phys_state", "2: Polling");
    }

    fn up(&self, device: &str) {
        self.set(device, "state", "4: ACTIVE");
        self.set(device, "phys_state", "5: LinkUp");
    }

    fn rate(&self, device: &str, rate: &str) {
        self.set(device, "rate", rate);
    }

    /// A counter of mlx5_0.
    fn count(&self, counter: &str, value: u64) {
        self.set("mlx5_0", counter, &value.to_string());
    }

    fn remove(&self, device: &str) {
        fs::remove_dir_all(self.0.path().join("class/infiniband").join(device)).unwrap();
    }

    fn watch(&self) -> RdmaWatch {
        RdmaWatch::new(self.root(), RdmaExpected::default())
    }
}

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_772_500_000 + second).unwrap()
}

fn changes(events: &[Observed]) -> Vec<PortChange> {
    let of = |event: &Observed| {
        assert_eq!(event.witness, WitnessName::SysfsRdma);
        assert_eq!(event.occurrence.kind, Kind::RdmaPort);
        event.occurrence.detail.rdma.port_change.unwrap()
    };
    events.iter().map(of).collect()
}

/// The changes that a poll reports, of which each event is one, and the state after it.
fn poll(watch: &mut RdmaWatch, second: i64) -> (Vec<PortChange>, RdmaState) {
    let report = watch.poll_now(at(second));
    (changes(&report.events), report.health.state)
}

/// One device.
fn one_device() -> Sys {
    let sys = Sys::new();
    sys.add("mlx5_0", 1);
    sys
}

/// One device, after the first poll.
fn watched() -> (Sys, RdmaWatch) {
    let sys = one_device();
    let mut watch = sys.watch();
    watch.poll_now(at(0));
    (sys, watch)
}

#[test]
fn ports_are_read_with_what_they_have() {
    let sys = Sys::new();
    let ports = || sys.watch().poll_now(at(0)).health.ports;
    assert!(ports().is_empty());
    sys.add("mlx5_1", 1);
    sys.add("mlx5_0", 1);
    std::os::unix::fs::symlink(
        "../../../0000:19:00.0",
        sys.0.path().join("class/infiniband/mlx5_0/device"),
    )
    .unwrap();
    fs::create_dir_all(sys.port("mlx5_0", 1).join("gid_attrs/ndevs")).unwrap();
    fs::write(sys.port("mlx5_0", 1).join("gid_attrs/ndevs/0"), "ib0\n").unwrap();
    fs::create_dir_all(sys.port("broken", 1)).unwrap();
    let ports = ports();
    let names: Vec<_> = ports.iter().map(|port| port.name()).collect();
    assert_eq!(
        names,
        ["mlx5_0 port 1", "mlx5_1 port 1"],
        "and none without state"
    );
    let port = &ports[0];
    assert!(port.active);
    assert_eq!(port.physical_state.as_deref(), Some("LinkUp"));
    assert_eq!((port.rate_gbps, port.lanes), (Some(400.0), Some(4)));
    assert_eq!(port.pci, Some("0000:19:00.0".parse().unwrap()));
    assert_eq!(port.network_interface.as_deref(), Some("ib0"));
    assert_eq!(port.counters["port_xmit_data"], 1000);
    assert!(!port.counters.contains_key("rcvd_seq_err"));
}

#[test]
fn a_port_that_goes_down_and_comes_back_is_reported_once_each() {
    let sys = one_device();
    sys.add("mlx5_1", 1);
    sys.down("mlx5_1");
    let mut watch = sys.watch();
    let first = watch.poll_now(at(0));
    assert!(
        first.events.is_empty(),
        "what is down at the start is not expected"
    );
    assert_eq!(first.health.state, Healthy);
    assert_eq!(
        (first.health.active_ports, first.health.expected_ports),
        (1, 1)
    );

    sys.down("mlx5_0");
    let report = watch.poll_now(at(10));
    assert_eq!(changes(&report.events), [Down]);
    let event = &report.events[0].occurrence;
    assert_eq!(event.severity, Severity::Critical);
    assert_eq!(event.detail.rdma.rdma_device.as_deref(), Some("mlx5_0"));
    assert_eq!(event.detail.rdma.physical_state.as_deref(), Some("Polling"));
    assert_eq!(report.health.state, Unhealthy);
    assert!(report.health.reasons[0].contains("mlx5_0 port 1 is DOWN (Polling)"));
    assert!(watch.poll_now(at(20)).events.is_empty(), "once");

    sys.up("mlx5_0");
    assert_eq!(poll(&mut watch, 30), (vec![Up], Healthy));
}

/// So who was restarted meanwhile learns that it is over.
#[test]
fn what_is_well_when_it_is_first_seen_stands_once() {
    let sys = Sys::new();
    for device in ["mlx5_0", "mlx5_1", "mlx5_2"] {
        sys.add(device, 1);
    }
    sys.down("mlx5_1");
    sys.rate("mlx5_2", "100 Gb/sec (2X HDR)");
    let of = |standing: &[Observed]| {
        let devices = standing
            .iter()
            .map(|seen| seen.occurrence.detail.rdma.rdma_device.clone());
        let changes = changes(standing).into_iter();
        changes.zip(devices).collect::<Vec<_>>()
    };
    let on = |change: PortChange, device: &str| (change, Some(device.to_owned()));
    let mut watch = sys.watch();
    let first = watch.poll_now(at(0));
    assert!(first.events.is_empty());
    assert_eq!(
        of(&first.standing),
        [
            on(Up, "mlx5_0"),
            on(FullSpeed, "mlx5_0"),
            // Nobody knows whether it was faster.
            on(Up, "mlx5_2"),
        ]
    );
    assert!(watch.poll_now(at(10)).standing.is_empty());
    sys.up("mlx5_1");
    sys.rate("mlx5_2", "400 Gb/sec (4X NDR)");
    let later = watch.poll_now(at(20));
    assert!(later.events.is_empty());
    assert_eq!(
        of(&later.standing),
        [
            on(Up, "mlx5_1"),
            on(FullSpeed, "mlx5_1"),
            on(FullSpeed, "mlx5_2"),
        ]
    );
    assert!(watch.poll_now(at(30)).standing.is_empty());
    let expected = RdmaExpected {
        ports: Some(3),
        rate_gbps: Some(400.0),
    };
    let mut watch = RdmaWatch::new(sys.root(), expected);
    let standing = watch.poll_now(at(40)).standing;
    let enough = (Enough, None);
    assert_eq!(of(&standing).last(), Some(&enough));
    assert_eq!(standing.len(), 7);
    assert!(watch.poll_now(at(50)).standing.is_empty());
}

#[test]
fn what_happens_between_two_polls_is_seen_by_its_counter_and_three_times_are_flapping() {
    let (sys, mut watch) = watched();
    sys.count("counters/link_downed", 1);
    assert_eq!(poll(&mut watch, 10).0, [Bounced]);
    sys.count("counters/link_downed", 3);
    let report = watch.poll_now(at(20));
    assert_eq!(changes(&report.events), [Bounced, Flapping]);
    assert_eq!(report.events[0].count, 2);
    assert_eq!(report.health.state, Degraded);
    sys.count("counters/link_downed", 4);
    assert_eq!(
        poll(&mut watch, 30).0,
        [Bounced],
        "an episode is reported once"
    );
    // Ten quiet minutes end it.
    assert_eq!(poll(&mut watch, 700), (vec![], Healthy));
}

#[test]
fn a_port_that_flaps_slowly_enough_to_be_seen_is_flapping_too() {
    let (sys, mut watch) = watched();
    let mut reported = Vec::new();
    for round in 0..3 {
        sys.down("mlx5_0");
        reported.extend(changes(&watch.poll_now(at(round * 60 + 10)).events));
        sys.up("mlx5_0");
        reported.extend(changes(&watch.poll_now(at(round * 60 + 20)).events));
    }
    assert_eq!(reported, [Down, Up, Down, Up, Down, Flapping, Up]);
}

#[test]
fn a_port_that_flaps_on_is_reported_again_every_half_hour() {
    let (sys, mut watch) = watched();
    let mut reported = Vec::new();
    for minute in 0..65_i64 {
        sys.count("counters/link_downed", minute.unsigned_abs() + 1);
        let changes = changes(&watch.poll_now(at(minute * 60)).events);
        if changes.contains(&Flapping) {
            reported.push(minute);
        }
    }
    assert_eq!(reported, [2, 32, 62]);
}

#[test]
fn a_port_that_is_slower_than_it_was_is_reported_until_it_is_not() {
    let (sys, mut watch) = watched();
    sys.rate("mlx5_0", "200 Gb/sec (2X NDR)");
    let report = watch.poll_now(at(10));
    assert_eq!(changes(&report.events), [Slow]);
    let rdma = &report.events[0].occurrence.detail.rdma;
    assert_eq!(
        (rdma.rate_gbps, rdma.expected_rate_gbps),
        (Some(200.0), Some(400.0))
    );
    assert_eq!(report.health.state, Degraded);
    assert!(watch.poll_now(at(20)).events.is_empty());
    sys.rate("mlx5_0", "400 Gb/sec (4X NDR)");
    assert_eq!(poll(&mut watch, 30), (vec![FullSpeed], Healthy));
}

#[test]
fn what_the_configuration_expects_is_judged_from_the_start_though_not_at_the_first_poll() {
    let sys = one_device();
    sys.add("mlx5_1", 1);
    sys.rate("mlx5_1", "200 Gb/sec (2X NDR)");
    let expected = RdmaExpected {
        ports: Some(2),
        rate_gbps: Some(400.0),
    };
    let mut watch = RdmaWatch::new(sys.root(), expected);
    assert_eq!(poll(&mut watch, 0).0, [Slow]);
    let report = watch.poll_now(at(10));
    assert_eq!(changes(&report.events), [TooFew]);
    let rdma = &report.events[0].occurrence.detail.rdma;
    assert_eq!((rdma.active_ports, rdma.expected_ports), (Some(1), Some(2)));
    assert_eq!(report.health.state, Unhealthy);
    sys.rate("mlx5_1", "400 Gb/sec (4X NDR)");
    assert_eq!(poll(&mut watch, 20).0, [FullSpeed, Enough]);
    // A host that should have ports and has none at all.
    let none = Sys::new();
    let mut watch = RdmaWatch::new(none.root(), expected);
    watch.poll_now(at(0));
    assert_eq!(poll(&mut watch, 10).0, [TooFew]);
}

#[test]
fn a_device_that_is_gone_is_one_event_and_its_return_another() {
    let sys = one_device();
    sys.add("mlx5_0", 2);
    let mut watch = sys.watch();
    watch.poll_now(at(0));
    sys.remove("mlx5_0");
    let report = watch.poll_now(at(10));
    assert_eq!(report.events.len(), 1, "two ports and one device");
    let event = &report.events[0].occurrence;
    assert_eq!(
        (event.kind, event.severity),
        (Kind::RdmaLost, Severity::Critical)
    );
    assert_eq!(event.message, "the RDMA device mlx5_0 is gone");
    assert_eq!(report.health.state, Unhealthy);
    assert!(watch.poll_now(at(20)).events.is_empty());
    sys.add("mlx5_0", 1);
    sys.add("mlx5_0", 2);
    assert_eq!(poll(&mut watch, 30), (vec![Up, Up], Healthy));
}

#[test]
fn counters_are_reported_above_their_limit_within_an_hour_and_old_ones_never() {
    let sys = one_device();
    sys.count("counters/symbol_error", 5000);
    let mut watch = sys.watch();
    assert!(
        watch.poll_now(at(0)).events.is_empty(),
        "counted before the start"
    );
    sys.count("counters/symbol_error", 5010);
    assert!(
        watch.poll_now(at(10)).events.is_empty(),
        "ten in an hour are in order"
    );
    // Eleven within the hour of the first.
    sys.count("counters/symbol_error", 5011);
    let report = watch.poll_now(at(20));
    assert_eq!(report.events.len(), 1);
    let event = &report.events[0];
    assert_eq!((event.occurrence.kind, event.count), (Kind::RdmaErrors, 1));
    let sample = &event.occurrence.detail.sample;
    assert_eq!(
        (sample.previous, sample.value, sample.limit),
        (Some(5000.0), Some(5011.0), Some(10.0))
    );
    assert_eq!(report.health.state, Degraded);
    // Ten more, spread over two hours.
    for n in 1..=20 {
        sys.count("counters/symbol_error", 5011 + n);
        assert!(
            watch.poll_now(at(20 + 600 * n as i64)).events.is_empty(),
            "{n}"
        );
    }
    assert_eq!(watch.poll_now(at(14_000)).health.state, Healthy);
    // Reset with the driver: all of it is new.
    sys.count("counters/symbol_error", 12);
    let report = watch.poll_now(at(14_010));
    let sample = &report.events[0].occurrence.detail.sample;
    assert_eq!((sample.previous, sample.value), (Some(0.0), Some(12.0)));
}

#[test]
fn errors_that_go_on_are_reported_once_an_hour_and_are_trouble_until_they_end() {
    let (sys, mut watch) = watched();
    // 5,000 a second for three hours, and 300 s without.
    let mut reported = Vec::new();
    for round in 1..=1110 {
        let counted = 50_000 * u64::min(round, 1080);
        sys.count("hw_counters/packet_seq_err", counted);
        let now = 10 * round as i64;
        let report = watch.poll_now(at(now));
        assert_eq!(report.health.state, Degraded, "{now}");
        for event in report.events {
            let sample = &event.occurrence.detail.sample;
            let rose = sample.value.unwrap() - sample.previous.unwrap();
            reported.push((now, rose, event.count));
        }
    }
    let hour = 360.0 * 50_000.0;
    assert_eq!(
        reported,
        [(10, 5e4, 1), (3610, hour, 1), (7210, hour, 1)],
        "and none of what was reported already"
    );
    let report = watch.poll_now(at(10_800 + 3590));
    assert_eq!(report.health.state, Degraded);
    let report = watch.poll_now(at(10_800 + 3600));
    assert!(report.events.is_empty(), "it ended an hour ago");
    assert_eq!(report.health.state, Healthy);
}

#[test]
fn an_hour_is_an_hour_however_often_ports_are_looked_at() {
    let sys = one_device();
    let mut watch = sys.watch();
    let mut reported = Vec::new();
    for now in (0..3600_i64).step_by(2) {
        sys.count("counters/symbol_error", now as u64 / 300);
        let events = watch.poll_now(at(now)).events;
        reported.extend(events.iter().map(|_| now));
    }
    assert_eq!(reported, [3300], "the eleventh");
}

#[test]
fn a_counter_that_was_reset_between_two_readings_that_are_kept_is_new() {
    let sys = one_device();
    let mut watch = sys.watch();
    for (second, value) in [(0, 2), (1, 12)] {
        sys.count("counters/symbol_error", value);
        assert!(watch.poll_now(at(second)).events.is_empty());
    }
    sys.count("counters/symbol_error", 11);
    let report = watch.poll_now(at(2));
    let sample = &report.events[0].occurrence.detail.sample;
    assert_eq!((sample.previous, sample.value), (Some(0.0), Some(11.0)));
}

#[test]
fn a_counter_of_the_link_at_its_end_is_trouble_until_it_is_reset() {
    for (file, before, end) in [
        ("counters/local_link_integrity_errors", 12, 15),
        ("counters/local_link_integrity_errors", 2, 15),
        ("counters/link_error_recovery", 250, 255),
        ("counters/link_downed", 254, 255),
        ("counters/symbol_error", 65_530, 65_535),
    ] {
        let counter = file.trim_start_matches("counters/");
        let sys = Sys::new();
        sys.add("mlx5_0", 1);
        sys.count(file, before);
        let mut watch = sys.watch();
        assert_eq!(watch.poll_now(at(0)).health.state, Healthy);
        sys.count(file, end);
        let report = watch.poll_now(at(10));
        let errors = report.events.iter();
        let errors: Vec<_> = errors
            .filter(|event| event.occurrence.kind == Kind::RdmaErrors)
            .collect();
        assert_eq!(errors.len(), 1, "{counter}");
        assert_eq!(errors[0].count, 1);
        let event = &errors[0].occurrence;
        assert_eq!(event.severity, Severity::Warning);
        assert!(event.message.contains("at its end"), "{}", event.message);
        assert_eq!(event.detail.rdma.port_counter.as_deref(), Some(counter));
        let sample = &event.detail.sample;
        assert_eq!(
            (sample.previous, sample.value, sample.limit),
            (Some(before as f64), Some(end as f64), None)
        );
        // Two days later.
        let report = watch.poll_now(at(172_800));
        assert!(report.events.is_empty(), "once");
        assert_eq!(report.health.state, Degraded);
        let reason = &report.health.reasons[0];
        for part in [counter, &end.to_string(), "perfquery -R"] {
            assert!(reason.contains(part), "{reason}");
        }
        // The first poll reports nothing, and sees it.
        let first = sys.watch().poll_now(at(172_810));
        assert!(first.events.is_empty());
        assert_eq!(first.health.state, Degraded);
        sys.count(file, 0);
        assert_eq!(poll(&mut watch, 172_820), (vec![], Healthy));
    }
}

#[test]
fn a_counter_of_discards_at_its_end_and_one_that_is_wider_are_no_trouble() {
    let sys = one_device();
    sys.count("counters/port_xmit_discards", 65_500);
    sys.count("counters/symbol_error", 65_530);
    let mut watch = sys.watch();
    watch.poll_now(at(0));
    sys.count("counters/port_xmit_discards", 65_535);
    sys.count("counters/symbol_error", 65_536);
    assert_eq!(poll(&mut watch, 10), (vec![], Healthy));
}

#[test]
fn a_device_that_returns_with_a_counter_at_its_end_has_not_got_there() {
    let (sys, mut watch) = watched();
    sys.remove("mlx5_0");
    watch.poll_now(at(10));
    sys.add("mlx5_0", 1);
    sys.count("counters/symbol_error", 65_535);
    assert_eq!(poll(&mut watch, 20), (vec![Up], Degraded));
}

#[test]
fn four_errors_an_hour_of_a_counter_of_four_bits_are_reported() {
    let sys = one_device();
    let file = "counters/excessive_buffer_overrun_errors";
    let mut watch = sys.watch();
    for (second, value, events) in [(0, 0, 0), (10, 3, 0), (20, 4, 1)] {
        sys.count(file, value);
        assert_eq!(watch.poll_now(at(second)).events.len(), events, "{value}");
    }
}

#[test]
fn a_connection_that_gave_up_is_reported_each_time_and_few_retransmissions_never() {
    let (sys, mut watch) = watched();
    sys.count("hw_counters/packet_seq_err", 20_000);
    sys.count("hw_counters/req_transport_retries_exceeded", 1);
    let messages = |health: Vec<Observed>| -> Vec<String> {
        let names = health.into_iter();
        names
            .map(|event| event.occurrence.detail.rdma.port_counter.unwrap())
            .collect()
    };
    assert_eq!(
        messages(watch.poll_now(at(10)).events),
        ["req_transport_retries_exceeded"]
    );
    sys.count("hw_counters/packet_seq_err", 40_000);
    sys.count("hw_counters/req_transport_retries_exceeded", 2);
    assert_eq!(
        messages(watch.poll_now(at(20)).events),
        ["packet_seq_err", "req_transport_retries_exceeded"]
    );
    sys.count("hw_counters/req_transport_retries_exceeded", 5);
    assert_eq!(watch.poll_now(at(30)).events[0].count, 3);
}

#[test]
fn metrics_are_in_base_units_and_absent_where_there_is_nothing() {
    let sys = Sys::new();
    let mut watch = sys.watch();
    assert!(RdmaWatch::metrics(&watch.poll_now(at(0)).health).is_empty());
    assert_eq!(RdmaHealth::default().state, Absent);
    sys.add("mlx5_0", 1);
    let metrics = RdmaWatch::metrics(&watch.poll_now(at(10)).health);
    let value = |name: &str| {
        let found = metrics.iter().find(|metric| metric.name == name);
        found.map(|metric| metric.value)
    };
    assert_eq!(value("gtrace_rdma_port_rate_bits_per_second"), Some(4e11));
    assert_eq!(value("gtrace_rdma_port_transmitted_bytes"), Some(4000.0));
    assert_eq!(value("gtrace_rdma_port_received_bytes"), None);
    assert_eq!(value("gtrace_rdma_healthy"), Some(1.0));
    let names: Vec<_> = metrics.iter().map(|metric| metric.name).collect();
    let mut families = names.clone();
    families.dedup();
    let all = families.len();
    families.sort_unstable();
    families.dedup();
    assert_eq!(families.len(), all, "those of one family stand together");
}

/// Two ports of 400 Gb/s that are expected, and one of 100 Gb/s for storage.
fn with_storage() -> (Sys, RdmaWatch) {
    let sys = Sys::new();
    for device in ["mlx5_0", "mlx5_1", "mlx5_2"] {
        sys.add(device, 1);
    }
    sys.rate("mlx5_2", "100 Gb/sec (4X EDR)");
    let expected = RdmaExpected {
        ports: Some(2),
        rate_gbps: Some(400.0),
    };
    let watch = RdmaWatch::new(sys.root(), expected);
    (sys, watch)
}

#[test]
fn a_surplus_port_that_never_had_the_rate_is_judged_by_its_own() {
    let (sys, mut watch) = with_storage();
    let report = watch.poll_now(at(0));
    assert!(report.events.is_empty(), "{:?}", report.events);
    assert_eq!(report.health.state, Healthy);
    sys.rate("mlx5_2", "50 Gb/sec (2X EDR)");
    let report = watch.poll_now(at(10));
    assert_eq!(changes(&report.events), [Slow]);
    let rdma = &report.events[0].occurrence.detail.rdma;
    assert_eq!(rdma.expected_rate_gbps, Some(100.0));
    assert_eq!(report.health.state, Degraded);
    sys.rate("mlx5_2", "100 Gb/sec (4X EDR)");
    assert_eq!(poll(&mut watch, 20).0, [FullSpeed]);
    // Another's loss does not make it slow, and one that had the rate is slow without it.
    sys.rate("mlx5_1", "200 Gb/sec (2X NDR)");
    let report = watch.poll_now(at(30));
    assert_eq!(changes(&report.events), [Slow]);
    let device = report.events[0].occurrence.detail.rdma.rdma_device.as_ref();
    assert_eq!(device.unwrap(), "mlx5_1");
    sys.rate("mlx5_2", "400 Gb/sec (4X NDR)");
    let report = watch.poll_now(at(40));
    assert!(report.events.is_empty());
    assert_eq!(report.health.state, Degraded, "mlx5_1");
    sys.rate("mlx5_2", "100 Gb/sec (4X EDR)");
    let report = watch.poll_now(at(50));
    let rdma = &report.events[0].occurrence.detail.rdma;
    assert_eq!(rdma.expected_rate_gbps, Some(400.0), "it had that");
}

#[test]
fn a_surplus_port_that_is_down_or_gone_is_reported_and_leaves_the_health_as_it_is() {
    let (sys, mut watch) = with_storage();
    watch.poll_now(at(0));
    sys.rate("mlx5_2", "50 Gb/sec (2X EDR)");
    watch.poll_now(at(10));
    sys.down("mlx5_2");
    let report = watch.poll_now(at(20));
    assert_eq!(changes(&report.events), [Down]);
    assert_eq!(
        (report.health.state, report.health.reasons),
        (Healthy, Vec::new())
    );
    sys.remove("mlx5_2");
    let report = watch.poll_now(at(30));
    assert_eq!(report.events[0].occurrence.kind, Kind::RdmaLost);
    assert_eq!(report.health.state, Healthy);
    // One of those that are expected.
    sys.down("mlx5_1");
    let report = watch.poll_now(at(40));
    assert_eq!(report.health.state, Unhealthy);
    assert!(report.health.reasons[0].contains("mlx5_1 port 1 is DOWN"));
    // Without a number each port counts.
    let mut watch = sys.watch();
    watch.poll_now(at(50));
    sys.add("mlx5_1", 1);
    watch.poll_now(at(60));
    sys.remove("mlx5_1");
    assert_eq!(watch.poll_now(at(70)).health.state, Unhealthy);
}

/// Two devices, which are as many as are expected, after the first poll.
fn two_of_two() -> (Sys, RdmaWatch) {
    let sys = one_device();
    sys.add("mlx5_1", 1);
    let expected = RdmaExpected {
        ports: Some(2),
        rate_gbps: None,
    };
    let mut watch = RdmaWatch::new(sys.root(), expected);
    assert_eq!(watch.poll_now(at(0)).health.state, Healthy);
    (sys, watch)
}

#[test]
fn a_device_that_does_not_answer_holds_up_no_other_and_is_not_shown_as_it_was() {
    let (sys, mut watch) = two_of_two();
    let _counter = Stuck::at(sys.port("mlx5_0", 1).join("hw_counters/packet_seq_err"));
    for second in 1..4 {
        let report = watch.poll_now(at(second));
        assert!(report.events.is_empty(), "{:?}", report.events);
        assert_eq!(report.health.state, Degraded);
        assert_eq!(
            report.health.reasons,
            ["mlx5_0 does not answer a reading of its ports and is left alone, with back-off"]
        );
        let shown: Vec<_> = report.health.ports.iter().map(|p| p.name()).collect();
        assert_eq!(shown, ["mlx5_1 port 1"]);
        let metrics = RdmaWatch::metrics(&report.health);
        let stuck = ("device", "mlx5_0".to_owned());
        assert!(!metrics.iter().any(|m| m.labels.contains(&stuck)));
    }
    // The other one is watched as before.
    sys.down("mlx5_1");
    assert_eq!(poll(&mut watch, 4), (vec![Down], Unhealthy));
}

#[test]
fn a_port_that_cannot_be_read_is_not_gone_and_stays_as_it_was() {
    let (sys, mut watch) = two_of_two();
    // Its reading fails with EIO.
    let state = sys.port("mlx5_0", 1).join("state");
    fs::remove_file(&state).unwrap();
    std::os::unix::fs::symlink("/proc/self/mem", &state).unwrap();
    for second in 1..4 {
        let report = watch.poll_now(at(second));
        assert!(report.events.is_empty(), "{:?}", report.events);
        assert_eq!(report.health.state, Degraded);
        let reason = &report.health.reasons[0];
        assert!(
            reason.starts_with("mlx5_0 port 1 cannot be read: Input/output error"),
            "{reason}"
        );
        assert_eq!(report.health.unanswered, ["mlx5_0 port 1"]);
        let shown: Vec<_> = report.health.ports.iter().map(|p| p.name()).collect();
        assert_eq!(shown, ["mlx5_1 port 1"]);
    }
    // Neither a change nor a return is reported once it can be read again.
    fs::remove_file(&state).unwrap();
    sys.up("mlx5_0");
    let report = watch.poll_now(at(4));
    assert!(report.events.is_empty(), "{:?}", report.events);
    assert_eq!(report.health.state, Healthy);
    // What is not there is gone.
    fs::remove_file(&state).unwrap();
    let report = watch.poll_now(at(5));
    assert_eq!(report.events[0].occurrence.kind, Kind::RdmaLost);
}
