//! What a reader relies on: structure, escaping, verification, redaction, signatures, limits.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;
#[path = "../../perfetto/tests/support/pftrace.rs"]
mod pftrace;

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

use common::{CONTAINER, GPU, HOST, PROCESS, USER, at, chain, event, html, material, page};
use gtrace_event::{Kind, Severity, WitnessName};
use gtrace_report::{
    LogRecord, MANIFEST, Manifest, Material, PAGE_MAX, Report, Window, sign, verify,
};

#[test]
fn the_page_has_every_section_with_what_is_known() {
    let html = html(material());
    let headings = "What to do now|Timeline|Cause chain|Latency|Samples|Slow and failed calls|\
        Processes, containers, stacks|Events|Kernel log|Host and versions|Losses and gaps|Files";
    for heading in headings.split('|') {
        assert!(
            html.contains(&format!("-title\">{heading}</h2>")),
            "{heading}"
        );
    }
    for text in [
        "It began on 2026-03-03 03:12:07.250 UTC and lasted 2.1 s, in 5 events that stand for 217 occurrences. \
         It affected 1 GPU, 1 process, 1 container and 1 job.",
        "Severity: fatal",
        "State: acknowledged",
        "Class: PCIe failure",
        "Vendor&#39;s advice",
        "confidence high",
        "aer-then-xid-79",
        "1 function</b> became slower",
        "nv_report_error",
        "NVIDIA driver",
        "14 records",
        "NVML did not answer after the fault",
        "the thread ended while it was read",
        "records 41 to 46",
    ] {
        assert!(
            html.replace("&#x27;", "&#39;").contains(text)
                || html.replace('\'', "&#39;").contains(text),
            "{text}"
        );
    }
    // One heading of the first level, and none that skips one.
    assert_eq!(html.matches("<h1>").count(), 1);
    let lanes = "PCIe|Kernel log|GPU|Driver calls|CUDA calls|Processes|Remote clients: none";
    for lane in lanes.split('|') {
        assert!(html.contains(&format!(">{lane}</div>")), "{lane}");
    }
    let stem = Report::new(material()).file_stem();
    assert_eq!(
        stem,
        "gtrace-incident-20260303T031207Z-gpu-node-17.fra.example.com-pcie"
    );
}

#[test]
fn the_page_refers_to_nothing_outside_itself() {
    let html = html(material());
    let page = page(&html);
    for reference in [
        "http://", "https://", "src=", "@import", "url(", "<link", "<iframe", "<img",
    ] {
        assert!(!page.contains(reference), "{reference}");
    }
    assert!(page.contains("default-src &#39;none&#39;") || page.contains("default-src 'none'"));
    assert!(
        !page.contains("unsafe-inline") && !page.contains(" style=") && !page.contains(" onclick=")
    );
}

#[test]
fn parts_that_are_empty_are_said_to_be_missing_and_why() {
    let window = Window {
        from: at(0),
        to: at(1_000),
    };
    let mut material = Material::new(at(2_000), "gtrace", window);
    let gap = |what: &str, why: &str| gtrace_event::MissingEvidence::new(what, why);
    material.missing = vec![
        gap("kernel log", "/dev/kmsg needs CAP_SYSLOG"),
        gap("chain", "no store was read"),
    ];
    let html = html(material);
    assert!(html.contains("Not recorded: /dev/kmsg needs CAP_SYSLOG."));
    assert!(html.contains("no store was read"));
    assert!(html.contains("No event is recorded from 2026-03-03 03:12:07.250"));
    let verified = verify(html.as_bytes());
    assert!(verified.is_intact(), "{:?}", verified.findings);
}

#[test]
fn a_drill_is_named_as_one() {
    let mut material = material();
    assert!(!html(material.clone()).contains("Drill."));
    material.incident.as_mut().unwrap().drill = true;
    material.notes = vec!["GPU 0 is a CPU emulator.".to_owned()];
    let html = html(material.clone());
    assert!(html.contains("<b>Drill. </b>") && html.contains("GPU 0 is a CPU emulator."));
    let files = verify(html.as_bytes()).files;
    assert!(String::from_utf8_lossy(&files["postmortem.md"]).contains("**Drill.**"));
}

/// Texts that break out of every context that HTML has.
const HOSTILE: [&str; 7] = [
    "<script>alert(1)</script>",
    "\"><img src=http://evil.example/x onerror=alert(1)>",
    "'--></style></script><!--<svg onload=alert(1)>",
    "@@FILE-0@@ @@FILE-1@@",
    "</title></textarea><base href=//evil.example>",
    "gtrace-report seal 1\n0 1 abc page\n-->",
    "\u{202e}\u{0}\u{1b}[31m& &lt; `|* # ]]>",
];

#[test]
fn no_text_from_outside_becomes_markup() {
    let mut plain = material();
    let tags = |html: &str| -> BTreeMap<String, usize> {
        let mut tags = BTreeMap::new();
        for piece in page(html).split('<').skip(1) {
            let name: String = piece
                .chars()
                .take_while(|c| c.is_ascii_alphanumeric() || "/!-".contains(*c))
                .collect();
            *tags.entry(name).or_default() += 1;
        }
        tags
    };
    let set = |material: &mut Material, text: &str| {
        let incident = material.incident.as_mut().unwrap();
        incident.title = text.into();
        incident.chain[0].why = text.into();
        incident.chain[0].rule = text.into();
        incident.affected.jobs = vec![text.into()];
        incident.affected.processes[0].comm = Some(text.into());
        incident.missing[0].why = text.into();
        let advice = incident.advice.as_mut().unwrap();
        advice.meaning = Some(text.into());
        advice.vendor[0] = text.into();
        advice.site[0] = text.into();
        material.host = text.into();
        material.generator = text.into();
        material.facts[0].value = text.into();
        material.notes = vec![text.into()];
        material.kernel_log[40].text = text.into();
        material.calls[1].name = text.into();
        material.calls[1].status = Some(text.into());
        material.calls[1].comm = Some(text.into());
        material.latency[0].key.function = text.into();
        material.latency[0].key.process.comm = text.into();
        material.samples[0].metric = text.into();
        material.samples[0].unit = text.into();
        material.samples[0].labels.insert("x".into(), text.into());
        material.snapshot[0].name = text.into();
        material.snapshot[0].text = text.into();
        material.snapshot[1].error = Some(text.into());
        material.losses[0].what = text.into();
        for event in &mut material.events {
            event.message = text.into();
            event
                .process
                .iter_mut()
                .for_each(|process| process.comm = Some(text.into()));
        }
    };
    set(&mut plain, "harmless");
    let wanted = tags(&html(plain.clone()));
    for text in HOSTILE {
        let mut hostile = plain.clone();
        set(&mut hostile, text);
        let html = html(hostile);
        assert_eq!(tags(&html), wanted, "{text:?}");
        let verified = verify(html.as_bytes());
        assert!(verified.is_intact(), "{text:?}: {:?}", verified.findings);
    }
}

#[test]
fn no_text_from_outside_is_a_command_to_a_terminal() {
    let mut material = material();
    let text = "a \u{1b}]0;x\u{7} b\r\nc\u{9b}2J";
    material.kernel_log[40].text = text.into();
    material.snapshot[0].text = text.into();
    material.events[0].message = text.into();
    let verified = verify(&Report::new(material).bundle().unwrap());
    for name in ["kernel.log", "snapshot.txt", "postmortem.md"] {
        let text = String::from_utf8(verified.files[name].clone()).unwrap();
        let control = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
        assert_eq!(text.find(control), None, "{name}");
        assert!(text.contains("a \\x1b]0;x\\x07 b"), "{name}");
    }
}

#[test]
fn both_kinds_of_file_have_the_same_parts_and_verify() {
    let report = Report::new(material());
    let [html, bundle] =
        [report.html().unwrap(), report.bundle().unwrap()].map(|bytes| verify(&bytes));
    for verified in [&html, &bundle] {
        assert!(verified.is_intact(), "{:?}", verified.findings);
        let chain = verified.chain.as_ref().unwrap();
        assert_eq!(
            (chain.first_seq, chain.last_seq, chain.records),
            (41, 46, 6)
        );
    }
    let names: Vec<&str> = html.files.keys().map(String::as_str).collect();
    let wanted = "chain.jsonl events.jsonl histograms.hlog kernel.log manifest.json postmortem.md samples.csv snapshot.txt trace.pftrace";
    assert_eq!(names.join(" "), wanted);
    let without = |mut files: BTreeMap<String, Vec<u8>>| {
        files.remove(MANIFEST);
        files
    };
    assert_eq!(without(html.files), without(bundle.files));
}

#[test]
fn the_parts_are_read_by_their_own_readers() {
    use gtrace_perfetto::format::{Data, Message as _, Trace};
    let files = verify(&Report::new(material()).html().unwrap()).files;
    let trace = Trace::decode(files["trace.pftrace"].as_slice()).unwrap();
    let tracks: Vec<String> = trace
        .packet
        .iter()
        .filter_map(|packet| match &packet.data {
            Some(Data::TrackDescriptor(track)) => track.name.clone(),
            _ => None,
        })
        .collect();
    let lanes = "PCIe|GPU|Processes|Driver calls|CUDA calls|Kernel log, all lines|Samples";
    for lane in lanes.split('|') {
        assert!(
            tracks.iter().any(|track| track == lane),
            "{lane} in {tracks:?}"
        );
    }
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), &files["trace.pftrace"]).unwrap();
    let seen = pftrace::read(file.path());
    assert!(
        seen.iter()
            .any(|one| one.name == "xid" && one.arguments["gpu"] == GPU),
        "{seen:?}"
    );
    // One clock: the AER event is 4,000 s after boot, and so is what has no time since boot of its own.
    let packets = trace.packet.iter();
    let times: Vec<u64> = packets.filter_map(|packet| packet.timestamp).collect();
    assert!(
        times.contains(&4_000_000_000_000) && times.contains(&4_000_008_000_000),
        "{:?}",
        &times[..9]
    );
    let hlog = gtrace_profile::hlog::read(&files["histograms.hlog"][..]).unwrap();
    let calls: u64 = hlog
        .rows
        .values()
        .map(|counts| counts.histogram.count())
        .sum();
    assert_eq!(calls, 2 * (5_000 + 900 + 300));
    let events = String::from_utf8(files["events.jsonl"].clone()).unwrap();
    let events: Vec<gtrace_event::Event> = events
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let mut wanted = material().events;
    for (one, read) in wanted.iter_mut().zip(&events) {
        // Each call of `material` makes new ids.
        one.id = read.id;
    }
    assert_eq!(events, wanted);
    let manifest: Manifest = serde_json::from_slice(&files[MANIFEST]).unwrap();
    assert_eq!(manifest.window, material().window);
    let postmortem = String::from_utf8(files["postmortem.md"].clone()).unwrap();
    let headings = "Impact|Timeline (UTC)|Detection|Root cause|Contributing factors|What went well|Action items";
    for heading in headings.split('|') {
        assert!(postmortem.contains(&format!("## {heading}")), "{heading}");
    }
}

#[test]
fn a_flipped_byte_is_found_wherever_it_is_and_its_part_is_named() {
    let report = Report::new(material());
    let mut random = fastrand::Rng::with_seed(7);
    for (bytes, places) in [
        (report.html().unwrap(), 400),
        (report.bundle().unwrap(), 400),
    ] {
        let ends = 600;
        let last = (bytes.len() - ends..bytes.len()).step_by(7);
        let first = (0..200).step_by(7);
        let within = std::iter::repeat_with(|| random.usize(..bytes.len()))
            .take(places)
            .collect::<Vec<_>>();
        for at in within.into_iter().chain(last).chain(first) {
            let mut changed = bytes.clone();
            changed[at] ^= 1 << (at % 8);
            let findings = verify(&changed).findings;
            assert!(!findings.is_empty(), "byte {at}");
            assert!(findings.iter().all(|finding| !finding.part.is_empty()));
        }
    }
    // A byte in the middle of a part names that part and no other.
    let html = report.html().unwrap();
    let text = String::from_utf8(html.clone()).unwrap();
    let link = text.find("download=\"events.jsonl\"").unwrap();
    let base64 = link + text[link..].find(";base64,").unwrap() + 50;
    let mut changed = html;
    changed[base64] = if changed[base64] == b'A' { b'B' } else { b'A' };
    let findings = verify(&changed).findings;
    assert_eq!(findings.len(), 1, "{findings:?}");
    assert_eq!(findings[0].part, "events.jsonl");
}

#[test]
fn a_store_that_was_changed_is_found_although_the_file_is_intact() {
    let mut material = material();
    let record = &mut material.chain.as_mut().unwrap().records[2];
    record.body = record.body.replace("fallen off the bus", "had a good day");
    let verified = verify(&Report::new(material).html().unwrap());
    assert_eq!(verified.findings.len(), 1);
    assert_eq!(verified.findings[0].part, "chain.jsonl");
}

#[test]
fn the_seal_can_be_checked_with_a_shell_alone() {
    let directory = tempfile::tempdir().unwrap();
    let report = Report::new(material());
    let documented = include_str!("../../../docs/reports.md");
    let script = documented
        .split_once("```sh\n#!/bin/sh")
        .unwrap()
        .1
        .split_once("```")
        .unwrap()
        .0;
    for (name, bytes) in [
        ("r.html", report.html().unwrap()),
        ("r.tar.zst", report.bundle().unwrap()),
    ] {
        let file = directory.path().join(name);
        let run = |bytes: &[u8]| {
            fs::write(&file, bytes).unwrap();
            Command::new("sh")
                .arg("-c")
                .arg(script)
                .arg("check")
                .arg(&file)
                .output()
                .unwrap()
        };
        let output = run(&bytes);
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(
            output.status.success(),
            "{printed}{}",
            String::from_utf8_lossy(&output.stderr)
        );
        assert!(printed.contains("chain.jsonl: OK"), "{printed}");
        let mut changed = bytes.clone();
        changed[bytes.len() / 2] ^= 1;
        assert!(!run(&changed).status.success());
        // What is appended is not covered by any range.
        assert!(!run(&[&bytes[..], b"x"].concat()).status.success());
    }
}

#[test]
fn tar_and_zstd_open_the_bundle() {
    let directory = tempfile::tempdir().unwrap();
    let report = Report::new(material());
    let file = directory.path().join("r.tar.zst");
    fs::write(&file, report.bundle().unwrap()).unwrap();
    let output = Command::new("tar")
        .arg("--zstd")
        .arg("-xf")
        .arg(&file)
        .arg("-C")
        .arg(directory.path())
        .output()
        .unwrap();
    if !output.status.success()
        && String::from_utf8_lossy(&output.stderr).contains("zstd: Cannot exec")
    {
        eprintln!("skipped: zstd is not installed");
        return;
    }
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let events = directory
        .path()
        .join(report.file_stem())
        .join("events.jsonl");
    assert_eq!(fs::read_to_string(events).unwrap().lines().count(), 6);
}

#[test]
fn a_redacted_report_has_no_name_of_a_person_or_place() {
    let mut material = material();
    material.kernel_log.push(LogRecord {
        time: at(9_000),
        priority: Some(4),
        text: "Out of memory: Killed process 991 (secret_tool) of peer 10.20.30.40:7471 by /srv/ann/job.sh".to_owned(),
    });
    material.losses.push(gtrace_report::Loss {
        what: "lines of /home/ann/dmesg.txt".to_owned(),
        count: None,
        why: "no time".to_owned(),
    });
    let stalled = "nfs: server files.example.com not responding, still trying";
    let event = &mut material.events[0];
    event.detail.host.server = Some("files.example.com".to_owned());
    event.detail.host.unit = Some(format!("train@{HOST}.service"));
    event.message.push_str(stalled);
    let (report, pseudonyms) = Report::redacted(&material).unwrap();
    for name in [
        HOST,
        "files.example.com",
        PROCESS,
        CONTAINER,
        USER,
        "slurm:4711",
        "secret_tool",
        "10.20.30.40",
        "/srv/ann/job.sh",
        "/home/ann/dmesg.txt",
        "/opt/site/agent/poll.sh",
    ] {
        assert!(
            pseudonyms.contains_key(name),
            "{name} in {:?}",
            pseudonyms.keys()
        );
    }
    for bytes in [report.html().unwrap(), report.bundle().unwrap()] {
        let verified = verify(&bytes);
        assert!(verified.is_intact(), "{:?}", verified.findings);
        assert!(verified.manifest.unwrap().redacted);
        let mut texts: Vec<String> = verified
            .files
            .values()
            .map(|file| String::from_utf8_lossy(file).into_owned())
            .collect();
        if let Ok(html) = String::from_utf8(bytes) {
            assert!(
                html.contains("<b>Redacted. </b>")
                    && html.contains("the hashes hold for the original records only")
            );
            texts.push(page(&html));
        }
        for original in pseudonyms.keys() {
            for text in &texts {
                assert!(
                    !text.to_lowercase().contains(&original.to_lowercase()),
                    "{original}"
                );
            }
        }
    }
    assert!(!report.file_stem().contains(HOST));
}

#[test]
fn ssh_keygen_accepts_the_signature_and_its_own_is_accepted() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    let keygen = |args: &[&str]| {
        Command::new("ssh-keygen")
            .args(args)
            .current_dir(directory.path())
            .output()
    };
    let made = |args: &[&str]| assert!(keygen(args).unwrap().status.success());
    let key = ["-q", "-t", "ed25519", "-f", "key", "-C", "ann@example"];
    let Ok(first) = keygen(&[&key[..], &["-N", ""]].concat()) else {
        eprintln!("skipped: ssh-keygen is not installed");
        return;
    };
    assert!(first.status.success());
    let report = Report::new(material()).html().unwrap();
    fs::write(path("r.html"), &report).unwrap();
    let (key, public) = (
        fs::read_to_string(path("key")).unwrap(),
        fs::read_to_string(path("key.pub")).unwrap(),
    );
    fs::write(path("r.html.sig"), sign::sign(&report, &key).unwrap()).unwrap();
    fs::write(
        path("allowed"),
        format!("ann@example namespaces=\"gtrace-report\" {public}"),
    )
    .unwrap();
    let verified = |file: &str| {
        Command::new("ssh-keygen")
            .args(["-Y", "verify", "-f", "allowed", "-I", "ann@example"])
            .args(["-n", sign::NAMESPACE, "-s", "r.html.sig"])
            .current_dir(directory.path())
            .stdin(fs::File::open(path(file)).unwrap())
            .output()
            .unwrap()
    };
    let output = verified("r.html");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    fs::write(path("changed.html"), [&report[..], b" "].concat()).unwrap();
    assert!(!verified("changed.html").status.success());

    fs::remove_file(path("r.html.sig")).unwrap();
    let of = ["-n", sign::NAMESPACE];
    made(&[&["-q", "-Y", "sign", "-f", "key"], &of[..], &["r.html"]].concat());
    let theirs = fs::read_to_string(path("r.html.sig")).unwrap();
    sign::check(&report, &theirs, Some(&public)).unwrap();
    assert!(sign::check(b"another file", &theirs, None).is_err());
    made(&["-q", "-t", "ed25519", "-N", "", "-f", "other"]);
    let other = fs::read_to_string(path("other.pub")).unwrap();
    assert!(matches!(
        sign::check(&report, &theirs, Some(&other)),
        Err(sign::SignError::OtherKey { .. })
    ));
    made(&["-q", "-t", "ed25519", "-N", "word", "-f", "locked"]);
    let locked = fs::read_to_string(path("locked")).unwrap();
    assert!(matches!(
        sign::sign(&report, &locked),
        Err(sign::SignError::Encrypted)
    ));
}

/// Ten minutes in which so many records of every kind came: in the store mostly amendments, as repeats are folded.
fn flood(records: usize) -> Material {
    let mut material = material();
    let mut random = fastrand::Rng::with_seed(1);
    let mut ms = || random.i64(-300_000..300_000);
    let folded = records / 50;
    material.events = (0..folded).map(|n| {
        let text = format!("NVRM: Xid (PCI:0000:3b:00): 31, pid={n}, name=train_llm.py, Ch 000000{n:02x}, MMU Fault at 0x7f_{n:08x}");
        event(ms(), Kind::Xid, Severity::Warning, WitnessName::PrintkConsole, &text)
    }).collect();
    material.events.sort_by_key(|event| event.time);
    let mut bodies: Vec<String> = material
        .events
        .iter()
        .map(|e| serde_json::to_string(&gtrace_event::Record::Event(Box::new(e.clone()))).unwrap())
        .collect();
    let mut events: Vec<_> = material.events.clone();
    for n in 0..records / 2 {
        let at_event = n % events.len();
        let old = events[at_event].clone();
        let new = &mut events[at_event];
        new.repeats += 1;
        new.revision += 1;
        let later = jiff::SignedDuration::from_nanos(n as i64 * 1_013);
        new.last_time = Some(new.time.checked_add(later).unwrap());
        let amendment = gtrace_event::Amendment::between(&old, new, new.time).unwrap();
        bodies.push(
            serde_json::to_string(&gtrace_event::Record::Amendment(Box::new(amendment))).unwrap(),
        );
    }
    material.events = events;
    material.chain = Some(chain(1_000, bodies));
    let mut ms = || random.i64(-300_000..300_000);
    material.kernel_log = (0..records / 4).map(|n| LogRecord {
        time: at(ms()),
        priority: Some(4),
        text: format!("NVRM: Xid (PCI:0000:3b:00): 31, pid={n}, name=train_llm.py, MMU Fault at 0x7f_{n:08x}"),
    }).collect();
    material.kernel_log.sort_by_key(|record| record.time);
    let call = material.calls[1].clone();
    material.calls = (0..records / 4)
        .map(|n| gtrace_report::Call {
            start: at(ms()),
            duration_ns: Some(900_000 + n as u64 * 37 % 100_000),
            ..call.clone()
        })
        .collect();
    material
}

#[test]
fn a_report_of_100_000_records_fits_into_its_limit() {
    let material = flood(100_000);
    let begin = std::time::Instant::now();
    let html = Report::new(material).html().unwrap();
    let seconds = begin.elapsed().as_secs_f64();
    let verified = verify(&html);
    let left_out = verified.manifest.as_ref().unwrap().left_out.clone();
    println!(
        "100,000 records: {seconds:.2} s, {} bytes, left out: {left_out:?}",
        html.len()
    );
    assert!(html.len() <= PAGE_MAX, "{}", html.len());
    assert!(verified.is_intact(), "{:?}", verified.findings);
    assert!(left_out.is_empty());
    let text = String::from_utf8_lossy(&html);
    assert!(text.contains("Shown: 200 events of 2,000 events"));
}

#[test]
fn what_a_page_has_no_room_for_is_named_and_in_the_bundle() {
    let mut material = material();
    let mut random = fastrand::Rng::with_seed(3);
    let mut noise = || {
        (0..1_000)
            .map(|_| char::from(random.u8(33..126)))
            .collect::<String>()
    };
    material.kernel_log = (0..8_000)
        .map(|n| LogRecord {
            time: at(n),
            priority: None,
            text: noise(),
        })
        .collect();
    let report = Report::new(material);
    let html = report.html().unwrap();
    assert!(html.len() <= PAGE_MAX);
    let verified = verify(&html);
    assert!(verified.is_intact());
    let left_out = &verified.manifest.unwrap().left_out;
    assert!(
        left_out.iter().any(|entry| entry.name == "kernel.log"),
        "{left_out:?}"
    );
    assert!(String::from_utf8_lossy(&html).contains("gtrace report --format bundle"));
    assert!(
        verify(&report.bundle().unwrap())
            .files
            .contains_key("kernel.log")
    );
}
