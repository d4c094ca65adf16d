use super::live::MAX_VARIANTS;
use super::*;
use crate::input::SYNTHETIC;
use gtrace_event::{Gpu, Process, Severity};

const S: u64 = 1_000_000_000;
const CONSOLE: WitnessName = WitnessName::PrintkConsole;
const KMSG: WitnessName = WitnessName::Kmsg;

fn xid(code: u32, message: &str, provenance: Provenance) -> Occurrence {
    let mut o = Occurrence::new(Kind::Xid, Severity::Critical, message);
    o.gpu = Some(Gpu::at("0000:3b:00.0".parse().unwrap()));
    o.detail.xid.xid = Some(code);
    o.provenance = provenance;
    o
}

struct World {
    fold: Fold,
}

impl World {
    fn new() -> Self {
        Self {
            fold: Fold::new(60 * S),
        }
    }

    fn ingest_one(&mut self, witness: WitnessName, at_ns: u64, occurrence: Occurrence) -> Folded {
        let folded = self.ingest(witness, at_ns, occurrence, 1);
        assert_eq!(folded.len(), 1, "{folded:?}");
        folded.into_iter().next().unwrap().0
    }

    fn ingest(
        &mut self,
        witness: WitnessName,
        at_ns: u64,
        occurrence: Occurrence,
        count: u64,
    ) -> Vec<(Folded, u64)> {
        let observed = Observed {
            witness,
            occurrence,
            at_ns,
            time: Timestamp::from_nanosecond(i128::from(at_ns)).unwrap(),
            count,
        };
        self.fold.take(observed, |_| {})
    }

    fn events(&mut self) -> Vec<Event> {
        let mut events: Vec<_> = self.fold.live.values().map(|l| l.event.clone()).collect();
        events.sort_by_key(|e| e.boottime_ns);
        events
    }
}

fn count(event: &Event, source: WitnessName) -> u64 {
    event
        .witnesses
        .iter()
        .find(|w| w.source == source)
        .map_or(0, |w| w.count)
}

#[test]
fn two_sources_of_one_occurrence_make_one_event_whichever_comes_first() {
    for order in [[CONSOLE, KMSG], [KMSG, CONSOLE]] {
        let mut world = World::new();
        for (i, witness) in order.into_iter().enumerate() {
            let provenance = if witness == KMSG {
                Provenance::Kernel
            } else {
                Provenance::Unknown
            };
            world.ingest_one(witness, S + i as u64 * 1000, xid(79, "m", provenance));
        }
        let events = world.events();
        assert_eq!(events.len(), 1);
        assert_eq!((events[0].repeats, events[0].witnesses.len()), (0, 2));
        assert_eq!(events[0].provenance, Provenance::Kernel);
    }
}

#[test]
fn a_burst_is_counted_once_though_the_second_source_lost_some_of_it() {
    let mut world = World::new();
    for i in 0..1000 {
        world.ingest_one(CONSOLE, S + i, xid(31, "same", Provenance::Unknown));
    }
    for i in (0..1000).filter(|i| i % 3 != 0) {
        world.ingest_one(KMSG, S + i, xid(31, "same", Provenance::Kernel));
    }
    let events = world.events();
    assert_eq!(events.len(), 1);
    assert_eq!(events[0].repeats, 999);
    assert_eq!(count(&events[0], CONSOLE), 1000);
    assert_eq!(count(&events[0], KMSG), 666);
}

#[test]
fn the_second_source_alone_goes_on_counting_when_the_first_falls_silent() {
    let mut world = World::new();
    world.ingest_one(CONSOLE, S, xid(31, "same", Provenance::Unknown));
    world.ingest_one(KMSG, S, xid(31, "same", Provenance::Kernel));
    world.ingest_one(KMSG, 20 * S, xid(31, "same", Provenance::Kernel));
    let events = world.events();
    assert_eq!((events.len(), events[0].repeats), (1, 1));
}

#[test]
fn past_the_window_or_with_another_text_it_is_another_event() {
    let mut world = World::new();
    world.ingest_one(CONSOLE, S, xid(31, "a", Provenance::Unknown));
    world.ingest_one(CONSOLE, 2 * S, xid(31, "b", Provenance::Unknown));
    world.ingest_one(CONSOLE, 70 * S, xid(31, "a", Provenance::Unknown));
    assert_eq!(world.events().len(), 3);
}

#[test]
fn a_forged_line_is_never_counted_to_the_kernels_event() {
    let mut world = World::new();
    world.ingest_one(CONSOLE, S, xid(79, "m", Provenance::Unknown));
    world.ingest_one(KMSG, S, xid(79, "m", Provenance::Kernel));
    // The same text again, by a process: the console cannot tell, /dev/kmsg can.
    let folded = world.ingest_one(CONSOLE, 2 * S, xid(79, "m", Provenance::Unknown));
    assert!(matches!(folded, Folded::Repeat(_)));
    let folded = world.ingest_one(KMSG, 2 * S, xid(79, "m", Provenance::Userspace));
    assert!(matches!(folded, Folded::New(_)));
    let events = world.events();
    assert_eq!(events.len(), 2);
    assert_eq!(
        (events[0].provenance, events[0].repeats),
        (Provenance::Kernel, 0)
    );
    assert_eq!(
        (events[1].provenance, events[1].repeats),
        (Provenance::Userspace, 0)
    );
}

#[test]
fn the_joined_record_of_kmsg_completes_what_a_piece_said() {
    let mut world = World::new();
    let piece = "NVRM: Xid (PCI:0000:3b:00): 79, ";
    let whole = "NVRM: Xid (PCI:0000:3b:00): 79, pid=12, name=x, GPU has fallen off the bus.";
    world.ingest_one(CONSOLE, S, xid(79, piece, Provenance::Unknown));
    let mut full = xid(79, whole, Provenance::Kernel);
    full.process = Some(Process {
        pid: Some(12),
        ..Process::default()
    });
    world.ingest_one(KMSG, S + 5, full);
    let events = world.events();
    assert_eq!(events.len(), 1);
    assert_eq!(events[0].message, whole);
    assert_eq!(events[0].process.as_ref().unwrap().pid, Some(12));
    assert_eq!(events[0].witnesses.len(), 2);
}

#[test]
fn a_text_that_begins_like_another_is_no_piece_of_it() {
    for (first, second) in [(KMSG, CONSOLE), (CONSOLE, KMSG)] {
        let mut world = World::new();
        world.ingest_one(first, S, xid(31, "number 1", Provenance::Unknown));
        world.ingest_one(second, S + 1, xid(31, "number 19", Provenance::Unknown));
        assert_eq!(world.events().len(), 2);
    }
    let mut world = World::new();
    world.ingest_one(KMSG, S, xid(31, "number:", Provenance::Unknown));
    world.ingest_one(CONSOLE, S + 1, xid(31, "number: 1", Provenance::Unknown));
    assert_eq!(world.events().len(), 2, "only /dev/kmsg has whole records");
    let mut world = World::new();
    world.ingest_one(CONSOLE, S, xid(31, "late:", Provenance::Unknown));
    world.ingest_one(KMSG, 2 * S, xid(31, "late: more", Provenance::Unknown));
    assert_eq!(world.events().len(), 2, "a second apart");
}

#[test]
fn a_tracepoint_without_text_gets_the_logs_text_and_detail() {
    let mut world = World::new();
    let process = Some(Process {
        pid: Some(42),
        ..Process::default()
    });
    let mut bare = Occurrence::new(
        Kind::OomKill,
        Severity::Warning,
        format!("{SYNTHETIC}oom victim 42"),
    );
    bare.process.clone_from(&process);
    world.ingest_one(WitnessName::OomVictim, S, bare);
    let mut text = Occurrence::new(
        Kind::OomKill,
        Severity::Warning,
        "Out of memory: Killed ...",
    );
    text.process = process;
    text.detail.host.cgroup = Some("/a".to_owned());
    world.ingest_one(KMSG, S + 5, text);
    let events = world.events();
    assert_eq!(events.len(), 1);
    assert_eq!(events[0].message, "Out of memory: Killed ...");
    assert_eq!(events[0].detail.host.cgroup.as_deref(), Some("/a"));
}

#[test]
fn amendments_carry_each_change_once_and_fold_to_the_event() {
    let mut world = World::new();
    let id = world
        .ingest_one(CONSOLE, S, xid(79, "m", Provenance::Unknown))
        .id();
    let mut reader = world.fold.event(id).unwrap().clone();
    world.ingest_one(KMSG, S, xid(79, "m", Provenance::Kernel));
    world.ingest_one(CONSOLE, 2 * S, xid(79, "m", Provenance::Unknown));
    let now = Timestamp::now();
    let amendments = world.fold.amendments(now, MAX_LIVE);
    assert_eq!(amendments.len(), 1);
    reader.apply(&amendments[0].0);
    assert_eq!(&reader, world.fold.event(id).unwrap());
    assert_eq!(reader, amendments[0].1);
    assert!(world.fold.amendments(now, MAX_LIVE).is_empty());
    assert!(!world.fold.is_dirty());
}

#[test]
fn the_newest_occurrence_is_the_newest_since_boot_also_by_a_clock_that_was_set_back() {
    let mut world = World::new();
    let mut take = |at_ns: u64, second: i64| {
        let observed = Observed {
            witness: KMSG,
            occurrence: xid(31, "same", Provenance::Kernel),
            at_ns,
            time: Timestamp::from_second(second).unwrap(),
            count: 1,
        };
        world.fold.take(observed, |_| {});
    };
    take(10 * S, 5000);
    take(11 * S, 5001);
    take(12 * S, 1402);
    let events = world.events();
    assert_eq!((events.len(), events[0].repeats), (1, 2));
    assert_eq!(
        events[0].last_time,
        Some(Timestamp::from_second(1402).unwrap())
    );
}

#[test]
fn an_adopted_event_pairs_with_the_history_that_it_was_made_from() {
    let mut world = World::new();
    for i in 0..5 {
        world.ingest_one(
            CONSOLE,
            S + i * S / 10,
            xid(31, "same", Provenance::Unknown),
        );
    }
    for i in 0..2 {
        world.ingest_one(KMSG, S + i * S / 10, xid(31, "same", Provenance::Kernel));
    }
    let event = world.events().remove(0);
    let key = xid(31, "same", Provenance::Kernel).fold_key();
    let mut restarted = World::new();
    restarted.fold.adopt(event, key, S + 4 * S / 10, 1000 * S);
    // The history may come late: a daemon that starts loads its probes first.
    restarted.fold.expire(1060 * S);
    // The log still has the last three, and one that came while nobody watched.
    for i in 2..6 {
        restarted.ingest_one(KMSG, S + i * S / 10, xid(31, "same", Provenance::Kernel));
    }
    let events = restarted.events();
    assert_eq!(events.len(), 1);
    assert_eq!(events[0].repeats, 5);
    assert_eq!(
        (count(&events[0], CONSOLE), count(&events[0], KMSG)),
        (5, 6)
    );
}

#[test]
fn a_fault_of_now_stays_for_its_second_witness_while_a_long_history_is_read() {
    let mut world = World::new();
    let now = || xid(79, "now", Provenance::Injected);
    world.ingest_one(CONSOLE, 100 * S, now());
    for i in 0..2 * MAX_LIVE as u64 {
        let before = xid(31, &format!("message {i}"), Provenance::Injected);
        world.ingest_one(KMSG, 90 * S + i, before);
    }
    world.fold.expire(100 * S);
    assert_eq!(world.fold.len(), MAX_LIVE);
    let folded = world.ingest_one(KMSG, 100 * S, now());
    assert!(matches!(folded, Folded::Witnessed(_)), "{folded:?}");
}

#[test]
fn a_witness_that_is_too_far_behind_doubles_what_has_gone_and_nothing_else() {
    let mut world = World::new();
    let all = 2 * MAX_LIVE as u64;
    let line = |i: u64| xid(31, &format!("message {i}"), Provenance::Injected);
    for i in 0..all {
        world.ingest_one(CONSOLE, S + i, line(i));
    }
    world.fold.expire(S);
    let mut doubled = 0;
    for i in 0..all {
        let folded = world.ingest_one(KMSG, S + i, line(i));
        doubled += usize::from(matches!(folded, Folded::New(_)));
        if i % 64 == 63 {
            world.fold.expire(S);
        }
    }
    assert_eq!(doubled, MAX_LIVE);
}

#[test]
fn live_events_stay_bounded_and_dirty_ones_are_kept() {
    let mut world = World::new();
    for i in 0..(2 * MAX_LIVE as u64) {
        world.ingest_one(
            CONSOLE,
            S + i,
            xid(31, &format!("message {i}"), Provenance::Unknown),
        );
    }
    world.fold.expire(S);
    assert_eq!(world.fold.len(), MAX_LIVE);
    let key = xid(
        31,
        &format!("message {}", 2 * MAX_LIVE - 1),
        Provenance::Unknown,
    );
    assert!(matches!(
        world.ingest_one(CONSOLE, 2 * S, key),
        Folded::Repeat(_)
    ));
    world.fold.expire(1000 * S);
    assert_eq!(world.fold.len(), 1);
    world.fold.amendments(Timestamp::now(), MAX_LIVE);
    world.fold.expire(1000 * S);
    assert!(world.fold.is_empty() && world.fold.by_key.is_empty());
    assert!(world.fold.by_code.is_empty());
}

const REPORT: WitnessName = WitnessName::ReportError;

#[test]
fn a_report_without_text_that_was_reported_alone_gets_a_late_text() {
    let mut world = World::new();
    let alone = xid(79, "(no text) Xid 79 of 0000:3b:00.0", Provenance::Kernel);
    let id = world.ingest_one(REPORT, S, alone).id();
    let text = xid(
        79,
        "NVRM: Xid (PCI:0000:3b:00): 79, gone",
        Provenance::Unknown,
    );
    let folded = world.ingest_one(CONSOLE, S + 1000, text.clone());
    assert_eq!(folded, Folded::Witnessed(id));
    assert_eq!(
        world.ingest_one(KMSG, S + 2000, text),
        Folded::Witnessed(id)
    );
    let events = world.events();
    assert_eq!(events.len(), 1);
    assert_eq!(events[0].message, "NVRM: Xid (PCI:0000:3b:00): 79, gone");
    assert_eq!(events[0].witnesses.len(), 3);
    assert_eq!(events[0].repeats, 0);
}

#[test]
fn a_report_finds_the_text_that_came_before_it_and_only_once() {
    let mut world = World::new();
    let text = xid(
        79,
        "NVRM: Xid (PCI:0000:3b:00): 79, gone",
        Provenance::Unknown,
    );
    let id = world.ingest_one(CONSOLE, S, text.clone()).id();
    let code = ("0000:3b:00.0".parse().unwrap(), 79);
    let unreported = |world: &World, at_ns| world.fold.unreported_by_code(REPORT, code, at_ns, S);
    assert_eq!(unreported(&world, S + 1000), Some(id));
    assert_eq!(unreported(&world, 3 * S), None);
    world.ingest_one(REPORT, S + 1000, text);
    assert_eq!(unreported(&world, S + 2000), None);
}

#[test]
fn a_report_between_the_pieces_of_a_record_does_not_part_them() {
    let mut world = World::new();
    let piece = xid(79, "NVRM: Xid (PCI:0000:3b:00): 79,", Provenance::Unknown);
    let whole = xid(
        79,
        "NVRM: Xid (PCI:0000:3b:00): 79, gone",
        Provenance::Kernel,
    );
    let id = world.ingest_one(CONSOLE, S, piece.clone()).id();
    assert_eq!(world.ingest_one(REPORT, S, piece), Folded::Witnessed(id));
    assert_eq!(
        world.ingest_one(KMSG, S + 1000, whole),
        Folded::Witnessed(id)
    );
    assert_eq!(world.events().len(), 1);
}

#[test]
fn what_a_source_loses_bit_by_bit_is_one_event_with_the_sum() {
    let mut world = World::new();
    let mut at = S;
    for lost in [130, 8, 130, 3] {
        let text = format!("{lost} records of /dev/kmsg are lost: overwritten");
        let mut o = Occurrence::new(Kind::SourceLost, Severity::Warning, text);
        o.provenance = Provenance::Kernel;
        o.detail.source.source = Some("/dev/kmsg".to_owned());
        o.detail.source.reason = Some("overwritten".to_owned());
        o.detail.source.lost = Some(lost);
        at += 1000;
        world.ingest_one(KMSG, at, o);
    }
    let events = world.events();
    assert_eq!(events.len(), 1);
    assert_eq!(events[0].detail.source.lost, Some(271));
    assert_eq!(events[0].repeats, 3);
    assert_eq!(
        events[0].message,
        "271 records of /dev/kmsg are lost: overwritten"
    );
}

#[test]
fn the_rest_of_a_report_whose_severity_was_lost_is_no_event_of_its_own() {
    let mut world = World::new();
    let aer = |severity: Option<&str>| {
        let mut o = Occurrence::new(Kind::Aer, Severity::Warning, "device");
        o.detail.pcie.pci_device = Some("0000:01:00.0".parse().unwrap());
        o.detail.aer.severity = severity.map(str::to_owned);
        o
    };
    let id = world.ingest_one(CONSOLE, S, aer(Some("Corrected"))).id();
    assert_eq!(
        world.ingest_one(KMSG, S + 1000, aer(None)),
        Folded::Witnessed(id)
    );
    assert_eq!(world.events().len(), 1);
    assert_eq!(world.events()[0].repeats, 0);
    // Long after it, it is all that is known.
    assert!(matches!(
        world.ingest_one(KMSG, 60 * S, aer(None)),
        Folded::New(_)
    ));
}

#[test]
fn a_report_that_goes_on_after_a_while_is_counted_once() {
    let mut world = World::new();
    let device = "0000:01:00.0".parse().unwrap();
    let aer = |message: &str| {
        let mut o = Occurrence::new(Kind::Aer, Severity::Warning, message);
        o.detail.pcie.pci_device = Some(device);
        o.detail.aer.severity = Some("Corrected".to_owned());
        o
    };
    let rest = Occurrence {
        continues: true,
        ..aer("the registers")
    };
    let id = world.ingest_one(KMSG, S, aer("the port's message")).id();
    for witness in [KMSG, CONSOLE] {
        let folded = world.ingest_one(witness, 2 * S, rest.clone());
        assert_eq!(folded, Folded::Witnessed(id));
    }
    let events = world.events();
    assert_eq!(events.len(), 1);
    assert_eq!(events[0].repeats, 0);
    assert_eq!(events[0].message, "the port's message\nthe registers");
    assert_eq!(events[0].witnesses[0].count, 1);
    // Without its beginning it is all that is known.
    let alone = Occurrence { ..rest };
    assert!(matches!(
        world.ingest_one(KMSG, 300 * S, alone),
        Folded::New(_) | Folded::Repeat(_)
    ));
}

#[test]
fn what_has_no_room_is_one_event_that_is_recorded_whole_or_lost_and_counted() {
    let mut world = World::new();
    let now = Timestamp::now();
    let occurrence = |code| xid(code, "m", Provenance::Kernel);
    let first = world.ingest_one(KMSG, S, occurrence(79)).id();
    world.fold.hold_back(first);
    assert!(world.fold.is_dirty() && world.fold.is_held_back(first));
    let folded = world.ingest_one(CONSOLE, S, occurrence(79));
    assert_eq!(folded, Folded::Witnessed(first));
    let folded = world.ingest_one(KMSG, 2 * S, occurrence(79));
    assert_eq!(folded, Folded::Repeat(first));
    assert!(
        world.fold.amendments(now, MAX_LIVE).is_empty(),
        "of a record that is not there"
    );
    let shown = world.fold.changed_held_back();
    assert_eq!((shown.len(), shown[0].repeats), (1, 1));
    assert!(world.fold.changed_held_back().is_empty());
    world.ingest_one(KMSG, 3 * S, occurrence(79));
    assert!(world.fold.take_held_back(Some(2 * S), MAX_LIVE).is_empty());
    let recorded = world.fold.take_held_back(Some(3 * S), MAX_LIVE);
    assert_eq!(recorded, world.events());
    assert_eq!((recorded[0].repeats, recorded[0].witnesses.len()), (2, 2));
    assert_eq!(recorded[0].revision, 0, "nothing came before it");
    assert!(!world.fold.is_held_back(first));
    assert!(world.fold.amendments(now, MAX_LIVE).is_empty());
    assert!(!world.fold.is_dirty());

    // However many come while there is no room, and however often they come again.
    for n in 0..2 * MAX_LIVE as u64 {
        let new = xid(31, &format!("message {n}"), Provenance::Kernel);
        let id = world.ingest_one(KMSG, 4 * S + n, new.clone()).id();
        world.fold.hold_back(id);
        world.ingest_one(CONSOLE, 4 * S + n, new);
    }
    world.fold.expire(5 * S);
    assert_eq!(world.fold.len(), MAX_LIVE);
    // The one that has a record is the first to go.
    assert_eq!(world.fold.take_lost(), MAX_LIVE as u64);
    let some = world.fold.take_held_back(None, MAX_LIVE / 2);
    assert_eq!(some.len(), MAX_LIVE / 2);
    world.fold.expire(1000 * S);
    assert_eq!(world.fold.take_lost(), MAX_LIVE as u64 / 2);
    assert!(world.fold.is_empty() && !world.fold.is_dirty());
}

#[test]
fn changes_beyond_what_has_room_wait() {
    let mut world = World::new();
    for code in [13, 31, 79] {
        let text = format!("Xid {code}");
        world.ingest_one(CONSOLE, S, xid(code, &text, Provenance::Unknown));
        world.ingest_one(KMSG, S, xid(code, &text, Provenance::Kernel));
    }
    let mut amendments = |most| world.fold.amendments(Timestamp::now(), most).len();
    assert_eq!([amendments(2), amendments(2), amendments(2)], [2, 1, 0]);
}

/// An MMU fault of one engine and channel.
fn mmu_fault(address: &str, provenance: Provenance) -> Occurrence {
    let text = format!("NVRM: Xid (PCI:0000:3b:00): 31, pid=7, Ch 10 MMU Fault @ {address}");
    let mut o = xid(31, &text, provenance);
    o.detail.xid.engine = Some("GRAPHICS".to_owned());
    o.detail.xid.channel = Some("0x10".to_owned());
    o.detail.xid.fault_addr = Some(address.to_owned());
    o
}

fn texts(event: &Event) -> Vec<&str> {
    let variants = event.variants.iter();
    variants
        .map(|v| v.message.rsplit(' ').next().unwrap())
        .collect()
}

#[test]
fn particulars_that_differ_are_variants_of_one_event_and_bounded() {
    let mut world = World::new();
    for n in 0..1000 {
        let at = S + n * 1000;
        let address = format!("0x{n:x}");
        world.ingest_one(CONSOLE, at, mmu_fault(&address, Provenance::Unknown));
        world.ingest_one(KMSG, at, mmu_fault(&address, Provenance::Kernel));
    }
    let events = world.events();
    let [event] = &events[..] else {
        panic!("{} events", events.len());
    };
    assert_eq!(
        (event.repeats, count(event, CONSOLE), count(event, KMSG)),
        (999, 1000, 1000)
    );
    assert_eq!(event.detail.xid.fault_addr.as_deref(), Some("0x0"));
    assert_eq!(
        texts(event),
        ["0x1", "0x2", "0x3", "0x4", "0x5", "0x6", "0x7", "0x8"]
    );
    assert_eq!(event.variants.len(), MAX_VARIANTS);
    assert_eq!(
        event.last_time.unwrap().as_nanosecond(),
        i128::from(S + 999_000)
    );
}

#[test]
fn what_one_occurrence_lacks_is_not_taken_from_another() {
    let mut world = World::new();
    let mut first = mmu_fault("0x1", Provenance::Kernel);
    first.detail.xid.fault_addr = None;
    world.ingest_one(KMSG, S, first.clone());
    first.detail.xid.gpc = Some(3);
    world.ingest_one(CONSOLE, S, first);
    world.ingest_one(KMSG, 2 * S, mmu_fault("0x2", Provenance::Kernel));
    let event = world.events().remove(0);
    assert_eq!(
        (event.detail.xid.gpc, &event.detail.xid.fault_addr),
        (Some(3), &None)
    );
    assert_eq!(texts(&event), ["0x2"]);
}

#[test]
fn a_forged_line_leaves_no_variant_in_the_kernels_event() {
    let mut world = World::new();
    world.ingest_one(CONSOLE, S, mmu_fault("0x1", Provenance::Unknown));
    world.ingest_one(KMSG, S, mmu_fault("0x1", Provenance::Kernel));
    world.ingest_one(CONSOLE, 2 * S, mmu_fault("0x2", Provenance::Unknown));
    world.ingest_one(KMSG, 2 * S, mmu_fault("0x2", Provenance::Userspace));
    let events = world.events();
    assert_eq!((events[0].repeats, texts(&events[0])), (0, vec![]));
    assert_eq!(
        (events.len(), events[1].provenance),
        (2, Provenance::Userspace)
    );
}

#[test]
fn a_piece_with_the_identity_of_the_whole_record_gets_its_text() {
    let mut world = World::new();
    let piece = "NVRM: Xid (PCI:0000:3b:00): 13, Graphics SM Warp Exception on";
    let whole = format!("{piece} (GPC 9, TPC 1, SM 1): Out Of Range Address");
    world.ingest_one(CONSOLE, S, xid(13, piece, Provenance::Unknown));
    let mut full = xid(13, &whole, Provenance::Kernel);
    full.detail.xid.gpc = Some(9);
    world.ingest_one(KMSG, S + 5, full);
    let event = world.events().remove(0);
    assert_eq!((event.message, event.repeats), (whole, 0));
    assert_eq!((event.detail.xid.gpc, event.variants.len()), (Some(9), 0));
}

fn corrected_errors() -> Occurrence {
    let mut o = Occurrence::new(Kind::Aer, Severity::Info, "(no text) corrected errors");
    o.detail.pcie.pci_device = Some("0000:3b:00.0".parse().unwrap());
    o.detail.aer.severity = Some("Corrected".to_owned());
    o.provenance = Provenance::Kernel;
    o
}

#[test]
fn the_rise_of_a_counter_is_counted_in_one_pass_and_exactly() {
    const RISE: u64 = 3_000_000_000;
    let mut world = World::new();
    let folded = world.ingest(WitnessName::SysfsAer, S, corrected_errors(), RISE);
    assert!(matches!(folded[..], [(Folded::New(_), RISE)]), "{folded:?}");
    let folded = world.ingest(WitnessName::SysfsAer, 2 * S, corrected_errors(), RISE);
    assert!(
        matches!(folded[..], [(Folded::Repeat(_), RISE)]),
        "{folded:?}"
    );
    let event = world.events().remove(0);
    assert_eq!(event.repeats, 2 * RISE - 1);
    assert_eq!(count(&event, WitnessName::SysfsAer), 2 * RISE);
}

#[test]
fn a_counter_that_rose_by_more_than_others_saw_is_their_witness_and_counts_the_rest() {
    let mut world = World::new();
    for n in 0..300_000 {
        world.ingest_one(WitnessName::RasAer, S + n * 100_000, corrected_errors());
    }
    let folded = world.ingest(WitnessName::SysfsAer, 32 * S, corrected_errors(), 300_007);
    assert!(
        matches!(
            folded[..],
            [(Folded::Witnessed(_), 300_000), (Folded::Repeat(_), 7)]
        ),
        "{folded:?}"
    );
    let event = world.events().remove(0);
    assert_eq!(event.repeats, 300_006);
    assert_eq!(count(&event, WitnessName::SysfsAer), 300_007);
}

#[test]
fn what_a_slow_poll_found_first_is_not_counted_again_by_who_saw_it_happen() {
    let mut world = World::new();
    // The tracepoint's records wait in a ring while the counter is read.
    world.ingest(WitnessName::SysfsAer, 60 * S, corrected_errors(), 9_000);
    for n in 0..9_000 {
        world.ingest_one(
            WitnessName::RasAer,
            20 * S + n * 4_000_000,
            corrected_errors(),
        );
    }
    let event = world.events().remove(0);
    assert_eq!(world.events().len(), 1);
    assert_eq!(event.repeats, 8_999);
    assert_eq!(count(&event, WitnessName::RasAer), 9_000);
}

fn machine_check(bank: Option<u32>, error: &str, provenance: Provenance) -> Occurrence {
    let mut o = Occurrence::new(Kind::MachineCheck, Severity::Info, error);
    o.provenance = provenance;
    let host = &mut o.detail.host;
    (host.mce_bank, host.corrected) = (bank, Some(true));
    host.error = Some(error.to_owned());
    o
}

#[test]
fn that_machine_checks_were_logged_is_no_event_beside_the_machine_check() {
    let notice = |provenance| machine_check(None, "logged", provenance);
    let check = || machine_check(Some(8), "machine check", Provenance::Kernel);
    let mut world = World::new();
    let first = world.ingest_one(WitnessName::MceRecord, S, check());
    for (witness, provenance) in [(CONSOLE, Provenance::Unknown), (KMSG, Provenance::Kernel)] {
        let folded = world.ingest_one(witness, 2 * S, notice(provenance));
        assert_eq!(folded, Folded::Witnessed(first.id()));
    }
    // The kernel's own text of it, where it logs one.
    let folded = world.ingest_one(KMSG, 2 * S, check());
    assert_eq!(folded, Folded::Witnessed(first.id()));
    assert_eq!(world.events()[0].repeats, 0);
    // What a process wrote, and what is of another time, is.
    for (at, provenance) in [(3 * S, Provenance::Userspace), (60 * S, Provenance::Kernel)] {
        let folded = world.ingest_one(KMSG, at, notice(provenance));
        assert!(matches!(folded, Folded::New(_)), "{folded:?}");
    }
    // So is what is of memory, and reported with its module.
    let mut world = World::new();
    let first = world.ingest_one(WitnessName::RasMemory, S, memory_error());
    let folded = world.ingest_one(KMSG, S + 1, notice(Provenance::Kernel));
    assert_eq!(folded, Folded::Witnessed(first.id()));
    // Without the tracepoint it is all that is known.
    let mut world = World::new();
    let folded = world.ingest_one(KMSG, S, notice(Provenance::Kernel));
    assert!(matches!(folded, Folded::New(_)), "{folded:?}");
}

fn memory_error() -> Occurrence {
    let mut o = Occurrence::new(
        Kind::DimmError,
        Severity::Info,
        format!("{SYNTHETIC}DIMM A1"),
    );
    o.provenance = Provenance::Kernel;
    let host = &mut o.detail.host;
    (host.dimm, host.corrected) = (Some("A1".to_owned()), Some(true));
    o
}

#[test]
fn a_machine_check_of_memory_is_absorbed_once_for_each_report_with_a_module() {
    let mut world = World::new();
    let absorb = |world: &mut World, at_ns: u64| {
        let time = Timestamp::from_nanosecond(i128::from(at_ns)).unwrap();
        let check = machine_check(Some(8), "machine check", Provenance::Kernel);
        world
            .fold
            .absorb_check(WitnessName::MceRecord, &check, at_ns, time)
    };
    assert!(!absorb(&mut world, S), "nobody reports memory");
    // A line of the log alone is no report that each of them gets.
    world.ingest_one(KMSG, S, memory_error());
    assert!(!absorb(&mut world, S));
    for at in [2 * S, 3 * S] {
        world.ingest_one(WitnessName::RasMemory, at, memory_error());
    }
    assert!(absorb(&mut world, 2 * S));
    assert!(absorb(&mut world, 3 * S));
    assert!(!absorb(&mut world, 3 * S), "two reports, three checks");
    let mut deferred = memory_error();
    deferred.detail.host.corrected = Some(false);
    let mut other = World::new();
    other.ingest_one(WitnessName::RasMemory, S, deferred);
    assert!(!absorb(&mut other, S), "not corrected");
    world.ingest_one(WitnessName::RasMemory, 30 * S, memory_error());
    assert!(!absorb(&mut world, 45 * S), "of another time");
    let events = world.events();
    assert_eq!(events.len(), 1);
    assert_eq!(count(&events[0], WitnessName::MceRecord), 2);
}

#[test]
fn a_deferred_error_of_memory_is_the_one_that_is_reported_with_its_module() {
    let not_corrected = |mut occurrence: Occurrence| {
        occurrence.detail.host.corrected = Some(false);
        occurrence
    };
    let text = "deferred error";
    let check = not_corrected(machine_check(Some(17), text, Provenance::Kernel));
    let mut line = check.clone();
    line.message = "Unified Memory Controller Ext. Error Code: 0".to_owned();
    let mut world = World::new();
    let first = world.ingest_one(WitnessName::RasMemory, S, not_corrected(memory_error()));
    let time = Timestamp::from_nanosecond(i128::from(S)).unwrap();
    let fold = &mut world.fold;
    assert!(fold.absorb_check(WitnessName::MceRecord, &check, S, time));
    let folded = world.ingest_one(KMSG, S + 1, line.clone());
    assert_eq!(folded, Folded::Witnessed(first.id()));
    // Of a corrected one of that time it is not.
    let mut world = World::new();
    world.ingest_one(WitnessName::RasMemory, S, memory_error());
    let folded = world.ingest_one(KMSG, S + 1, line);
    assert!(matches!(folded, Folded::New(_)), "{folded:?}");
}

#[test]
fn an_error_of_firmware_of_unknown_severity_is_the_one_that_the_log_judges() {
    let mut world = World::new();
    let report = |error: &str| machine_check(None, error, Provenance::Kernel);
    let first = world.ingest_one(KMSG, S, report("ARM processor error"));
    let absorb = |world: &mut World, error: &str| {
        let mut bare = report(error);
        bare.detail.host.corrected = None;
        let time = Timestamp::from_nanosecond(i128::from(S)).unwrap();
        world
            .fold
            .absorb_check(WitnessName::RasFirmware, &bare, S, time)
    };
    assert!(!absorb(&mut world, "unknown, 1"), "another section");
    assert!(absorb(&mut world, "ARM processor error"));
    assert!(!absorb(&mut world, "ARM processor error"), "once");
    let event = world.fold.event(first.id()).unwrap();
    assert_eq!(count(event, WitnessName::RasFirmware), 1);
    assert_eq!(event.detail.host.corrected, Some(true));
}
