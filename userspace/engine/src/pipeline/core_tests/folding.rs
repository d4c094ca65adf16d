//! What is one event.

use super::*;

/// Both sources of the kernel log show the lines, each at its time.
fn log_lines<'a>(world: &World, lines: impl IntoIterator<Item = (&'a str, u64)>) {
    for (text, at_ns) in lines {
        for (witness, facility) in [(CONSOLE, None), (KMSG, Some(0))] {
            for occurrence in logged(text, facility, at_ns) {
                world.ingest_one(witness, occurrence);
            }
        }
    }
}

fn mmu_fault(gpu: &str, process: &str, unit: &str, address: u32) -> String {
    format!(
        "NVRM: Xid (PCI:{gpu}): 31, {process}, intr 00000000. MMU Fault: ENGINE {unit} GPC1 \
         GPCCLIENT_T1_3 faulted @ 0x7f_{address:08x}. Fault is of type FAULT_PDE \
         ACCESS_TYPE_VIRT_READ"
    )
}

#[test]
fn mmu_faults_at_a_thousand_addresses_are_one_event_and_other_places_are_others() {
    const FAULTS: u64 = 1000;
    let world = World::new(PciTree::default());
    let first_ns = clock::boottime_ns() - 2_000_000_000;
    let process = "pid=41822, name=python3, Ch 00000010";
    let at_addresses: Vec<String> = (0..FAULTS as u32)
        .map(|n| mmu_fault("0000:3b:00", process, "GRAPHICS", n << 12))
        .collect();
    let times = (0..).map(|n| first_ns + n * 1_000_000);
    log_lines(&world, at_addresses.iter().map(String::as_str).zip(times));
    let others = [
        mmu_fault("0000:5e:00", process, "GRAPHICS", 0),
        mmu_fault(
            "0000:3b:00",
            "pid=7, name=python3, Ch 00000010",
            "GRAPHICS",
            0,
        ),
        mmu_fault(
            "0000:3b:00",
            "pid=41822, name=python3, Ch 00000011",
            "GRAPHICS",
            0,
        ),
        mmu_fault("0000:3b:00", process, "CE3", 0),
        "NVRM: Xid (PCI:0000:3b:00): 43, pid=41822, name=python3, Ch 00000010".to_owned(),
    ];
    let after = first_ns + 1_500_000_000;
    log_lines(&world, others.iter().map(|text| (text.as_str(), after)));

    let events = world.stored(None);
    assert_eq!(events.len(), 1 + others.len(), "{events:#?}");
    let (faults, rest): (Vec<_>, Vec<_>) = events.iter().partition(|e| e.repeats > 0);
    let [event] = &faults[..] else {
        panic!("{faults:#?}");
    };
    assert!(rest.iter().all(|e| e.repeats == 0 && e.variants.is_empty()));
    assert_eq!(event.repeats, FAULTS - 1);
    assert_eq!([CONSOLE, KMSG].map(|w| count(event, w)), [FAULTS; 2]);
    assert!(event.message.contains("0x7f_00000000"), "{}", event.message);
    assert_eq!(event.variants.len(), 8);
    assert!(
        event.variants[7].message.contains("0x7f_00008000"),
        "{event:#?}"
    );
    let took = event.last_time.unwrap().duration_since(event.time);
    assert!((995..=1005).contains(&took.as_millis()), "{took:?}");
}

#[test]
fn the_exceptions_that_one_bad_kernel_raises_on_many_sms_are_one_event() {
    let mut lines = Vec::new();
    for (gpc, sm) in [(0, 0), (0, 1), (3, 0), (9, 0), (9, 1)] {
        let place = format!("(GPC {gpc}, TPC 1, SM {sm})");
        lines.extend([
            format!("Graphics SM Warp Exception on {place}: Out Of Range Address"),
            format!("Graphics SM Global Exception on {place}: Multiple Warp Errors"),
            format!("Graphics Exception: ESR 0x50{gpc}e{sm}8=0x107000e 0x50cf34=0x20"),
        ]);
    }
    lines.push("Graphics Exception: ChID 001f, Class 0000c7c0, Offset 0, Data 0".to_owned());
    let lines: Vec<String> = lines
        .iter()
        .map(|text| {
            format!("NVRM: Xid (PCI:0000:38:00): 13, pid='<unknown>', name=<unknown>, {text}")
        })
        .collect();
    let world = World::new(PciTree::default());
    let now = clock::boottime_ns();
    let times = (0..).map(|n| now - 4_000_000 + n * 250_000);
    log_lines(&world, lines.iter().map(String::as_str).zip(times));
    let events = world.stored(None);
    let repeats: Vec<_> = events
        .iter()
        .map(|e| (e.repeats, e.witnesses.len()))
        .collect();
    // The last names a channel.
    assert_eq!(repeats, [(14, 2), (0, 2)], "{events:#?}");
    assert_eq!(events[0].variants.len(), 8);
}

#[test]
fn a_counters_rise_is_stored_exactly_however_large() {
    let world = World::new(PciTree::read(&FakeSysfs::with_gpu().root()));
    for count in [1_000_000, 65_537] {
        let mut occurrence = ras(GPU, 2, clock::boottime_ns());
        occurrence.boottime_ns = None;
        world.send(Input::Observation(Box::new(Observation::new(
            SYSFS, occurrence, count,
        ))));
    }
    let events = world.stored(None);
    assert_eq!((events.len(), events[0].repeats), (1, 1_065_536));
    assert_eq!(count(&events[0], SYSFS), 1_065_537);
}

/// An error of memory as three sources report it, in any order: the line that something was logged, the machine check, and the EDAC
/// driver's report with the module.
#[test]
fn an_error_of_memory_is_one_event_whichever_source_is_first() {
    let at_ns = clock::boottime_ns() - 1_000_000_000;
    let notice = || {
        let text = "mce: [Hardware Error]: Machine check events logged";
        Input::once(KMSG, logged(text, Some(0), at_ns).remove(0))
    };
    let of_host = |kind, bank, error: &str| {
        let text = format!("{}{error}", crate::input::SYNTHETIC);
        let mut occurrence = Occurrence::new(kind, Severity::Info, text);
        occurrence.provenance = Provenance::Kernel;
        occurrence.boottime_ns = Some(at_ns);
        let host = &mut occurrence.detail.host;
        (host.mce_bank, host.corrected) = (bank, Some(true));
        host.error = Some(error.to_owned());
        occurrence
    };
    let check = || {
        Input::Check(Box::new(Observation::new(
            WitnessName::MceRecord,
            of_host(Kind::MachineCheck, Some(8), "machine check"),
            1,
        )))
    };
    let module = || {
        let occurrence = of_host(Kind::DimmError, None, "memory read error");
        Input::once(WitnessName::RasMemory, occurrence)
    };
    // At its end the core takes what waits.
    let events = |inputs: Vec<Input>| {
        let world = World::new(PciTree::default());
        inputs.into_iter().for_each(|input| world.send(input));
        let events = world.restart(PciTree::default()).stored(None);
        let observed = events
            .iter()
            .map(|e| (e.kind, e.repeats, e.witnesses.len()));
        observed.collect::<Vec<_>>()
    };
    let one = |kind, witnesses| vec![(kind, 0, witnesses)];
    for inputs in [
        vec![notice(), check(), module()],
        vec![module(), check(), notice()],
        vec![check(), notice(), module()],
    ] {
        assert_eq!(events(inputs), one(Kind::DimmError, 2));
    }
    // No EDAC driver reports it: the machine check is all that says what happened, and the line all that says that something did.
    assert_eq!(events(vec![notice(), check()]), one(Kind::MachineCheck, 1));
    assert_eq!(events(vec![check(), notice()]), one(Kind::MachineCheck, 1));
    assert_eq!(events(vec![notice()]), one(Kind::MachineCheck, 1));
}

/// /dev/kmsg has lost the first lines of a report, and is read before printk:console, which has them.
#[test]
fn the_rest_of_a_report_that_one_log_has_lost_waits_for_the_other() {
    let at_ns = clock::boottime_ns() - 1_000_000_000;
    let whole = corrected(GPU);
    let rest = whole.lines().skip(2).collect::<Vec<_>>().join("\n");
    let events = |both: bool| {
        let world = World::with_kmsg();
        for occurrence in logged(&rest, Some(0), at_ns) {
            world.ingest_one(KMSG, occurrence);
        }
        if both {
            for occurrence in logged(&whole, None, at_ns) {
                world.ingest_one(CONSOLE, occurrence);
            }
        }
        world.restart(PciTree::default()).stored(None)
    };
    let found = events(true);
    assert_eq!(found.len(), 1, "{found:#?}");
    assert_eq!(found[0].repeats, 0);
    assert!(found[0].detail.aer.severity.is_some());
    // Alone it is all that is known.
    let found = events(false);
    assert_eq!(found.len(), 1, "{found:#?}");
    assert!(found[0].detail.aer.severity.is_none());
}

#[test]
fn whose_a_process_is_that_had_no_gpu_before_its_fault_is_amended() {
    use crate::holders::{Places, Reading, Table, next};
    let mut world = World::new(PciTree::default());
    let pid = std::process::id();
    let fault = |boottime_ns| {
        let text = format!("NVRM: Xid (PCI:0000:3b:00): 13, pid={pid}, name=x, Graphics Exception");
        let [fault] = <[_; 1]>::try_from(logged(&text, Some(0), boottime_ns)).unwrap();
        fault
    };
    // Of a process that had this number before.
    world.ingest_one(KMSG, fault(1));
    assert!(world.next_event().process.unwrap().cgroup.is_none());
    assert!(world.hub.holders.take_started().is_empty());

    world.ingest_one(KMSG, fault(clock::boottime_ns()));
    let event = world.next_event();
    assert_eq!(event.detail.holders.holders, []);
    assert_eq!(world.hub.holders.take_started(), [pid].into());
    // A reading that had begun before the event came has not read its process.
    world.send(Input::Command(Command::HoldersRead([pid + 1].into())));
    world.flush();
    let reading = Reading {
        gpus: &[],
        allocations: &[],
        clients: &[],
        remote_clients: &[(pid, "client-1: train (7)".to_owned())].into(),
    };
    let table = next(
        &Table::default(),
        &reading,
        &Places::default(),
        Instant::now(),
    );
    world.hub.holders.set(table);
    world.send(Input::Command(Command::HoldersRead([pid].into())));
    let amended = world.next_event();
    assert_eq!(amended.id, event.id);
    let holder = &amended.detail.holders.holders[0];
    assert_eq!(holder.remote_client.as_deref(), Some("client-1: train (7)"));
}
