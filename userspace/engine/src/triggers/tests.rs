use gtrace_devices::MetricKind;

use super::*;

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_772_500_000 + second).unwrap()
}

fn watching(text: &str) -> Watching {
    Watching::new(&Triggers::parse(text).unwrap())
}

fn batch(second: i64, kind: MetricKind, values: &[(&str, f64)]) -> Batch {
    let metric = |(gpu, value): &(&str, f64)| Metric {
        name: "gtrace_gpu_temperature_celsius",
        help: "",
        unit: "celsius",
        kind,
        labels: vec![("gpu", (*gpu).to_owned())],
        value: *value,
    };
    Batch {
        component: "nvml",
        time: at(second),
        interval: Duration::from_secs(10),
        metrics: values.iter().map(metric).collect(),
    }
}

const HOT: &str = "[[trigger]]\nname = \"hot\"\nmetric = \"gtrace_gpu_temperature_celsius\"\n\
                   above = 85\nfor_s = 20\nseverity = \"critical\"";

#[test]
fn a_metric_has_to_stay_above_for_the_time_and_is_said_once_until_it_falls() {
    let mut watching = watching(HOT);
    let mut at = |second, value| {
        let values = [("0000:3b:00.0", value), ("0000:5e:00.0", 40.0)];
        let found = watching.samples(&batch(second, MetricKind::Gauge, &values));
        found.into_iter().next()
    };
    assert_eq!(at(0, 90.0), None);
    assert_eq!(at(10, 84.0), None);
    assert_eq!(at(20, 86.0), None);
    assert_eq!(at(30, 86.0), None);
    let found = at(40, 86.0).unwrap();
    assert_eq!(
        found.message,
        "hot: gtrace_gpu_temperature_celsius of gpu=0000:3b:00.0 is above 85 for 20 s"
    );
    assert_eq!(found.severity, Severity::Critical);
    assert_eq!(found.gpu.unwrap().pci.unwrap().to_string(), "0000:3b:00.0");
    assert_eq!(at(50, 90.0), None);
    assert_eq!(at(60, 80.0), None);
    assert_eq!(at(70, 90.0), None);
    assert!(at(90, 90.0).is_some());
}

#[test]
fn the_time_begins_anew_after_a_gap_in_the_samples() {
    let mut watching = watching(HOT);
    let mut at = |second| {
        let values = [("0000:3b:00.0", 90.0)];
        watching
            .samples(&batch(second, MetricKind::Gauge, &values))
            .len()
    };
    assert_eq!([at(0), at(10), at(100), at(110), at(120)], [0, 0, 0, 0, 1]);
    assert_eq!([at(200), at(220)], [0, 0], "that was said");
}

#[test]
fn a_rule_whose_metric_nobody_samples_is_known() {
    let names = |watching: &Watching| -> Vec<String> {
        watching.unseen().map(|rule| rule.name.clone()).collect()
    };
    let text = format!(
        "{HOT}\n[[trigger]]\nname = \"no such\"\nmetric = \"gtrace_gpu_heat\"\nabove = 1\n\
         [[trigger]]\nname = \"events\"\nkind = \"xid\"\ncount = 1\nwithin_s = 1"
    );
    let mut watching = watching(&text);
    assert_eq!(names(&watching), ["hot", "no such"]);
    watching.samples(&batch(0, MetricKind::Gauge, &[("0000:3b:00.0", 40.0)]));
    assert_eq!(names(&watching), ["no such"]);
}

#[test]
fn series_that_are_sampled_no_more_make_room() {
    let mut watching = watching(HOT);
    let names: Vec<String> = (0..=SERIES).map(|n| format!("job-{n}")).collect();
    let all: Vec<(&str, f64)> = names.iter().map(|name| (name.as_str(), 90.0)).collect();
    for second in [0, 10] {
        watching.samples(&batch(second, MetricKind::Gauge, &all));
    }
    assert_eq!(watching.refused, 2);
    for second in [100, 120] {
        let found = watching.samples(&batch(second, MetricKind::Gauge, &all[SERIES..]));
        assert_eq!(found.len(), usize::from(second == 120));
    }
    assert_eq!(watching.refused, 2);
    assert_eq!(watching.rules[0].1.series.len(), 1);
}

#[test]
fn a_counter_counts_by_its_rise_and_labels_select() {
    let text = "[[trigger]]\nname = \"rise\"\nmetric = \"gtrace_gpu_temperature_celsius\"\n\
                above = 1\nlabels = { gpu = \"a\" }";
    let mut watching = watching(text);
    let mut at = |second, value| {
        let values = [("a", value), ("b", value * 100.0)];
        watching
            .samples(&batch(second, MetricKind::Counter, &values))
            .len()
    };
    assert_eq!(
        [at(0, 0.0), at(10, 10.0), at(20, 31.0), at(30, 60.0)],
        [0, 0, 1, 0]
    );
    // It began anew.
    assert_eq!([at(40, 0.0), at(50, 10.0), at(60, 40.0)], [0, 0, 1]);
}

#[test]
fn what_is_reported_or_missed_is_so_once_whichever_thread_goes_on() {
    let (hub, _commands) = Hub::new(gtrace_api::Status::default());
    let mut watching = watching(&HOT.replace("for_s = 20", "for_s = 0"));
    let queue = Queue::default();
    for second in 0..QUEUE as i64 + 3 {
        queue.take(&Arc::new(batch(second, MetricKind::Gauge, &[("a", 90.0)])));
    }
    let mut rounds = || {
        let mut live = hub.subscribe().live;
        watching.round(&queue, &mut live, &hub.metrics).len()
    };
    assert_eq!([rounds(), rounds()], [1, 0]);
    assert_eq!(hub.metrics.lost_of(names::TRIGGERS), 3);
}

fn event_of(kind: Kind, second: i64) -> Event {
    let mut occurrence = Occurrence::new(kind, Severity::Warning, "x");
    occurrence.provenance = Provenance::Kernel;
    Event::seen(at(second), WitnessName::Kmsg, 1, occurrence)
}

#[test]
fn a_clock_that_was_set_back_neither_hides_nor_adds_anything() {
    let mut hot = watching(HOT);
    let mut sampled = |second| {
        let values = [("0000:3b:00.0", 90.0)];
        hot.samples(&batch(second, MetricKind::Gauge, &values))
            .len()
    };
    assert_eq!([3600, 3610].map(&mut sampled), [0, 0]);
    assert_eq!([20, 30, 40].map(&mut sampled), [0, 0, 1]);
    let text = "[[trigger]]\nname = \"xids\"\nkind = \"xid\"\ncount = 3\nwithin_s = 60";
    let mut xids = watching(text);
    let mut happened = |second| {
        xids.set_clock(at(second));
        xids.event(&event_of(Kind::Xid, second), true).len()
    };
    assert_eq!([3600, 3601, 3602].map(&mut happened), [0, 0, 1]);
    assert_eq!([2, 3, 4].map(&mut happened), [0, 0, 1]);
}

#[test]
fn what_comes_late_neither_hides_nor_adds_anything() {
    let text = "[[trigger]]\nname = \"xids\"\nkind = \"xid\"\ncount = 3\nwithin_s = 10";
    let mut xids = watching(text);
    let mut happened = |second| {
        xids.set_clock(at(102));
        xids.event(&event_of(Kind::Xid, second), true).len()
    };
    assert_eq!([100, 101, 80].map(&mut happened), [0, 0, 0]);
    assert_eq!([102, 85, 95].map(&mut happened), [1, 0, 0]);
}

#[test]
fn a_correction_of_the_clock_by_less_than_a_second_changes_nothing() {
    let text = "[[trigger]]\nname = \"xids\"\nkind = \"xid\"\ncount = 2\nwithin_s = 1";
    let mut xids = watching(text);
    let mut happened = |second| {
        xids.set_clock(at(second));
        xids.event(&event_of(Kind::Xid, second), true).len()
    };
    // At 100.001 s, from when on the clock is 2 ms slower.
    assert_eq!([100, 99, 100].map(&mut happened), [0, 0, 1]);
}

#[test]
fn events_are_counted_with_their_repeats_and_drills_are_not() {
    let text = "[[trigger]]\nname = \"calls\"\nkind = \"api_error\"\ncount = 5\nwithin_s = 60";
    let mut watching = watching(text);
    let event = |second: i64| event_of(Kind::ApiError, second);
    let mut first = event(0);
    assert!(watching.event(&first, true).is_empty());
    first.repeats = 3;
    first.last_time = Some(at(10));
    assert!(watching.event(&first, false).is_empty());
    assert!(watching.event(&first, false).is_empty(), "nothing new");
    let mut drill = event(11);
    drill.provenance = Provenance::Injected;
    assert!(watching.event(&drill, true).is_empty());
    let found = watching.event(&event(12), true);
    assert_eq!(
        found[0].message,
        "calls: api_error 5 times or more within 60 s"
    );
    assert!(
        watching.event(&event(13), true).is_empty(),
        "once in its time"
    );
    first.repeats = 20;
    first.last_time = Some(at(90));
    assert_eq!(watching.event(&first, false).len(), 1);
}

#[test]
fn an_old_event_that_is_amended_after_a_restart_is_not_many_new_ones() {
    let text = "[[trigger]]\nname = \"calls\"\nkind = \"xid\"\ncount = 5\nwithin_s = 86400";
    let mut watching = watching(text);
    let event = |second: i64, repeats: u64| Event {
        repeats,
        ..event_of(Kind::Xid, second)
    };
    let mut old = event(0, 40);
    assert!(watching.event(&old, false).is_empty(), "nobody knows when");
    old.repeats = 43;
    old.last_time = Some(at(10));
    assert!(watching.event(&old, false).is_empty(), "three");
    // An event that others have pushed out is unknown again.
    for n in 0..EVENTS as u64 {
        let mut other = event(100, 0);
        other.provenance = Provenance::Kernel;
        let found = watching.event(&other, false);
        assert!(found.is_empty(), "{n}");
    }
    assert!(watching.event(&old, false).is_empty());
    let known = &watching.rules[0].1;
    assert_eq!((known.events.len(), known.order.len()), (EVENTS, EVENTS));
    // Many in one second are one entry.
    for _ in 0..100 {
        watching.event(&event(200, 0), true);
    }
    let known = &watching.rules[0].1;
    assert_eq!((known.times.len(), known.sum), (2, 103));
}

#[test]
fn the_packaged_example_is_accepted() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging/triggers.example.toml");
    assert_eq!(Triggers::load(&path).unwrap().0.len(), 3);
}

#[test]
fn what_makes_no_sense_is_refused_with_the_name_and_the_reason() {
    let trigger = |rest: &str| format!("[[trigger]]\nname = \"x\"\n{rest}");
    for (text, says) in [
        (trigger(""), "either a metric or a kind"),
        (trigger("metric = \"m\""), "above or below"),
        (
            trigger("metric = \"m_total\"\nabove = 1"),
            "without _total: \"m\"",
        ),
        (
            trigger("metric = \"m\"\nabove = 1\nbelow = 2"),
            "above or below",
        ),
        (trigger("metric = \"m\"\nabove = nan"), "above or below"),
        (
            trigger("metric = \"m\"\nabove = 1\ncount = 2"),
            "for events",
        ),
        (
            trigger("kind = \"xid\"\ncount = 0\nwithin_s = 60"),
            "count, from 1",
        ),
        (trigger("kind = \"xid\"\ncount = 1"), "within_s"),
        (
            trigger("kind = \"xid\"\nfor_s = 1\ncount = 1\nwithin_s = 1"),
            "for samples",
        ),
        (
            trigger("kind = \"site_trigger\"\ncount = 1\nwithin_s = 1"),
            "cannot wait",
        ),
        (trigger("kind = \"xyd\""), "xyd"),
        (trigger("colour = 1"), "colour"),
        (format!("{HOT}\n{HOT}"), "two triggers"),
        (HOT.replace("\"hot\"", "\"\""), "1 to 120"),
    ] {
        let why = Triggers::parse(&text).unwrap_err();
        assert!(why.contains(says), "{text}\n{why}");
    }
    assert!(Triggers::parse("").unwrap().is_empty());
}
