//! A wall clock that was set between two runs of the daemon.

use gtrace_devices::HostNews;

use super::*;

const S: u64 = 1_000_000_000;

/// What an earlier run of this boot saw `ago_s` ago, when the clock was `ahead_h` ahead of what it is now.
fn earlier(occurrence: Occurrence, ago_s: u64, ahead_h: i64) -> Event {
    let boottime_ns = clock::boottime_ns() - ago_s * S;
    let time = clock::wall_time(boottime_ns) + jiff::SignedDuration::from_hours(ahead_h);
    let mut event = Event::seen(time, CONSOLE, 1, occurrence);
    event.boottime_ns = Some(boottime_ns);
    event.boot_id = Some("b".to_owned());
    event
}

/// The next run.
fn world_after(events: Vec<Event>) -> World {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("store.db");
    let mut store = Store::open(&path, gtrace_store::Options::default()).unwrap();
    for event in events {
        let time = event.time;
        let record = Record::Event(Box::new(event));
        store.append_at(time, &[record], &[]).unwrap();
    }
    drop(store);
    World::start(dir, PciTree::default())
}

#[test]
fn the_logs_history_finds_the_events_that_it_was_seen_as() {
    for ahead_h in [2, -2] {
        let mut event = earlier(xid_79(Some(0), 0), 30, ahead_h);
        let first_ns = event.boottime_ns.unwrap();
        // Three lines, a second apart, of which /dev/kmsg has shown the first.
        event.repeats = 2;
        event.last_time = Some(event.time + jiff::SignedDuration::from_secs(2));
        event.witnesses[0].count = 3;
        event.witnesses.push(gtrace_event::Witness {
            source: KMSG,
            count: 1,
            first_time: event.time,
        });
        let world = world_after(vec![event]);
        for later in 1..=2 {
            world.ingest_one(KMSG, xid_79(Some(0), first_ns + later * S));
        }
        let events = world.stored(None);
        let event = &events[0];
        assert_eq!((events.len(), event.repeats), (1, 2), "{ahead_h}");
        assert_eq!(count(event, KMSG), 3, "{ahead_h}");
    }
}

#[test]
fn a_service_that_ran_again_does_so_once_though_the_clock_was_set_back_after_its_failure() {
    let happened = |error: &str| {
        let mut occurrence = fault(Kind::ServiceFailed, Severity::Critical, error);
        occurrence.detail.host.unit = Some("nvidia-fabricmanager".to_owned());
        occurrence.detail.host.error = Some(error.to_owned());
        occurrence
    };
    let over = || happened(gtrace_devices::RUNS_AGAIN);
    let failed = earlier(happened("failed"), 20, 2);
    let world = world_after(vec![failed, earlier(over(), 10, 0)]);
    let send = |news| world.send(Input::Command(Command::HostNews(Box::new(news))));
    send(HostNews::stands(over()));
    assert_eq!(world.happened(Kind::ServiceFailed), 2);
    // What was seen to happen is news each time, and how things are once.
    let line = |seen| HostNews {
        occurrence: happened("topology"),
        happened: seen,
    };
    for (seen, events) in [(false, 3), (false, 3), (true, 4), (true, 5), (false, 5)] {
        send(line(seen));
        assert_eq!(world.happened(Kind::ServiceFailed), events);
    }
}
