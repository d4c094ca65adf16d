use gtrace_api::{
    Coverage, CudaCalls, CudaReport, CudaState, FunctionCost, LayerCounts, ProcessUse, Status,
};
use gtrace_event::{EventId, Gpu, Kind, Occurrence, Provenance, WitnessName};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::super::host::HostReading;
use super::super::model::Wish;
use super::super::process_lines;
use super::super::update::{Readings, Update};
use super::*;

fn screen(model: &mut Model, width: u16, height: u16) -> String {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    let now = "2026-03-03T04:05:18Z".parse().unwrap();
    terminal
        .draw(|frame| draw(frame, model, now, &TimeZone::UTC))
        .unwrap();
    let buffer = terminal.backend().buffer();
    let rows = buffer.content().chunks(usize::from(width));
    rows.map(|row| row.iter().map(|cell| cell.symbol()).collect::<String>() + "\n")
        .collect()
}

fn event(code: u32, message: &str) -> Event {
    let time = "2026-03-03T04:05:06Z".parse().unwrap();
    let mut occurrence = Occurrence::new(Kind::Xid, Severity::Fatal, message);
    occurrence.detail.xid.xid = Some(code);
    occurrence.gpu = Some(Gpu::at("0000:3b:00.0".parse().unwrap()));
    Event::seen(time, WitnessName::Kmsg, 1, occurrence)
}

fn readings() -> Readings {
    let source = |name: &str, state, reason: Option<&str>| SourceStatus {
        name: name.into(),
        state,
        reason: reason.map(Into::into),
        records: 12,
        lost: 3,
        ..SourceStatus::default()
    };
    let status = Status {
        version: "0.1.0".into(),
        pid: 1,
        host: "node7".into(),
        started: "2026-03-03T04:00:00Z".parse().unwrap(),
        last_seq: 2,
        events: [("fatal".to_owned(), 2)].into(),
        events_apart: [("injected".to_owned(), [("fatal".to_owned(), 4)].into())].into(),
        sources: vec![
            source("printk:console", SourceState::Active, None),
            source("nvml", SourceState::Failed, Some("libnvidia-ml.so.1 hangs")),
        ],
        ..Status::default()
    };
    let call = CallStats {
        pid: 42,
        comm: "python3".into(),
        ioctl: "0xc020462a".into(),
        op: Some("RM_CONTROL".into()),
        code_name: Some("NV2080_CTRL_CMD_GPU_GET_INFO_V2".into()),
        count: 100,
        errors: 1,
        total_ns: 1,
        p50_ns: 950,
        p90_ns: 1250,
        p99_ns: 30_100_000,
        p999_ns: 0,
        max_ns: 2_000_000_000,
        ..CallStats::default()
    };
    let counters = Counters::parse(
        "gtrace_xid_total{gpu=\"0000:3b:00.0\",xid=\"79\",provenance=\"kernel\"} 3\n\
         gtrace_xid_total{gpu=\"0000:3b:00.0\",xid=\"48\",provenance=\"injected\"} 1\n",
    );
    let gpu = GpuInfo::at("0000:3b:00.0".parse().unwrap());
    Readings {
        status,
        gpus: vec![gpu],
        calls: vec![call],
        counters,
        processes: vec![process(100)],
        cuda: CudaReport {
            state: CudaState::Active,
            calls: vec![CudaCalls {
                pid: Some(42),
                function: "cuLaunchKernel".into(),
                calls: 100,
                ..CudaCalls::default()
            }],
            ..CudaReport::default()
        },
        at: std::time::Instant::now(),
        host: HostReading::default(),
    }
}

fn process(calls: u64) -> ProcessUse {
    ProcessUse {
        pid: 42,
        comm: "python3".into(),
        container: Some("c0ffee".repeat(10) + "beef"),
        cpu_seconds: 1.0,
        api: Some(LayerCounts {
            calls,
            total_ns: calls * 1_000,
            max_ns: 1_000,
            buckets: vec![(gtrace_abi::bucket_of(1_000) as u16, calls)],
            ..LayerCounts::default()
        }),
        ledger_bytes: Some(3 << 30),
        ..ProcessUse::default()
    }
}

fn model() -> Model {
    let mut model = Model::default();
    model.apply(Update::Event(Box::new(event(31, "NVRM: Xid: 31, first"))));
    model.apply(Update::Event(Box::new(event(
        79,
        "NVRM: Xid: 79, second \x1b[2J",
    ))));
    model.apply(Update::Readings(Box::new(readings())));
    model
}

fn press(model: &mut Model, code: KeyCode) -> Option<Wish> {
    model.key(KeyEvent::new(code, KeyModifiers::NONE))
}

fn type_text(model: &mut Model, text: &str) {
    for c in text.chars() {
        assert_eq!(press(model, KeyCode::Char(c)), None);
    }
}

#[test]
fn a_wide_terminal_shows_every_pane_and_no_control_character() {
    let text = screen(&mut model(), 140, 40);
    for part in [
        "node7",
        "open: 2 fatal  (besides: drills: 4)",
        "Xid 48 0000:3b:00.0 injected",
        "FATAL    Xid 79 0000:3b:00.0 NVRM: Xid: 79, second \\x1b[2J",
        "Xid 79 0000:3b:00.0                 3",
        "nvml                       FAILED          12",
        "LOST 3 records",
        "libnvidia-ml.so.1 hangs",
        "no sample",
        "42 python3",
        "950ns",
        "1.25us",
        "30.1ms",
        "2.00s",
    ] {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
    assert!(!text.contains('\x1b'));
    let newest = text.find("second").unwrap();
    assert!(
        newest < text.find("first").unwrap(),
        "the newest event comes first"
    );
}

#[test]
fn a_small_terminal_shows_the_pane_in_focus_and_no_size_panics() {
    let mut model = model();
    assert!(!screen(&mut model, 60, 12).contains("nvml"));
    press(&mut model, KeyCode::Tab);
    let text = screen(&mut model, 60, 12);
    assert!(text.contains("nvml") && !text.contains("second"), "{text}");
    model.details = true;
    for size in [(1, 1), (2, 3), (10, 2), (40, 5), (300, 100)] {
        for _ in Pane::ALL {
            press(&mut model, KeyCode::Tab);
            press(&mut model, KeyCode::PageDown);
            screen(&mut model, size.0, size.1);
        }
    }
}

#[test]
fn at_80x24_gpus_host_processes_and_events_share_the_screen() {
    let mut model = model();
    let text = screen(&mut model, 80, 24);
    for pane in [" GPUs ", " Host ", " Processes by ", " Events "] {
        assert!(text.contains(pane), "{pane} is not in\n{text}");
    }
    assert!(
        text.contains("FATAL") && text.contains("42 python3"),
        "{text}"
    );
    // The others come by tab, in the place of the processes.
    press(&mut model, KeyCode::Tab);
    let text = screen(&mut model, 80, 24);
    assert!(text.contains("nvml") && text.contains(" Events "), "{text}");
    assert!(!text.contains(" Processes by "), "{text}");
}

#[test]
fn question_mark_and_h_show_the_keys() {
    for key in ['?', 'h'] {
        let mut model = model();
        assert!(screen(&mut model, 80, 24).contains("? help"));
        press(&mut model, KeyCode::Char(key));
        for (width, height) in [(80, 24), (140, 40), (20, 5)] {
            screen(&mut model, width, height);
        }
        let text = screen(&mut model, 80, 24);
        for part in [
            "Keys",
            "acknowledge the event",
            "what processes are sorted by",
        ] {
            assert!(text.contains(part), "{part} is not in\n{text}");
        }
        press(&mut model, KeyCode::Esc);
        assert!(!screen(&mut model, 80, 24).contains("acknowledge the event"));
    }
}

#[test]
fn gpus_and_host_have_bars_and_a_past() {
    let mut model = model();
    for step in 0..3_u32 {
        let mut next = readings();
        let time = format!("2026-03-03T04:05:0{step}Z");
        let mut sample = gtrace_devices::GpuSample::at(time.parse().unwrap());
        sample.utilization.gpu = Some(step * 50);
        sample.memory.used = Some(20 << 30);
        sample.memory.total = Some(80 << 30);
        sample.temperature.gpu = Some(54);
        sample.temperature.slowdown_limit = Some(87);
        sample.power.draw_w = Some(312.0);
        sample.power.limit_w = Some(700.0);
        next.gpus[0].sample = Some(sample);
        next.host = HostReading {
            cpu: Some((u64::from(step) * 50, u64::from(step) * 100)),
            cpus: 8,
            load: Some([1.0, 2.0, 3.0]),
            memory: Some((16 << 30, 64 << 30)),
            waiting: [Some(0.25), Some(0.02), None],
            memory_full: Some(0.01),
            ..HostReading::default()
        };
        model.apply(Update::Readings(Box::new(next)));
    }
    let text = screen(&mut model, 140, 40);
    for part in [
        "0000:3b:00.0",
        "54/87 °C  312/700 W",
        "100 %",
        "▁▅█",
        "20.0 GiB",
        "CPU ██",
        "50 %",
        "16.0 GiB",
        "load 1.00 2.00 3.00",
        "PSI CPU 25 % mem 2 %",
        "all work waits for memory 1 %",
    ] {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
    let text = screen(&mut model, 80, 24);
    assert!(text.contains("GPU ██") && text.contains("CPU ██"), "{text}");
    // A terminal without UTF-8 gets the same picture in ASCII.
    let mut terminal = Terminal::new(TestBackend::new(140, 40)).unwrap();
    let now = "2026-03-03T04:05:18Z".parse().unwrap();
    let drawn = terminal.draw(|frame| {
        draw(frame, &mut model, now, &TimeZone::UTC);
        crate::to_ascii(frame.buffer_mut());
    });
    let cells = drawn.unwrap().buffer.content();
    let text: String = cells.iter().map(|cell| cell.symbol()).collect();
    // The foot has a question mark of its own.
    let known = text.replace("? help", "");
    assert!(text.is_ascii() && !known.contains('?'), "{text}");
    for part in ["CPU ##", "54/87 'C", "_=#", "+-"] {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
    // Another machine's daemon is not shown with this machine's load.
    let mut next = readings();
    next.status.boot_id = "another".into();
    model.apply(Update::Readings(Box::new(next)));
    assert!(screen(&mut model, 140, 40).contains("another host"));
}

#[test]
fn arrows_select_enter_shows_details_and_a_acknowledges_what_is_selected() {
    let mut model = model();
    press(&mut model, KeyCode::Down);
    let older: EventId = model.selected().unwrap().id;
    press(&mut model, KeyCode::Enter);
    let text = screen(&mut model, 140, 40);
    assert!(text.contains("message   NVRM: Xid: 31, first"), "{text}");
    // What comes meanwhile does not move the selection.
    model.apply(Update::Event(Box::new(event(13, "NVRM: Xid: 13, third"))));
    press(&mut model, KeyCode::Char('a'));
    type_text(&mut model, "quiet");
    assert!(screen(&mut model, 140, 40).contains("note: quiet_"));
    let wish = press(&mut model, KeyCode::Enter);
    assert_eq!(
        wish,
        Some(Wish::Ack {
            id: older,
            note: "quiet".into()
        })
    );
    assert!(!model.is_typing());
}

#[test]
fn the_filter_narrows_the_list_until_it_is_cleared() {
    let mut model = model();
    press(&mut model, KeyCode::Char('/'));
    type_text(&mut model, "xid 31");
    press(&mut model, KeyCode::Enter);
    assert_eq!(model.shown().len(), 1);
    press(&mut model, KeyCode::Esc);
    assert_eq!(model.shown().len(), 2);
}

#[test]
fn standing_still_holds_changes_back_and_loses_none() {
    let mut model = model();
    press(&mut model, KeyCode::Char('p'));
    let mut drill = event(62, "NVRM: Xid: 62, third");
    drill.provenance = Provenance::Injected;
    model.apply(Update::Event(Box::new(drill)));
    let text = screen(&mut model, 140, 40);
    assert!(
        text.contains("1 changes wait") && !text.contains("third"),
        "{text}"
    );
    press(&mut model, KeyCode::Char('p'));
    assert!(screen(&mut model, 140, 40).contains("INJECTED (drill) Xid 62"));
}

#[test]
fn a_daemon_that_goes_away_is_reported_and_its_return_too() {
    let mut model = model();
    model.apply(Update::Down("no gtrace daemon answers".into()));
    assert!(screen(&mut model, 140, 40).contains("NO DAEMON, values are old"));
    // Counts of many digits do not push it off a narrow screen, nor what else needs somebody.
    let status = &mut model.readings.as_mut().unwrap().status;
    status.paused = true;
    status.store_problem = Some("no space left".into());
    for provenance in ["injected", "userspace", "unknown"] {
        let counts = [("fatal".to_owned(), 123_456)].into();
        status.events_apart.insert(provenance.into(), counts);
    }
    let narrow = screen(&mut model, 80, 24);
    for mark in ["NO DAEMON, values are old", "PAUSED", "STORE PROBLEM"] {
        assert!(narrow.contains(mark), "{mark} in {narrow}");
    }
    assert!(screen(&mut model, 240, 40).contains("no space left"));
    model.apply(Update::Readings(Box::new(readings())));
    assert!(!screen(&mut model, 140, 40).contains("NO DAEMON"));
}

#[test]
fn processes_are_a_pane_with_rates_a_past_an_order_and_a_filter() {
    let mut model = model();
    let mut next = readings();
    next.at += std::time::Duration::from_secs(1);
    next.processes = vec![process(350)];
    next.processes[0].cpu_seconds = 1.5;
    model.apply(Update::Readings(Box::new(next)));
    let text = screen(&mut model, 140, 40);
    for part in ["Processes by CUDA calls", "c0ffeec0ffee", "3.0 GiB", "50%"] {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
    press(&mut model, KeyCode::Char('s'));
    press(&mut model, KeyCode::Char('z'));
    let text = screen(&mut model, 140, 40);
    assert!(text.contains("Processes by p99 of CUDA calls"), "{text}");
    assert!(!text.contains("Counters"), "{text}");
    press(&mut model, KeyCode::Enter);
    let text = screen(&mut model, 140, 40);
    for part in ["process    42 python3", "CUDA calls/s", "cuLaunchKernel"] {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
    press(&mut model, KeyCode::Enter);
    press(&mut model, KeyCode::Char('/'));
    type_text(&mut model, "nobody");
    press(&mut model, KeyCode::Enter);
    let text = screen(&mut model, 140, 40);
    assert!(text.contains("no process uses a GPU"), "{text}");
    press(&mut model, KeyCode::Esc);
    assert_eq!(model.shown_processes().len(), 1);
    // The events keep their own filter.
    assert_eq!(model.shown().len(), 2);
}

#[test]
fn a_figure_of_calls_that_are_not_all_seen_says_so_where_it_stands() {
    let second = |coverage, detached, time_every| {
        let mut model = model();
        let mut next = readings();
        next.at += std::time::Duration::from_secs(1);
        next.processes = vec![process(200)];
        let api = next.processes[0].api.as_mut().unwrap();
        (api.coverage, api.coverage_now) = (coverage, coverage);
        next.cuda.cost.functions = vec![FunctionCost {
            function: "cuLaunchKernel".into(),
            time_every,
            detached,
            ..FunctionCost::default()
        }];
        next.cuda.calls[0].coverage = coverage;
        let once = process_lines::lines_once(&next.processes).join("\n");
        model.apply(Update::Readings(Box::new(next)));
        while model.pane != Pane::Processes {
            press(&mut model, KeyCode::Tab);
        }
        press(&mut model, KeyCode::Char('z'));
        let row = screen(&mut model, 140, 40);
        press(&mut model, KeyCode::Enter);
        [once, row, screen(&mut model, 140, 40)]
    };
    for text in second(Coverage::All, false, 1) {
        assert!(!text.contains('≥') && !text.contains('~'), "{text}");
    }
    let [once, row, details] = second(Coverage::Partial, true, 1);
    for (text, parts) in [
        (&once, ["≥200", "not all calls are seen"]),
        (&row, [" ≥100 ", "not all calls are seen"]),
        (&details, ["unseen       ≥100", "≥100"]),
    ] {
        for part in parts {
            assert!(text.contains(part), "{part} is not in\n{text}");
        }
    }
    let [once, row, details] = second(Coverage::Sampled, false, 64);
    for text in [&once, &row] {
        assert!(
            text.contains("~") && text.contains("sample of the calls"),
            "{text}"
        );
        assert!(text.contains(" 100 ") || text.contains(" 200 "), "{text}");
    }
    assert!(details.contains("1/64        100"), "{details}");
}

#[test]
fn a_gpu_in_mig_mode_has_its_instances_below_it() {
    let mut model = model();
    let mut next = readings();
    let mut sample = gtrace_devices::GpuSample::at("2026-03-03T04:05:09Z".parse().unwrap());
    sample.mig = Some(gtrace_devices::MigMode {
        enabled: true,
        pending: true,
    });
    let mut instance = gtrace_devices::MigInstance {
        gi: 2,
        ci: 1,
        profile: Some("2c.3g.40gb".to_owned()),
        ..gtrace_devices::MigInstance::default()
    };
    (instance.memory.used, instance.memory.total) = (Some(3 << 30), Some(39 << 30));
    instance.activity.graphics = Some(0.45);
    sample.mig_instances = vec![instance];
    sample.vgpu_license = Some(gtrace_devices::VgpuLicense {
        licensed: false,
        product: None,
        term: None,
        expiry: None,
    });
    next.gpus[0].sample = Some(sample);
    let of_instance = "MIG 2/1 2c.3g.40gb   3.0 GiB of 39.0 GiB  0 processes  busy 45 %";
    assert!(gpu_lines(&next.gpus).join("\n").contains(of_instance));
    model.apply(Update::Readings(Box::new(next)));
    let text = screen(&mut model, 140, 40);
    assert!(
        text.contains("MIG 1 instance  NO LICENCE") && text.contains(of_instance),
        "{text}"
    );
}
