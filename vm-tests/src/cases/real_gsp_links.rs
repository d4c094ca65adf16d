//! NVLinks and MIG of a GPU that is made of memory, as NVIDIA's nvidia-smi prints them and gtrace shows them.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result, ensure};

use super::real_gsp::{FIRST_SAMPLE, SAMPLE, daemon_every, smi};
use super::real_gsp_readings::{element, metric};
use crate::guest::daemon::Daemon;
use crate::guest::real::{is_before_545, version};
use crate::guest::{Guest, within};

cases! {
    Real "real_gsp_nvlinks" => links, patience(240);
    Real "real_gsp_mig_mode" => mig, patience(180);
}

/// As an H100 has.
const LINKS: usize = 18;
/// All but the fourth and the last.
const ACTIVE: u32 = 0x3_ffff & !(1 << 3) & !(1 << 17);

/// Counters of the first link; each further one has counted one more.
const COUNTED: &[(&str, &str, &str, u64)] = &[
    ("nvlink_replays", "Replay Errors", "replay", 100),
    ("nvlink_recoveries", "Recovery Errors", "recovery", 200),
    ("nvlink_crc", "CRC Errors", "crc_flit", 300),
];

/// The link and the text of each line `Link 3: TEXT` that nvidia-smi prints.
fn lines(text: &str) -> Vec<(usize, &str)> {
    let parsed = text.lines().filter_map(|line| {
        let (link, rest) = line.trim().strip_prefix("Link ")?.split_once(": ")?;
        Some((link.parse().ok()?, rest))
    });
    parsed.collect()
}

/// A metric of one link.
fn of_link(metrics: &str, name: &str, link: usize, kind: Option<&str>) -> Option<f64> {
    let link = link.to_string();
    let mut labels = vec![("link", link.as_str())];
    labels.extend(kind.map(|kind| ("type", kind)));
    metric(metrics, name, &labels)
}

fn links(guest: &mut Guest) -> Result<()> {
    let _open = guest.load_answering_with(&format!("nvlinks={LINKS}"))?;
    guest.gpu(&format!("reading nvlink_active {ACTIVE:#x}"))?;
    for (name, _, _, first) in COUNTED {
        guest.gpu(&format!("reading {name} {first}"))?;
    }
    let daemon = daemon_every(guest, "10", SAMPLE)?;
    let metrics = daemon.get_text("/metrics")?;
    let mut wrong = Vec::new();
    // Which are up.
    let printed = smi(&["nvlink", "-s"])?;
    let states: BTreeMap<_, _> = lines(&printed).into_iter().collect();
    for link in 0..LINKS {
        let displayed = states.get(&link).copied().unwrap_or("-");
        let shown = of_link(&metrics, "gtrace_gpu_nvlink_active", link, None);
        let active = ACTIVE & (1 << link) != 0;
        let right =
            displayed.ends_with("GB/s") == active && shown == Some(f64::from(u8::from(active)));
        guest.note(format!("link {link:2} {displayed:>14} {shown:?}"))?;
        if !right {
            wrong.push(format!(
                "link {link}: active {active}, {displayed}, {shown:?}"
            ));
        }
    }
    // What they counted. By which call NVML of the newer driver asks was not found: that answers 0.
    let is_asked = is_before_545(&version()?)?;
    let printed = smi(&["nvlink", "-e"])?;
    let lines = lines(&printed);
    for (_, title, kind, first) in COUNTED {
        for link in 0..LINKS {
            let expected = first + link as u64;
            let displayed = lines
                .iter()
                .find_map(|(of, text)| text.strip_prefix(title).filter(|_| *of == link));
            let displayed = displayed.map(|text| text.trim_start_matches([':', ' ']));
            let shown = of_link(&metrics, "gtrace_gpu_nvlink_errors_total", link, Some(kind));
            guest.note(format!("link {link:2} {title} {displayed:?} {shown:?}"))?;
            // Neither has counters of links that are down.
            let expected = (ACTIVE & (1 << link) != 0).then_some(expected);
            let text = expected.map(|count| count.to_string());
            let figure = displayed.and_then(|text| text.parse::<f64>().ok());
            let right = match is_asked {
                true => displayed == text.as_deref() && shown == expected.map(|count| count as f64),
                false => figure.is_some() == expected.is_some() && shown == figure,
            };
            if !right {
                wrong.push(format!(
                    "link {link} {title}: {expected:?}, {displayed:?}, {shown:?}"
                ));
            }
        }
    }
    ensure!(wrong.is_empty(), "{wrong:#?}\n{printed}");
    Ok(())
}

/// Waits until the metric of MIG is this.
fn shown(daemon: &Daemon, expected: Option<f64>) -> Result<()> {
    let mut last = None;
    within(FIRST_SAMPLE, "a sample has the MIG mode", || {
        last = metric(&daemon.get_text("/metrics")?, "gtrace_gpu_mig_enabled", &[]);
        Ok((last == expected).then_some(()))
    })
    .with_context(|| format!("{last:?} and not {expected:?}"))
}

fn mig(guest: &mut Guest) -> Result<()> {
    let _open = guest.load_answering()?;
    let daemon = daemon_every(guest, "2", SAMPLE)?;
    // Values of NV2080_CTRL_GPU_INFO_GPU_SMC_MODE.
    for (mode, text, value) in [
        (0, "N/A", None),
        (2, "Disabled", Some(0.0)),
        (1, "Enabled", Some(1.0)),
        (2, "Disabled", Some(0.0)),
    ] {
        guest.gpu(&format!("reading mig_mode {mode}"))?;
        let xml = smi(&["-q", "-x"])?;
        let printed = element(&xml, &["mig_mode", "current_mig"]).unwrap_or("-");
        shown(&daemon, value)?;
        guest.note(format!("MIG: nvidia-smi {printed}, gtrace {value:?}"))?;
        ensure!(printed == text, "mode {mode}: nvidia-smi prints {printed}");
    }
    Ok(())
}
