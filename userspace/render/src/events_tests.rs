use gtrace_event::{Action, Advice, Occurrence};

use super::*;

fn time(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn xid() -> Event {
    let at = time("2026-03-03T04:05:06.123456789Z");
    let message = "NVRM: Xid (PCI:0000:3b:00): 79, pid=4242, GPU has fallen off the bus.";
    let mut occurrence = Occurrence::new(Kind::Xid, Severity::Fatal, message);
    occurrence.detail.xid.xid = Some(79);
    occurrence.gpu = Some(Gpu {
        index: Some(2),
        ..Gpu::at("0000:3b:00.0".parse().unwrap())
    });
    occurrence.process = Some(Process {
        pid: Some(4242),
        comm: Some("python3".into()),
        ..Process::default()
    });
    let mut event = Event::seen(at, WitnessName::PrintkConsole, 1, occurrence);
    event.id = "01KJSZ3M7B0000000000000000".parse().unwrap();
    event
}

fn full() -> Event {
    let mut event = xid();
    event.provenance = Provenance::Injected;
    event.repeats = 4;
    event.last_time = Some(time("2026-03-03T04:06:00Z"));
    event.witnesses.push(Witness {
        source: WitnessName::Kmsg,
        count: 5,
        first_time: event.time,
    });
    event.advice = Some(Advice {
        meaning: Some("The driver can no longer reach the GPU over PCIe.".into()),
        vendor: vec!["Drain the node.".into(), "Power-cycle it.".into()],
        action: Some(Action::Page),
        site: vec!["Call the vendor.".into()],
        rule: Some("xid:79".into()),
    });
    event.acks.push(Ack::new(
        event.id,
        time("2026-03-03T04:10:00Z"),
        "alice",
        "drained",
    ));
    event
}

#[test]
fn a_port_is_named_beside_its_gpu_and_alone_without_one() {
    let mut aer = xid();
    aer.kind = Kind::Aer;
    aer.detail.pcie.pci_device = Some("0000:3a:00.0".parse().unwrap());
    let style = Style::plain();
    let text = event(&aer, &style, aer.time);
    assert!(text.contains("  gpu       0000:3b:00.0  GPU 2\n"), "{text}");
    assert!(text.contains("  device    0000:3a:00.0\n"), "{text}");
    assert!(line(&aer, &style).contains(" 0000:3b:00.0 "));
    aer.gpu = None;
    aer.detail.pcie.gpus_below = vec!["0000:3b:00.0".parse().unwrap(); 2];
    let text = event(&aer, &style, aer.time);
    let device = "  device    0000:3a:00.0  above the GPUs 0000:3b:00.0, 0000:3b:00.0\n";
    assert!(text.contains(device), "{text}");
    assert!(line(&aer, &style).contains(" 0000:3a:00.0 "));
    aer.detail.pcie.pci_device = Some("0000:3b:00.0".parse().unwrap());
    aer.gpu = Some(Gpu::at("0000:3b:00.0".parse().unwrap()));
    assert!(!event(&aer, &style, aer.time).contains("  device "));
}

#[test]
fn a_block_says_everything_a_person_needs() {
    let text = event(&full(), &Style::plain(), time("2026-03-03T04:05:18Z"));
    let (head, rest) = text.split_once('\n').unwrap();
    assert!(
        head.starts_with("2026-03-03 04:05:06.123 UTC (12 s ago)  FATAL  Xid 79 "),
        "{head}"
    );
    assert!(head.ends_with("  INJECTED (drill)"), "{head}");
    assert_eq!(
        rest,
        "  gpu       0000:3b:00.0  GPU 2
  process   4242  python3
  from      INJECTED (drill): no fault happened
  seen by   printk:console, /dev/kmsg (5 times)
  repeats   4, newest 03-03 04:06:00
  message   NVRM: Xid (PCI:0000:3b:00): 79, pid=4242, GPU has fallen off the bus.
  meaning   The driver can no longer reach the GPU over PCIe.
  to do     1. Drain the node.
            2. Power-cycle it.
  action    page
  site      1. Call the vendor.
  rule      xid:79
  acked     by alice 03-03 04:10:00: drained
  id        01KJSZ3M7B0000000000000000

"
    );
}

#[test]
fn an_amendment_is_one_line_with_only_what_is_new() {
    let old = xid();
    let mut new = old.clone();
    new.revision = 1;
    new.repeats = 5;
    new.provenance = Provenance::Kernel;
    new.witnesses.push(Witness {
        source: WitnessName::Kmsg,
        count: 1,
        first_time: old.time,
    });
    let change = Amendment::between(&old, &new, old.time).unwrap();
    assert_eq!(
        amendment(&new, &change, &Style::plain()),
        "~ 01KJSZ3M7B0000000000000000 Xid 79: repeats 5; seen by printk:console, /dev/kmsg; kernel\n"
    );
}

#[test]
fn hostile_text_cannot_reach_the_terminal() {
    let evil = "a\x1b]0;owned\x07b\x1b[2Jc\u{9b}31md\u{202e}e\rf\u{200b}g\x7fh\u{2066}";
    let mut event = full();
    event.message = format!("{evil}\nsecond \x1b[1A line");
    event.process.as_mut().unwrap().comm = Some(evil.into());
    event.process.as_mut().unwrap().cgroup = Some(evil.into());
    event.gpu.as_mut().unwrap().uuid = Some(evil.into());
    event.acks[0].by = evil.into();
    event.acks[0].note = format!("{evil}\n{evil}");
    event.advice.as_mut().unwrap().meaning = Some(evil.into());
    event.advice.as_mut().unwrap().site = vec![evil.into()];
    event.detail.aer.severity = Some(evil.into());
    let style = Style {
        width: Some(60),
        ..Style::plain()
    };
    let now = event.time;
    let mut all = super::event(&event, &style, now);
    all.push_str(&line(&event, &style));
    event.kind = Kind::Aer;
    let last = event.acks[0].clone();
    all.push_str(&ack(&event, &last, &style));
    let mut changed = event.clone();
    changed.revision = 1;
    changed.message = evil.into();
    changed.process.as_mut().unwrap().comm = Some(format!("{evil}!"));
    let change = Amendment::between(&event, &changed, now);
    all.push_str(&amendment(&changed, &change.unwrap(), &style));
    let bad = all
        .chars()
        .find(|c| (c.is_control() && *c != '\n') || ('\u{200b}'..='\u{206f}').contains(c));
    assert_eq!(bad, None, "{all:?}");
    assert_eq!(clean("a\x1b[2J\u{202e}\n"), "a\\x1b[2J\\u{202e}\\n");
}

#[test]
fn long_text_wraps_under_its_label() {
    let mut event = xid();
    event.message = format!("{} end", "word ".repeat(20).trim_end());
    let style = Style {
        width: Some(50),
        ..Style::plain()
    };
    let text = super::event(&event, &style, event.time);
    assert!(
        text.lines().skip(1).all(|l| l.chars().count() <= 50),
        "{text}"
    );
    assert!(text.contains("\n            word word"), "{text}");
    assert_eq!(wrap("abcdefghij k", 4), ["abcd", "efgh", "ij k"]);
}

#[test]
fn colours_are_only_used_where_wanted() {
    let now = time("2026-03-03T04:05:18Z");
    let coloured = Style {
        color: true,
        ..Style::plain()
    };
    assert!(event(&full(), &coloured, now).contains("\x1b[1;37;41mFATAL\x1b[0m"));
    assert!(!event(&full(), &Style::plain(), now).contains('\x1b'));
}

#[test]
fn repeats_that_differ_are_shown_below_the_message() {
    let mut full = full();
    for text in ["at 0x2", "at \x1b[2J0x3"] {
        full.variants.push(Variant {
            time: full.time,
            message: text.into(),
        });
    }
    let text = event(&full, &Style::plain(), full.time);
    let want = "  variants  at 0x2\n            at \\x1b[2J0x3\n";
    assert!(text.contains(want), "{text}");
}

#[test]
fn what_gtrace_has_found_itself_is_not_from_the_kernel() {
    for kind in [Kind::BaselineDrift, Kind::SiteTrigger, Kind::PluginCheck] {
        let mut occurrence = Occurrence::new(kind, Severity::Warning, "it differs");
        occurrence.provenance = Provenance::Kernel;
        let mut found = Event::seen(xid().time, WitnessName::Gtrace, 1, occurrence);
        assert_eq!(provenance(&found), "gtrace itself", "{kind:?}");
        found.witnesses.extend(xid().witnesses);
        assert_eq!(provenance(&found), "the kernel", "{kind:?}");
    }
}
