//! A store that takes nothing, is damaged, or is gone.

use gtrace_devices::{Difference, Setting};
use gtrace_event::{Gpu, HealthState, HealthSubject, MaintenanceWindow, PortChange, SubjectKind};

use super::*;
use crate::baseline::Judgement;

#[test]
fn while_the_store_takes_nothing_an_event_is_seen_at_once_and_again_once_it_is_stored() {
    // A store that answers that it is busy, and one whose writer is stuck.
    for busy_timeout in [Duration::from_millis(1), Duration::from_secs(60)] {
        let fails = busy_timeout < Duration::from_secs(1);
        let options = gtrace_store::Options {
            busy_timeout,
            ..gtrace_store::Options::default()
        };
        let dir = tempfile::tempdir().unwrap();
        let other = rusqlite::Connection::open(dir.path().join("store.db")).unwrap();
        let mut world = World::start_with(dir, PciTree::default(), options);
        other.execute_batch("BEGIN IMMEDIATE").unwrap();
        world.ingest_one(KMSG, xid("Xid 79"));

        let first = world.next_record();
        assert!(first.provisional && first.id.is_none(), "{first:?}");
        let who_comes_later = world.hub.subscribe();
        assert_eq!(who_comes_later.provisional.len(), 1);
        assert_eq!(
            (who_comes_later.last, world.hub.status().last_seq),
            (None, 0)
        );
        let acked = acknowledge(&world, &first.event);
        let acked = if fails {
            let why = acked.blocking_recv().unwrap().unwrap_err();
            assert!(why.contains("the acknowledgement waits"), "{why}");
            None
        } else {
            Some(acked)
        };

        other.execute_batch("ROLLBACK").unwrap();
        if let Some(acked) = acked {
            assert_eq!(acked.blocking_recv().unwrap().unwrap().acks.len(), 1);
        }
        let mut committed = Vec::new();
        while committed.len() < 2 {
            let published = world.next_record();
            match published.seq {
                Some(seq) => committed.push((seq, published.change.clone(), published.event.id)),
                None => assert!(committed.is_empty(), "provisional after it was committed"),
            }
        }
        assert_eq!(committed[0], (1, None, first.event.id));
        assert!(
            matches!(committed[1], (2, Some(EventChange::Ack(_)), _)),
            "{committed:?}"
        );
        assert!(world.hub.subscribe().provisional.is_empty());
        assert_eq!(world.stored(None)[0].acks.len(), 1);
    }
}

#[test]
fn an_acknowledgement_is_answered_once_it_can_be_read_in_the_store() {
    let world = World::new(PciTree::default());
    world.ingest_one(KMSG, xid("Xid 79"));
    let event = world.stored(None).remove(0);
    let reader = world.reader();
    for acks in 1..=50 {
        let acked = world.acknowledged(&event);
        assert_eq!(acked.acks.len(), acks);
        assert_eq!(reader.event(event.id).unwrap().unwrap().acks, acked.acks);
    }
}

/// Damages an index of the store under a running writer, which reads it again before its next append.
fn damage(store: &std::path::Path) {
    damage_root(store, "records_*_event");
}

/// The same of the table or index of this name.
fn damage_root(store: &std::path::Path, name: &str) {
    use std::os::unix::fs::FileExt as _;
    let conn = rusqlite::Connection::open(store).unwrap();
    let folded = conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
    folded.unwrap();
    let sql = "SELECT rootpage FROM sqlite_master WHERE name GLOB ?1";
    let page: u32 = conn.query_row(sql, [name], |row| row.get(0)).unwrap();
    let file = std::fs::OpenOptions::new().write(true).open(store).unwrap();
    file.write_all_at(&[0x5a; 100], u64::from(page - 1) * 4096)
        .unwrap();
    // Another connection has written: the writer's pages are old.
    conn.execute("UPDATE meta SET value = value", []).unwrap();
}

/// Waits for the event by which the store says that a damaged file was moved aside.
fn moved_aside(world: &mut World) -> (u64, Event) {
    loop {
        let published = world.next_record();
        let event = published.event.clone();
        if event.kind == Kind::RecordsRemoved {
            assert_eq!(event.detail.removal.removal, Some(RemovalCause::Damage));
            let moved = event.detail.removal.moved_to.clone().unwrap();
            assert!(std::path::Path::new(&moved).exists(), "{moved}");
            return (published.seq.unwrap(), event);
        }
    }
}

#[test]
fn a_store_that_somebody_removes_is_begun_anew_and_the_loss_recorded() {
    let mut world = World::new(PciTree::default());
    world.ingest_one(KMSG, xid("Xid 13, the first"));
    world.flush();
    for file in ["store.db", "store.db-wal", "store.db-shm"] {
        let _ = std::fs::remove_file(world.dir.path().join(file));
    }
    let event = loop {
        let published = world.next_record();
        if published.event.kind == Kind::RecordsRemoved {
            break published.event.clone();
        }
    };
    assert_eq!(event.detail.removal.moved_to, None);
    assert!(event.message.contains("removed"), "{}", event.message);
    world.ingest_one(KMSG, xid("Xid 79, after"));
    let stored = world.stored(None);
    assert_eq!(stored.len(), 2, "{stored:?}");
    assert_eq!(world.hub.status().store_problem, None);
}

#[test]
fn nothing_that_comes_after_the_store_was_removed_is_lost_however_often_that_is() {
    let world = World::new(PciTree::default());
    let path = world.dir.path().join("store.db");
    let mut gpus = (0..100_u8).map(|n| pci(&format!("0000:{n:02x}:00.0")));
    let mut add = |text: &str| {
        let mut occurrence = xid(text);
        occurrence.gpu = gpus.next().map(gtrace_event::Gpu::at);
        world.ingest_one(KMSG, occurrence);
        world.flush();
    };
    let kept = || {
        let stored = world.stored(None);
        let xids = stored.iter().filter(|event| event.kind == Kind::Xid);
        xids.map(|event| event.message.clone()).collect::<Vec<_>>()
    };
    add("Xid 79, before");
    for round in 0..3 {
        std::fs::remove_file(&path).unwrap();
        let texts = ["one", "two"].map(|n| format!("Xid 79, {n} of round {round}"));
        texts.iter().for_each(|text| add(text));
        assert_eq!(kept(), texts);
        let report = world.reader().verify().unwrap();
        assert!(report.is_ok(), "{report:?}");
    }
    // Another file in its place is not what the writer writes to either. It is kept.
    let other = world.dir.path().join("other");
    std::fs::write(&other, "not a store").unwrap();
    std::fs::rename(&other, &path).unwrap();
    add("Xid 79, last");
    assert_eq!(kept(), ["Xid 79, last"]);
    let files = std::fs::read_dir(world.dir.path()).unwrap();
    let mut contents = files.map(|file| std::fs::read(file.unwrap().path()).unwrap());
    assert!(contents.any(|content| content == b"not a store"));
}

fn tree() -> PciTree {
    PciTree::read(&FakeSysfs::with_gpu().root())
}

/// A core whose GPU has fallen off the bus.
fn fallen() -> World {
    let world = World::new(tree());
    let mut fallen = xid_79(Some(0), clock::boottime_ns());
    fallen.provenance = Provenance::Kernel;
    fallen.gpu = Some(Gpu::at(pci(GPU)));
    world.ingest_one(KMSG, fallen);
    world.flush();
    world
}

/// The incidents that nobody has resolved, and the GPU's health.
fn what_holds(world: &World) -> (Vec<gtrace_event::IncidentId>, HealthState) {
    let incidents = world.hub.incidents();
    let gpu = HealthSubject::new(SubjectKind::Gpu, GPU);
    let report = world.hub.health_report().unwrap();
    let known = report.subjects.iter().find(|known| known.subject == gpu);
    (
        incidents.iter().map(|one| one.id).collect(),
        known.unwrap().state,
    )
}

#[test]
fn what_holds_since_before_a_store_was_begun_anew_is_known_after_a_restart() {
    // It begins with a snapshot of health, after which nothing changes.
    let world = fallen().restart(tree());
    let before = what_holds(&world);
    assert_eq!((before.0.len(), before.1), (1, HealthState::Unhealthy));
    std::fs::remove_file(world.dir.path().join("store.db")).unwrap();
    world.send(Input::KmsgProgress(7));
    world.flush();

    let world = world.restart(tree());
    assert_eq!(what_holds(&world), before);
}

#[test]
fn what_holds_is_taken_up_of_a_store_that_is_damaged_at_the_start() {
    let world = fallen();
    let before = what_holds(&world);
    assert_eq!((before.0.len(), before.1), (1, HealthState::Unhealthy));
    world.send(Input::KmsgProgress(7));
    world.flush();
    let World { dir, core, .. } = world;
    core.finish();
    damage(&dir.path().join("store.db"));
    let mut world = World::start(dir, tree());
    // Twice, as the new store has it.
    for _ in 0..2 {
        assert_eq!(what_holds(&world), before);
        assert_eq!(world.core.kmsg_after, Some(7), "it would be counted again");
        world = world.restart(tree());
    }
}

#[test]
fn the_kernel_log_is_read_anew_where_health_cannot_be_read_of_a_damaged_store() {
    let world = fallen();
    world.send(Input::KmsgProgress(7));
    world.flush();
    let World { dir, core, .. } = world;
    core.finish();
    // The table itself: no name of an index ends in a digit.
    damage_root(&dir.path().join("store.db"), "records_*[0-9]");
    let world = World::start(dir, tree());
    assert_eq!(world.core.kmsg_after, None);
    assert!(world.hub.incidents().is_empty());
}

#[test]
fn a_maintenance_window_is_taken_up_though_no_part_is_known() {
    let world = World::new(tree());
    world.ingest_one(KMSG, xid("Xid 13, the first"));
    let from = Timestamp::now();
    let window = MaintenanceWindow {
        from,
        until: from + jiff::SignedDuration::from_hours(1),
        by: "alice".to_owned(),
        note: String::new(),
    };
    let (answer, done) = oneshot::channel();
    world.send(Input::Command(Command::Maintenance(window, answer)));
    done.blocking_recv().unwrap().unwrap();
    let World { dir, core, .. } = world;
    core.finish();
    damage(&dir.path().join("store.db"));
    let world = World::start(dir, tree()).restart(tree());
    assert!(world.hub.is_in_maintenance(Timestamp::now()));
}

#[test]
fn a_store_that_turns_damaged_is_replaced_and_nothing_that_waits_is_lost() {
    let mut world = World::new(PciTree::default());
    world.ingest_one(KMSG, xid("Xid 13, the first"));
    world.flush();
    let path = world.dir.path().join("store.db");
    damage(&path);
    for n in 0..100_u8 {
        let mut occurrence = xid(&format!("Xid 79, number {n}"));
        occurrence.gpu = Some(gtrace_event::Gpu::at(pci(&format!("0000:{n:02x}:00.0"))));
        world.ingest_one(KMSG, occurrence);
    }
    let stored = world.stored(None);
    assert_eq!(stored.len(), 101, "{stored:?}");
    assert_eq!(world.hub.status().store_problem, None);
    assert_eq!(world.hub.metrics.store_moved_aside.get(), 1);

    // Numbers go on, so a live reader misses nothing; the first record of the new file says it all.
    let (seq, event) = moved_aside(&mut world);
    assert_eq!(seq, 2);
    assert_eq!(event.host.as_deref(), Some("h"));
    assert_eq!(
        event.advice.unwrap().action.map(|a| a.name()),
        Some("ticket")
    );
    for want in 3..=102 {
        let published = loop {
            let published = world.next_record();
            if !published.provisional {
                break published;
            }
        };
        assert_eq!(published.seq, Some(want));
    }
    let report = world.reader().verify().unwrap();
    assert!(report.is_ok(), "{report:?}");
    assert_eq!((report.first_seq, report.last_seq), (2, 102));
}

#[test]
fn damage_that_a_reader_meets_has_the_store_checked_and_replaced() {
    let mut world = World::new(PciTree::default());
    world.ingest_one(KMSG, xid("Xid 13, the first"));
    world.flush();
    let path = world.dir.path().join("store.db");
    let error = || StoreError::Corrupt {
        path: path.clone(),
        why: "a page".to_owned(),
    };
    damage(&path);
    world.hub.suspect_store(&error());
    // Anything wakes the store's thread before its time.
    world.send(Input::KmsgProgress(7));
    world.flush();
    moved_aside(&mut world);
    // A check that finds nothing changes nothing.
    world.hub.suspect_store(&error());
    world.ingest_one(KMSG, xid("Xid 79"));
    assert_eq!(world.stored(None).len(), 2);
    assert_eq!(world.hub.metrics.store_moved_aside.get(), 1);
}

#[test]
fn a_store_that_is_damaged_at_the_start_is_an_event_and_a_metric() {
    let world = World::new(PciTree::default());
    world.ingest_one(KMSG, xid("Xid 13, the first"));
    world.flush();
    let World { dir, core, .. } = world;
    core.finish();
    damage(&dir.path().join("store.db"));
    let world = World::start(dir, PciTree::default());
    world.ingest_one(KMSG, xid("Xid 79"));
    let kinds: Vec<_> = world.stored(None).iter().map(|event| event.kind).collect();
    assert_eq!(kinds, [Kind::RecordsRemoved, Kind::Xid]);
    assert_eq!(world.hub.metrics.store_moved_aside.get(), 1);
    assert!(world.hub.status().store_problem.is_none());
}

#[test]
fn a_start_with_a_wrong_clock_removes_nothing_by_age() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = Store::open(
        &dir.path().join("store.db"),
        gtrace_store::Options::default(),
    )
    .unwrap();
    // By the clock of this start years ago.
    for (n, year) in ["2019", "2020"].into_iter().enumerate() {
        let time: Timestamp = format!("{year}-01-01T00:00:00Z").parse().unwrap();
        let event = Event::seen(time, KMSG, 1, xid(&format!("Xid 79, number {n}")));
        let records = [Record::Event(Box::new(event))];
        store.append_at(time, &records, &[]).unwrap();
    }
    drop(store);
    let world = World::start(dir, PciTree::default());
    world.ingest_one(KMSG, xid("Xid 79"));
    let kinds: Vec<_> = world.stored(None).iter().map(|event| event.kind).collect();
    assert_eq!(kinds, [Kind::Xid; 3]);
}

/// Has the store of `world` take nothing, as another connection holds it, and its queue full.
fn fill_queue(world: &World) -> rusqlite::Connection {
    let other = rusqlite::Connection::open(world.dir.path().join("store.db")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    for n in 0..=MAX_WAITING {
        world.ingest_one(KMSG, xid(&format!("Xid 31, number {n}")));
    }
    flush_in_vain(world);
    let waits = world.hub.subscribe().provisional;
    let has = |n: usize| {
        let message = format!("Xid 31, number {n}");
        waits
            .iter()
            .any(|published| published.event.message == message)
    };
    assert!(has(0) && !has(MAX_WAITING), "the queue is not full");
    other
}

/// Waits until everything sent has been taken by the core.
fn flush_in_vain(world: &World) {
    let (answer, done) = oneshot::channel();
    world.send(Input::Command(Command::Flush(answer)));
    assert!(done.blocking_recv().unwrap().is_err());
}

/// Has the store take records again, and waits until it has the Xid of the GPU that waits for room.
fn make_room(
    world: &World,
    other: &rusqlite::Connection,
    live: &mut broadcast::Receiver<News>,
) -> Vec<Event> {
    other.execute_batch("ROLLBACK").unwrap();
    while live.blocking_recv().is_ok_and(|news| news.id().is_none()) {}
    loop {
        let stored = world.stored(Some(GPU));
        if !stored.is_empty() {
            return stored;
        }
    }
}

fn quickly_busy() -> gtrace_store::Options {
    gtrace_store::Options {
        busy_timeout: Duration::from_millis(1),
        ..gtrace_store::Options::default()
    }
}

#[test]
fn what_finds_the_queue_full_is_one_event_whoever_sees_it_and_is_stored_once_there_is_room() {
    let dir = tempfile::tempdir().unwrap();
    let world = World::start_with(dir, PciTree::default(), quickly_busy());
    let other = fill_queue(&world);
    let mut live = world.hub.subscribe().live;
    let at_ns = clock::boottime_ns();
    world.ingest_one(CONSOLE, xid_79(None, at_ns));
    world.ingest_one(KMSG, xid_79(Some(0), at_ns));
    world.ingest_one(KMSG, xid_79(Some(0), clock::boottime_ns()));
    flush_in_vain(&world);
    let mut seen = Vec::new();
    while let Ok(news) = live.try_recv() {
        if let News::Event(published) = news {
            assert!(published.provisional, "{published:?}");
            seen.push(published.event.clone());
        }
    }
    let newest = seen.last().unwrap();
    assert!(seen.iter().all(|event| event.id == newest.id), "{seen:#?}");
    assert_eq!(newest.provenance, Provenance::Kernel);
    let refused = acknowledge(&world, newest).blocking_recv().unwrap();
    assert!(refused.unwrap_err().contains("no more records may wait"));

    let stored = make_room(&world, &other, &mut live);
    assert_eq!((stored.len(), stored[0].id), (1, newest.id));
    assert_eq!((stored[0].repeats, stored[0].witnesses.len()), (1, 2));
    assert_eq!(world.acknowledged(&stored[0]).acks.len(), 1);
}

#[test]
fn gpus_that_come_and_go_while_the_queue_is_full_are_as_they_were_last_once_there_is_room() {
    const GPUS: [&str; 4] = [
        "0000:01:00.0",
        "0000:02:00.0",
        "0000:03:00.0",
        "0000:04:00.0",
    ];
    let dir = tempfile::tempdir().unwrap();
    let world = World::start_with(dir, PciTree::default(), quickly_busy());
    let there = |gpus: &[usize]| {
        let gpus = gpus.iter().map(|gpu| GpuInfo::at(pci(GPUS[*gpu])));
        world.send(Input::Gpus(gpus.collect()));
    };
    let goes = |gpu: usize| {
        let text = "GPU is no longer among the PCI devices";
        let lost = fault_of(GPUS[gpu], Kind::GpuLost, Severity::Fatal, text);
        world.ingest_one(WitnessName::SysfsPci, lost);
    };
    there(&[0, 1, 2, 3]);
    goes(0);
    there(&[1, 2, 3]);
    world.flush();
    let other = fill_queue(&world);
    let mut live = world.hub.subscribe().live;
    there(&[0, 1, 2, 3]);
    for gpu in [1, 2, 3] {
        goes(gpu);
    }
    there(&[0]);
    there(&[0, 2, 3]);
    // The same event once more.
    goes(3);
    there(&[0, 2]);
    flush_in_vain(&world);
    // It happens after all that was observed, and is recorded after it.
    world.ingest_one(KMSG, xid_79(Some(0), clock::boottime_ns()));
    flush_in_vain(&world);

    make_room(&world, &other, &mut live);
    let again = world.stored(Some(GPUS[3]));
    assert_eq!((again.len(), again[0].repeats), (1, 1));
    let report = world.hub.health_report().unwrap();
    let states = GPUS.map(|gpu| {
        let mut parts = report.subjects.iter();
        let part = parts.find(|part| part.subject.name == gpu);
        part.map(|part| part.state)
    });
    let (healthy, unhealthy) = (Some(HealthState::Healthy), Some(HealthState::Unhealthy));
    assert_eq!(states, [healthy, unhealthy, healthy, unhealthy]);
}

#[test]
fn what_readings_show_all_the_time_is_one_occurrence_also_while_the_queue_is_full() {
    let dir = tempfile::tempdir().unwrap();
    let world = World::start_with(dir, PciTree::default(), quickly_busy());
    let read = || {
        let mut occurrence = fault(Kind::RdmaPort, Severity::Critical, "mlx5_0 port 1 is down");
        let rdma = &mut occurrence.detail.rdma;
        (rdma.rdma_device, rdma.rdma_port) = (Some("mlx5_0".to_owned()), Some(1));
        rdma.port_change = Some(PortChange::Down);
        world.send(Input::Standing(Box::new(Observation::new(
            WitnessName::SysfsRdma,
            occurrence,
            1,
        ))));
        let at = "0000:01:00.0";
        world.send(Input::Baseline(vec![Judgement {
            subject: HealthSubject::new(SubjectKind::Gpu, at),
            gpu: Some(Gpu::at(pci(at))),
            differences: vec![Difference {
                setting: Setting::Ecc,
                expected: "on".to_owned(),
                found: "off".to_owned(),
                missing: false,
            }],
        }]));
    };
    let other = fill_queue(&world);
    let mut live = world.hub.subscribe().live;
    for _ in 0..3 {
        read();
    }
    world.ingest_one(KMSG, xid_79(Some(0), clock::boottime_ns()));
    flush_in_vain(&world);
    make_room(&world, &other, &mut live);
    for _ in 0..2 {
        read();
    }
    for kind in [Kind::RdmaPort, Kind::BaselineDrift] {
        assert_eq!(world.happened(kind), 1, "{kind}");
    }
}

#[test]
fn the_next_run_reads_again_what_waited_for_room_until_the_end() {
    let dir = tempfile::tempdir().unwrap();
    let world = World::start_with(dir, PciTree::default(), quickly_busy());
    let other = fill_queue(&world);
    world.ingest_one(KMSG, xid_79(Some(0), clock::boottime_ns()));
    world.send(Input::KmsgProgress(9));
    flush_in_vain(&world);
    // The core ends before the store takes anything, and then that takes what is in the queue.
    world.send(Input::Stop);
    other.execute_batch("ROLLBACK").unwrap();
    let world = world.restart(PciTree::default());
    let is_stored = !world.stored(Some(GPU)).is_empty();
    let after = world.core.kmsg_after;
    assert!(is_stored || after < Some(9), "{after:?}");
}

#[test]
fn an_acknowledgement_that_finds_the_queue_full_is_refused_and_nobody_sees_it() {
    let dir = tempfile::tempdir().unwrap();
    let world = World::start_with(dir, PciTree::default(), quickly_busy());
    world.ingest_one(KMSG, xid("Xid 79"));
    let event = world.stored(None).remove(0);
    let other = fill_queue(&world);
    let lost = world.hub.metrics.lost_of("store");

    let mut live = world.hub.subscribe().live;
    let refused = acknowledge(&world, &event).blocking_recv().unwrap();
    assert!(refused.unwrap_err().contains("no more records may wait"));
    assert!(live.try_recv().is_err(), "it was streamed");
    assert_eq!(world.hub.metrics.lost_of("store"), lost);

    other.execute_batch("ROLLBACK").unwrap();
    while live.blocking_recv().is_ok_and(|news| news.id().is_none()) {}
    assert_eq!(world.acknowledged(&event).acks.len(), 1);
    let stored = world.reader().event(event.id).unwrap();
    assert_eq!(stored.unwrap().acks.len(), 1);
}
