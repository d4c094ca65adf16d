//! An incident as it happens: a PCIe error, the GPU that falls off the bus, calls that fail, the job that dies.

#![allow(clippy::unwrap_used, clippy::expect_used, dead_code, unreachable_pub)]

use std::collections::BTreeMap;

use gtrace_event::{
    Action, Advice, Affected, CausalLink, Confidence, Event, FailureClass, Gpu, Incident,
    IncidentId, IncidentState, Kind, MissingEvidence, Occurrence, Process, Provenance, Record,
    Severity, StateChange, Timestamp, Witness, WitnessName,
};
use gtrace_profile::{Counts, Histogram, Key, Layer, Part, Process as Caller};
use gtrace_report::{
    Call, CallLayer, ChainRecord, ChainSegment, Fact, LatencyRow, LogRecord, Loss, Material,
    Report, Series, SnapshotPart, Window,
};
use jiff::SignedDuration;
use sha2::{Digest as _, Sha256};

pub const HOST: &str = "gpu-node-17.fra.example.com";
pub const GPU: &str = "0000:3b:00.0";
pub const PROCESS: &str = "train_llm.py";
pub const CONTAINER: &str = "4f1a9c0d7e2b3a5f6081726354453627f8e9dacbbcad9e8f70615243342516ab";
pub const USER: &str = "ann.operator";

/// Milliseconds after the fault.
pub fn at(ms: i64) -> Timestamp {
    let fault: Timestamp = "2026-03-03T03:12:07.250Z".parse().unwrap();
    fault.checked_add(SignedDuration::from_millis(ms)).unwrap()
}

pub fn event(
    ms: i64,
    kind: Kind,
    severity: Severity,
    witness: WitnessName,
    message: &str,
) -> Event {
    let mut occurrence = Occurrence::new(kind, severity, message);
    occurrence.provenance = Provenance::Kernel;
    // What was before the boot has none.
    occurrence.boottime_ns = u64::try_from(4_000_000_000_000_i64 + ms * 1_000_000).ok();
    let mut event = Event::seen(at(ms), witness, 1, occurrence);
    event.host = Some(HOST.to_owned());
    event.gpu = Some(Gpu {
        pci: Some(GPU.parse().unwrap()),
        uuid: Some("GPU-5fd1a0b2-0000-1111-2222-333344445555".to_owned()),
        index: Some(2),
        ..Gpu::default()
    });
    event
}

fn process() -> Process {
    Process {
        pid: Some(48_213),
        comm: Some(PROCESS.to_owned()),
        cgroup: Some(format!(
            "/kubepods.slice/pod77/cri-containerd-{CONTAINER}.scope"
        )),
        container: Some(CONTAINER.to_owned()),
    }
}

/// Milliseconds after the fault, kind, severity, witness, message.
const EVENTS: &str = "\
-41000|pcie_link|warning|sysfs:pci|PCIe link of 0000:3b:00.0 runs at 8 GT/s x16 of 16 GT/s x16
0|aer|critical|printk:console|AER
12|xid|fatal|printk:console|NVRM: Xid (PCI:0000:3b:00): 79, pid=48213, name=train_llm.py, GPU has fallen off the bus.
15|api_error|warning|driver:ioctl|RM_CONTROL of /dev/nvidia2 failed: NV_ERR_GPU_IS_LOST
640|gpu_process_exit|warning|sched:sched_process_exit|train_llm.py ended by signal 6 (SIGABRT)
2100|nccl_segfault|warning|/dev/kmsg|train_llm.py[48213]: segfault at 10 ip 00007f in libnccl.so.2
";

fn events() -> Vec<Event> {
    let aer = "pcieport 0000:3a:00.0: AER: Uncorrected (Fatal) error received: 0000:3a:00.0\npcieport 0000:3a:00.0: \
               PCIe Bus Error: severity=Uncorrected (Fatal), type=Transaction Layer, (Requester ID)";
    let of_row = |row: &str| {
        let [ms, kind, severity, witness, text] = row.split('|').collect::<Vec<_>>()[..] else {
            panic!("{row}");
        };
        let (ms, kind) = (ms.parse().unwrap(), kind.parse().unwrap());
        let mut witnesses = WitnessName::ALL.into_iter();
        let witness = witnesses.find(|one| one.name() == witness).unwrap();
        event(ms, kind, severity.parse().unwrap(), witness, text)
    };
    let mut all: Vec<Event> = EVENTS.lines().map(of_row).collect();
    all[1].message = aer.to_owned();
    all[2].detail.xid.xid = Some(79);
    all[2].witnesses.push(Witness {
        source: WitnessName::ReportError,
        count: 1,
        first_time: at(12),
    });
    all[3].repeats = 212;
    all[3].last_time = Some(at(630));
    for at in [2, 3, 4] {
        all[at].process = Some(process());
    }
    all[2].advice = Some(advice());
    all
}

fn advice() -> Advice {
    Advice {
        meaning: Some("The GPU no longer answers on the PCIe bus. All work on it is lost until it is reset.".to_owned()),
        vendor: vec![
            "Drain the node and collect nvidia-bug-report.sh before a reset.".to_owned(),
            "Reset the GPU or power-cycle the host; if it returns, reseat the card and check power and cooling.".to_owned(),
        ],
        action: Some(Action::Page),
        site: vec!["Cordon the node: kubectl cordon.".to_owned(), "Open a hardware ticket with slot and serial number.".to_owned()],
        rule: Some("site:xid:79".to_owned()),
    }
}

fn incident(events: &[Event]) -> Incident {
    let link = |from: usize, to: usize, confidence, rule: &str, why: &str| CausalLink {
        from: events[from].id,
        to: events[to].id,
        why: why.to_owned(),
        confidence,
        rule: rule.to_owned(),
    };
    let (high, medium) = (Confidence::High, Confidence::Medium);
    let lost = "the port above the GPU reported a fatal error 12 ms before the driver lost the GPU";
    let failed = "the driver fails every call to a GPU that is lost";
    let aborted = "the process aborted 10 ms after its last failed call";
    Incident {
        id: IncidentId::new(1_772_507_527_250),
        revision: 3,
        time: at(60_000),
        last_time: at(2_100),
        state: IncidentState::Acknowledged,
        title: "GPU 2 (0000:3b:00.0) fell off the bus after a fatal PCIe error; train_llm.py died"
            .to_owned(),
        host: Some(HOST.to_owned()),
        machine_id: Some("9f8e7d6c-1111-4222-8333-444455556666".to_owned()),
        boot_id: Some("0b1c2d3e-aaaa-4bbb-8ccc-ddddeeeeffff".to_owned()),
        events: events[1..].iter().map(|event| event.id).collect(),
        event_count: 5,
        occurrences: 217,
        chain: vec![
            link(1, 2, high, "aer-then-xid-79", lost),
            link(2, 3, high, "xid-79-then-calls", failed),
            link(3, 4, medium, "calls-then-exit", aborted),
        ],
        affected: Affected {
            gpus: events[2].gpu.clone().into_iter().collect(),
            processes: vec![process()],
            containers: vec![CONTAINER.to_owned()],
            jobs: vec!["slurm:4711".to_owned()],
            remote_clients: vec![],
        },
        advice: Some(advice()),
        missing: vec![MissingEvidence::new(
            "NVLink counters",
            "NVML did not answer after the fault",
        )],
        history: vec![StateChange::new(
            at(60_000),
            IncidentState::Acknowledged,
            USER,
            "on it; node is cordoned",
        )],
        ..Incident::new(at(0), FailureClass::Pcie, Severity::Fatal)
    }
}

fn counts(center: u64, calls: u64) -> Counts {
    let mut histogram = Histogram::default();
    (0..calls).for_each(|n| histogram.record(center + n * 7919 % (center / 3)));
    Counts {
        errors: Some(0),
        ..Counts::timed(histogram)
    }
}

fn latency() -> Vec<LatencyRow> {
    let row = |function: &str, before: u64, during: u64| LatencyRow {
        key: Key {
            process: Caller {
                host: HOST.to_owned(),
                pid: 48_213,
                comm: PROCESS.to_owned(),
                ..Caller::default()
            },
            layer: Layer::Driver,
            function: function.to_owned(),
            part: Part::Whole,
            gpu: Some(GPU.to_owned()),
        },
        before: counts(before, 5_000),
        during: Counts {
            errors: Some(212),
            ..counts(during, 900)
        },
        after: counts(before, 300),
    };
    vec![
        row("NV2080_CTRL_CMD_GPU_GET_INFO_V2", 4_200, 11_000),
        row("RM_ALLOC NV01_MEMORY_LOCAL_USER", 31_000, 31_000),
    ]
}

fn samples() -> Vec<Series> {
    let series = |metric: &str, unit: &str, value: &dyn Fn(i64) -> f64| Series {
        metric: metric.to_owned(),
        unit: unit.to_owned(),
        labels: BTreeMap::from([("gpu".to_owned(), GPU.to_owned())]),
        points: (-300..300).map(|s| (at(s * 1000), value(s))).collect(),
    };
    vec![
        series("gpu_temperature", "celsius", &|s| {
            if s < 0 {
                71.0 + (s % 7) as f64 * 0.4
            } else {
                f64::NAN
            }
        }),
        series("gpu_power", "watts", &|s| {
            if s < 0 {
                640.0 + (s % 11) as f64 * 6.0
            } else {
                74.0
            }
        }),
        series("pcie_replay_total", "", &|s| {
            if s < -40 {
                3.0
            } else {
                3.0 + (s + 41).min(60) as f64 * 9.0
            }
        }),
        series("host_memory_pressure", "ratio", &|s| {
            0.01 + (s % 5) as f64 * 0.001
        }),
    ]
}

fn kernel_log(events: &[Event]) -> Vec<LogRecord> {
    let mut log: Vec<LogRecord> = (-40..40)
        .map(|n| LogRecord {
            time: at(n * 7_000 + 300),
            priority: Some(6),
            text: format!("nvidia-nvlink: link state poll {n} of /opt/site/agent/poll.sh done"),
        })
        .collect();
    log.extend(
        events
            .iter()
            .filter(|e| e.witnesses[0].source != WitnessName::SysfsPci)
            .map(|event| LogRecord {
                time: event.time,
                priority: Some(3),
                text: event.message.clone(),
            }),
    );
    log.sort_by_key(|record| record.time);
    log
}

/// Milliseconds after the fault, layer, name, nanoseconds unless it has not returned, status unless it succeeded.
const CALLS: &str = "\
-180000|driver|RM_ALLOC NV01_MEMORY_LOCAL_USER|1900000000|
5|driver|NV2080_CTRL_CMD_GPU_GET_INFO_V2|630000000|NV_ERR_GPU_IS_LOST
8|cuda|cuStreamSynchronize|610000000|CUDA_ERROR_UNKNOWN
20|cuda|cuMemFree_v2||
";

fn calls() -> Vec<Call> {
    let call = |row: &str| {
        let [ms, layer, name, ns, status] = row.split('|').collect::<Vec<_>>()[..] else {
            panic!("{row}");
        };
        Call {
            start: at(ms.parse().unwrap()),
            duration_ns: ns.parse().ok(),
            returned: !ns.is_empty(),
            layer: match layer {
                "cuda" => CallLayer::Cuda,
                _ => CallLayer::Driver,
            },
            name: name.to_owned(),
            status: Some(status.to_owned()).filter(|status| !status.is_empty()),
            pid: Some(48_213),
            comm: Some(PROCESS.to_owned()),
            gpu: Some(GPU.to_owned()),
        }
    };
    let mut all: Vec<Call> = CALLS.lines().map(call).collect();
    all.extend((0..20).map(|n| {
        let ms = 20 + n * 30;
        call(&format!("{ms}|driver|RM_CONTROL|900000|NV_ERR_GPU_IS_LOST"))
    }));
    all
}

/// A segment of the store's chain with the events in it.
pub fn chain(first: u64, bodies: impl IntoIterator<Item = String>) -> ChainSegment {
    let mut before = [7; 32];
    let records = (first..).zip(bodies).map(|(seq, body)| {
        let sha = Sha256::new()
            .chain_update(before)
            .chain_update(seq.to_be_bytes())
            .chain_update(body.as_bytes());
        let hash: [u8; 32] = sha.finalize().into();
        let record = ChainRecord {
            seq,
            before,
            hash,
            body,
        };
        before = hash;
        record
    });
    ChainSegment {
        records: records.collect(),
    }
}

/// All of it.
pub fn material() -> Material {
    let events = events();
    let window = Window {
        from: at(-300_000),
        to: at(300_000),
    };
    let mut material = Material::new(at(400_000), "gtrace 0.1.0", window);
    let fact = |name: &str, value: &str| Fact {
        name: name.to_owned(),
        value: value.to_owned(),
    };
    material.host = HOST.to_owned();
    material.facts = vec![
        fact("Kernel", "6.8.0-49-generic x86_64"),
        fact("NVIDIA driver", "570.86.15"),
    ];
    material.incident = Some(incident(&events));
    material.kernel_log = kernel_log(&events);
    material.calls = calls();
    material.latency = latency();
    material.samples = samples();
    material.snapshot = vec![
        SnapshotPart {
            name: "GPU processes".to_owned(),
            text: "   PID USER     COMMAND       GPU  STATE\n 48213 ann      train_llm.py  2    D (uninterruptible)\n".to_owned(),
            error: None,
        },
        SnapshotPart {
            name: "kernel stack of 48213".to_owned(),
            text: "[<0>] os_acquire_mutex+0x39/0x50 [nvidia]\n[<0>] nvidia_ioctl+0x1f2/0x8a0 [nvidia]\n".to_owned(),
            error: Some("the thread ended while it was read".to_owned()),
        },
    ];
    material.losses = vec![Loss {
        what: "records of the ring EVENTS".to_owned(),
        count: Some(14),
        why: "the ring was full".to_owned(),
    }];
    let bodies: Vec<String> = events
        .iter()
        .map(|e| serde_json::to_string(&Record::Event(Box::new(e.clone()))).unwrap())
        .collect();
    material.chain = Some(chain(41, bodies));
    material.events = events;
    material
}

/// The page.
pub fn html(material: Material) -> String {
    String::from_utf8(Report::new(material).html().unwrap()).unwrap()
}

/// What surrounds the files.
pub fn page(html: &str) -> String {
    let mut out = String::new();
    let mut rest = html;
    while let Some((before, after)) = rest.split_once(";base64,") {
        out.push_str(before);
        rest = after.split_once('"').unwrap().1;
    }
    out + rest
}
