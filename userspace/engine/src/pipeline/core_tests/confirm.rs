//! Who wrote a line, and what counts as a fault.

use gtrace_event::Gpu;

use super::*;

#[test]
fn a_line_that_nobody_has_confirmed_is_no_fault_until_dev_kmsg_shows_who_wrote_it() {
    for (facility, provenance, act, counts) in [
        (0, Provenance::Kernel, Action::Page, [1, 0, 0, 0]),
        (1, Provenance::Userspace, Action::Ticket, [0, 1, 0, 0]),
    ] {
        let mut world = World::with_kmsg();
        let at_ns = clock::boottime_ns();
        world.ingest_one(CONSOLE, xid_79(None, at_ns));
        let first = world.next_event();
        assert_eq!(
            (first.provenance, action(&first)),
            (Provenance::Unknown, Some(Action::Log))
        );
        assert_eq!(world.counted(), [0; 4], "nobody knows yet as what");
        let unconfirmed = ("fatal".to_owned(), "unknown".to_owned(), 1);
        assert_eq!(open(&world), [unconfirmed]);
        assert_eq!(world.end_record.take(), Some(at_ns), "it may be open");

        world.ingest_one(KMSG, xid_79(Some(facility), at_ns));
        let mut event = world.next_event();
        while event.provenance == Provenance::Unknown {
            event = world.next_event();
        }
        assert_eq!((event.provenance, action(&event)), (provenance, Some(act)));
        assert_eq!(world.counted(), counts);
        let by_provenance = ("fatal".to_owned(), provenance.name().to_owned(), 1);
        assert_eq!(open(&world), [by_provenance]);
        assert_eq!(world.stored(None).len(), 1);
    }
}

#[test]
fn the_end_of_a_record_is_asked_for_also_where_the_core_comes_to_its_line_late() {
    let world = World::with_kmsg();
    let at_ns = clock::boottime_ns();
    let other = |nth: u32| {
        let text = format!("NVRM: Xid (PCI:0000:3b:00): 31, pid={nth}, name=n{nth}, Ch 00000008");
        Input::once(KMSG, logged(&text, Some(0), at_ns).remove(0))
    };
    let mut inputs: Vec<Input> = (0..1000).map(other).collect();
    // What the core takes with the line takes longer than the line waits.
    inputs.insert(8, Input::once(CONSOLE, xid_79(None, at_ns)));
    for input in inputs {
        world.send(input);
    }
    let is_line = |event: &Event| event.detail.xid.xid == Some(79);
    while !world.stored(None).iter().any(is_line) {}
    assert_eq!(world.end_record.take(), Some(at_ns));
}

/// The event that the console's line and another observation come to, in this order or the other.
fn seen_by_two(
    world: &mut World,
    (witness, occurrence): (WitnessName, Occurrence),
    at_ns: u64,
    line_first: bool,
) -> Event {
    let mut observations = [(CONSOLE, xid_79(None, at_ns)), (witness, occurrence)];
    if !line_first {
        observations.reverse();
    }
    for (witness, occurrence) in observations {
        world.ingest_one(witness, occurrence);
    }
    let mut event = world.next_event();
    while event.witnesses.len() < 2 {
        event = world.next_event();
    }
    event
}

#[test]
fn a_forged_line_never_pages_whoever_shows_it_first() {
    for console_first in [true, false] {
        let mut world = World::with_kmsg();
        let at_ns = clock::boottime_ns();
        let record = (KMSG, xid_79(Some(1), at_ns));
        let event = seen_by_two(&mut world, record, at_ns, console_first);
        assert_eq!(event.provenance, Provenance::Userspace);
        assert_eq!(world.counted(), [0, 1, 0, 0]);
    }
}

#[test]
fn a_forged_repeat_of_a_true_fault_is_never_counted_as_the_kernels() {
    let mut world = World::with_kmsg();
    let true_ns = clock::boottime_ns();
    world.ingest_one(KMSG, xid_79(Some(0), true_ns));
    world.ingest_one(CONSOLE, xid_79(None, true_ns));
    while world.next_event().witnesses.len() < 2 {}
    assert_eq!(world.counted(), [1, 0, 0, 0]);
    // The record of this line comes only when the line is in the fold already.
    let forged_ns = clock::boottime_ns();
    world.ingest_one(CONSOLE, xid_79(None, forged_ns));
    while world.next_event().repeats < 1 {}
    assert_eq!(world.counted(), [1, 0, 0, 0]);
    world.ingest_one(KMSG, xid_79(Some(1), forged_ns));
    assert_eq!(world.counted(), [1, 1, 0, 0]);
    let events = world.stored(None);
    assert_eq!(events.len(), 2);
    assert!(events.iter().all(|event| event.repeats == 0));
}

#[test]
fn a_line_and_its_record_are_one_record_with_what_only_one_of_them_says() {
    // On a host that stands still for 50 ms between them, the line has gone before its record came.
    let is_one = |_| {
        let world = World::with_kmsg();
        let at_ns = clock::boottime_ns();
        let text = "nvme nvme0: I/O 123 QID 4 timeout, aborting";
        let line = logged(text, None, at_ns).remove(0);
        let mut record = logged(text, Some(0), at_ns).remove(0);
        // As its dictionary names it.
        record.gpu = Some(Gpu::at(pci(GPU)));
        world.ingest_one(CONSOLE, line);
        world.ingest_one(KMSG, record);
        let events = world.stored(None);
        let [event] = &events[..] else {
            return false;
        };
        let known = event.gpu.as_ref().and_then(|gpu| gpu.pci);
        (event.kind, known) == (Kind::NvmeTimeout, Some(pci(GPU)))
            && (event.revision, event.repeats) == (0, 0)
            && [CONSOLE, KMSG].map(|source| count(event, source)) == [1, 1]
    };
    assert!((0..10).any(is_one));
}

#[test]
fn a_report_of_the_driver_confirms_a_line_whichever_comes_first() {
    for line_first in [true, false] {
        let mut world = World::with_kmsg();
        let at_ns = clock::boottime_ns();
        let report = (WitnessName::ReportError, reported_79(at_ns));
        let event = seen_by_two(&mut world, report, at_ns, line_first);
        assert_eq!(
            (event.provenance, action(&event)),
            (Provenance::Kernel, Some(Action::Page))
        );
        assert_eq!(world.counted(), [1, 0, 0, 0]);
    }
}

#[test]
fn what_dev_kmsg_cannot_disprove_is_a_fault() {
    // The thread that reads it is down.
    let world = World::new(PciTree::read(&FakeSysfs::with_gpu().root()));
    world.ingest_one(CONSOLE, xid_79(None, clock::boottime_ns()));
    assert_eq!(action(&world.stored(None)[0]), Some(Action::Page));

    // It was overwritten before it was read.
    let mut world = World::with_kmsg();
    world.ingest_one(CONSOLE, xid_79(None, clock::boottime_ns()));
    assert_eq!(action(&world.next_event()), Some(Action::Log));
    let kmsg = KMSG.name();
    world.hub.metrics.count_lost(kmsg, "overwritten", 1);
    let lost = crate::input::loss(kmsg, 1, "overwritten before they were read");
    world.ingest_one(KMSG, lost);
    let events = world.stored(Some(GPU));
    assert_eq!(
        (events[0].provenance, action(&events[0])),
        (Provenance::Unknown, Some(Action::Page))
    );
}

#[test]
fn a_drill_is_counted_and_shown_apart_from_faults() {
    let world = World::with_kmsg();
    let mut drill = xid_79(Some(1), clock::boottime_ns());
    drill.provenance = Provenance::Injected;
    world.ingest_one(KMSG, drill);
    assert_eq!(world.counted(), [0, 0, 1, 0]);
    let apart = ("fatal".to_owned(), "injected".to_owned(), 1);
    assert_eq!(open(&world), [apart]);
    assert_eq!(world.hub.status().open_apart(), ["drills: 1"]);
    let event = world.stored(None).remove(0);
    world.acknowledged(&event);
    assert_eq!(open(&world), []);
}
