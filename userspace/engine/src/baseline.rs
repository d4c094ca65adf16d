//! The baseline of this host: read from its file, compared with what is found, a judgement of each part.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use gtrace_devices::{Baseline, BaselineFacts, Comparison, Difference, Metric};
use gtrace_event::{
    Drift, Gpu, HealthAction, HealthState, HealthSubject, Kind, Occurrence, Provenance, Severity,
    SubjectKind, Timestamp,
};

use crate::clock;
use crate::site_file::{self, Changes};

/// Name of the judgement in health.
pub const RULE: &str = "baseline";
/// Polls in a row that must find the same: links and ports need a moment after a boot or a reset.
const STEADY: u32 = 3;
/// Largest file that is read, bytes.
const MOST_BYTES: u64 = 1 << 20;

/// Why a baseline is refused.
#[derive(Debug, thiserror::Error)]
pub enum BaselineError {
    /// The file cannot be read.
    #[error("baseline {path} cannot be read: {cause}; `gtrace baseline save` writes one", path = path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        cause: io::Error,
    },
    /// The file is no TOML, or has a key that does not exist.
    #[error("baseline {path} is refused: {cause}\nremedy: correct that line; `gtrace baseline save --file -` shows every key", path = path.display())]
    Parse {
        /// The file.
        path: PathBuf,
        /// Line, column and reason.
        cause: Box<toml::de::Error>,
    },
    /// It lacks the line that a saved file ends with.
    #[error("baseline {path} is refused: it was cut off, as it says that a line `{END}` ends it and has none; `gtrace baseline save --force` writes it again", path = path.display())]
    CutOff {
        /// The file.
        path: PathBuf,
    },
    /// It is empty, or the head of a saved file alone: what is left where the power failed while somebody wrote it.
    #[error("baseline {path} is refused: it expects nothing; `gtrace baseline save --force` writes one, or remove the file", path = path.display())]
    Empty {
        /// The file.
        path: PathBuf,
    },
}

/// How a saved file begins.
const HEAD: &str = "# Baseline of ";
/// In the head of a saved file: what its last line is.
const ENDS: &str = "# The file ends with a line `# end`: one that was cut off is refused.";
const END: &str = "# end";

/// The text of a file with `baseline`, as it was on `host` at `now`.
///
/// # Errors
///
/// If it cannot be written as TOML.
pub fn file_text(
    baseline: &Baseline,
    host: &str,
    now: Timestamp,
) -> Result<String, toml::ser::Error> {
    Ok(format!(
        "{HEAD}{host} as of {now}. What is not given may be anything; a list gives several values that are allowed,\n\
         # except that of mig_instances, which is the whole layout.\n\
         # [gpu] is for every GPU, [gpus.\"<PCI address>\"] for one.\n{ENDS}\n\n{}\n{END}\n",
        toml::to_string(baseline)?
    ))
}

/// Whether a file that says how it ends does not end. Somebody may have added lines below.
fn is_cut_off(text: &str) -> bool {
    let has = |wanted: &str| text.lines().any(|line| line.trim_end() == wanted);
    has(ENDS) && !has(END)
}

/// Whether a file that expects nothing is what is left of one, and no comment that somebody wrote.
fn is_remnant(text: &str) -> bool {
    let text = text.trim();
    HEAD.starts_with(text) || text.starts_with(HEAD)
}

/// Reads the file; `None` where there is none.
///
/// # Errors
///
/// A file that is there and cannot be read or understood.
pub fn load(path: &Path) -> Result<Option<Baseline>, BaselineError> {
    let read = site_file::read(path, MOST_BYTES).map_err(|cause| BaselineError::Read {
        path: path.to_owned(),
        cause,
    })?;
    let Some(text) = read else { return Ok(None) };
    let whole = || path.to_owned();
    if is_cut_off(&text) {
        return Err(BaselineError::CutOff { path: whole() });
    }
    let parsed: Baseline = toml::from_str(&text).map_err(|cause| BaselineError::Parse {
        path: whole(),
        cause: Box::new(cause),
    })?;
    if parsed.is_empty() && is_remnant(&text) {
        return Err(BaselineError::Empty { path: whole() });
    }
    Ok(Some(parsed))
}

/// What a part differs in from its baseline; nothing where it is as it should be.
#[derive(Clone, Debug, PartialEq)]
pub struct Judgement {
    /// Which part.
    pub subject: HealthSubject,
    /// The GPU, as events name it.
    pub gpu: Option<Gpu>,
    /// What differs.
    pub differences: Vec<Difference>,
}

impl Judgement {
    /// In one line.
    pub fn text(&self) -> String {
        let lines: Vec<_> = self.differences.iter().map(ToString::to_string).collect();
        lines.join("; ")
    }

    fn missing(&self) -> bool {
        self.differences.iter().any(|d| d.missing)
    }

    /// What it makes of the part.
    pub fn health(&self) -> (HealthState, HealthAction) {
        match (self.differences.is_empty(), self.missing()) {
            (true, _) => (HealthState::Healthy, HealthAction::None),
            (false, true) => (HealthState::Unhealthy, HealthAction::Drain),
            (false, false) => (HealthState::Degraded, HealthAction::Watch),
        }
    }

    /// It as an event.
    pub fn occurrence(&self) -> Occurrence {
        let what = match self.gpu {
            Some(_) => "the GPU",
            None => "the host",
        };
        let message = format!("{what} differs from the baseline: {}", self.text());
        let severity = match self.missing() {
            true => Severity::Critical,
            false => Severity::Warning,
        };
        let mut occurrence = Occurrence::new(Kind::BaselineDrift, severity, message);
        occurrence.gpu.clone_from(&self.gpu);
        occurrence.provenance = Provenance::Kernel;
        occurrence.boottime_ns = Some(clock::boottime_ns());
        let drift = self.differences.iter().map(|difference| Drift {
            setting: difference.setting.name().to_owned(),
            expected: difference.expected.clone(),
            found: difference.found.clone(),
        });
        occurrence.detail.baseline.drift = drift.collect();
        occurrence
    }
}

/// Compares everything once.
pub fn judge(baseline: &Baseline, facts: &BaselineFacts) -> Vec<(Judgement, Comparison)> {
    let of_host = baseline.compare_host(facts);
    let host = (HealthSubject::host(), None, of_host);
    let gpus = facts.gpus.iter().filter(|gpu| gpu.present_in.pci);
    let gpus = gpus.map(|gpu| {
        let subject = HealthSubject::new(SubjectKind::Gpu, gpu.pci.to_string());
        let found = baseline.compare_gpu(facts, gpu);
        (subject, Some(gpu.event_gpu()), found)
    });
    let all = std::iter::once(host).chain(gpus);
    all.map(|(subject, gpu, found)| {
        let differences = found.differences.clone();
        let judgement = Judgement {
            subject,
            gpu,
            differences,
        };
        (judgement, found)
    })
    .collect()
}

/// The settings of `found` as metrics: 1 where they differ.
fn metrics(subject: &HealthSubject, differ: &[Difference], found: &Comparison) -> Vec<Metric> {
    let metric = |setting: &str, value: f64| {
        let name = ("gtrace_baseline_drift", "");
        let help = "Whether a setting differs from the baseline (gpu: empty for the host)";
        Metric::gauge(name, help, value).with(vec![
            ("gpu", subject.name.clone()),
            ("setting", setting.to_owned()),
        ])
    };
    let differ: Vec<&str> = differ.iter().map(|d| d.setting.name()).collect();
    let same = found.same.iter().map(|setting| setting.name());
    let same = same.filter(|name| !differ.contains(name));
    let same: Vec<_> = same.map(|name| metric(name, 0.0)).collect();
    differ
        .into_iter()
        .map(|name| metric(name, 1.0))
        .chain(same)
        .collect()
}

/// What one comparison of the daemon came to.
#[derive(Debug, Default)]
pub struct Compared {
    /// Each part of which something is known for certain.
    pub judgements: Vec<Judgement>,
    /// Each setting that is expected.
    pub metrics: Vec<Metric>,
    /// Why the file is refused; what it said before stands.
    pub refused: Option<String>,
    /// Whether there is a baseline.
    pub present: bool,
}

/// Follows the file, and what is found.
#[derive(Debug)]
pub struct Watch {
    file: Changes,
    baseline: Option<Baseline>,
    refused: Option<String>,
    /// What was found of each part last, and how often in a row.
    found: BTreeMap<HealthSubject, (Vec<Difference>, u32)>,
    /// What has been judged.
    judged: BTreeMap<HealthSubject, Vec<Difference>>,
}

impl Watch {
    /// Of the file at `path`, which need not be there.
    pub fn new(path: PathBuf) -> Self {
        Self {
            file: Changes::new(path),
            baseline: None,
            refused: None,
            found: BTreeMap::new(),
            judged: BTreeMap::new(),
        }
    }

    /// Takes the file over if it is another than before.
    fn follow(&mut self) {
        // One that could not be read may be readable now.
        if !self.file.settled() && self.refused.is_none() {
            return;
        }
        match load(self.file.path()) {
            Ok(baseline) => {
                (self.baseline, self.refused) = (baseline, None);
                self.found.clear();
            }
            Err(error) => {
                let refused = Some(error.to_string());
                if refused != self.refused {
                    tracing::warn!("{error}");
                }
                self.refused = refused;
            }
        }
    }

    /// Compares what a poll has found.
    pub fn compare(&mut self, facts: &BaselineFacts) -> Compared {
        self.follow();
        if self.baseline.is_none() && self.refused.is_some() {
            // Nobody knows what is expected: what was found to differ before stands.
            return Compared {
                refused: self.refused.clone(),
                ..Compared::default()
            };
        }
        let nothing = Baseline::default();
        let baseline = self.baseline.as_ref().unwrap_or(&nothing);
        let mut compared = Compared {
            refused: self.refused.clone(),
            present: self.baseline.is_some(),
            ..Compared::default()
        };
        for (mut judgement, found) in judge(baseline, facts) {
            let subject = judgement.subject.clone();
            let judged = self.judged.entry(subject.clone()).or_default();
            // What cannot be read now is as it was.
            let kept = judged.iter().filter(|d| found.unread.contains(&d.setting));
            judgement.differences.extend(kept.cloned());
            let (last, times) = self.found.entry(subject.clone()).or_default();
            match *last == judgement.differences {
                true => *times = times.saturating_add(1),
                false => (*last, *times) = (judgement.differences.clone(), 1),
            }
            if *times >= STEADY {
                judged.clone_from(&judgement.differences);
                compared.judgements.push(judgement);
            }
            compared.metrics.extend(metrics(&subject, judged, &found));
        }
        let there: Vec<_> = facts.gpus.iter().map(|gpu| gpu.pci.to_string()).collect();
        let is_there = |subject: &HealthSubject| {
            subject.part == SubjectKind::Host || there.contains(&subject.name)
        };
        self.found.retain(|subject, _| is_there(subject));
        self.judged.retain(|subject, _| is_there(subject));
        compared
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gtrace_devices::{GpuInfo, GpuSample, PresentIn};

    fn facts(ecc: Option<bool>, gpus: u32) -> BaselineFacts {
        let mut gpu = GpuInfo::at("0000:3b:00.0".parse().unwrap());
        gpu.present_in = PresentIn {
            pci: true,
            ..PresentIn::default()
        };
        let mut sample = GpuSample::at(Timestamp::UNIX_EPOCH);
        sample.ecc.enabled = ecc;
        gpu.sample = Some(sample);
        BaselineFacts {
            pci_gpus: Some(gpus),
            gpus: vec![gpu],
            ..BaselineFacts::default()
        }
    }

    fn texts(compared: &Compared) -> Vec<String> {
        compared.judgements.iter().map(Judgement::text).collect()
    }

    #[test]
    fn a_difference_counts_once_it_is_steady_and_an_unread_value_changes_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("baseline.toml");
        let mut watch = Watch::new(path.clone());
        let none = watch.compare(&facts(Some(true), 8));
        assert!(!none.present && none.metrics.is_empty());
        std::fs::write(&path, "[host]\ngpus = 8\n\n[gpu]\necc = true\n").unwrap();
        let off = facts(Some(false), 7);
        // The file counts once it has been the same for two polls.
        assert!(watch.compare(&off).metrics.is_empty());
        assert!(watch.compare(&off).judgements.is_empty());
        assert!(watch.compare(&off).judgements.is_empty());
        let steady = watch.compare(&off);
        assert_eq!(
            texts(&steady),
            ["gpus 7, expected 8", "ecc off, expected on"]
        );
        let states = steady.judgements.iter().map(|j| j.health().0);
        assert_eq!(
            states.collect::<Vec<_>>(),
            [HealthState::Unhealthy, HealthState::Degraded]
        );
        assert_eq!(steady.metrics.len(), 2);
        assert!(steady.metrics.iter().all(|metric| metric.value == 1.0));
        // NVML does not answer: nobody says that ECC is on again.
        let unread = watch.compare(&facts(None, 7));
        assert_eq!(texts(&unread), texts(&steady));
        for _ in 0..2 {
            watch.compare(&facts(Some(true), 8));
        }
        let well = watch.compare(&facts(Some(true), 8));
        assert_eq!(texts(&well), ["", ""]);
        assert!(well.metrics.iter().all(|metric| metric.value == 0.0));
    }

    #[test]
    fn a_file_that_is_refused_leaves_the_one_before_in_force() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("baseline.toml");
        std::fs::write(&path, "[gpu]\necc = true\n").unwrap();
        let mut watch = Watch::new(path.clone());
        watch.compare(&facts(Some(false), 8));
        std::fs::write(&path, "[gpu]\necc = true\nvbois = \"x\"\n").unwrap();
        watch.compare(&facts(Some(false), 8));
        let third = watch.compare(&facts(Some(false), 8));
        assert!(third.refused.as_ref().unwrap().contains("vbois"));
        assert_eq!(texts(&third), ["", "ecc off, expected on"]);
        std::fs::remove_file(&path).unwrap();
        // It is gone once three polls do not find it, and judged anew from then on.
        for _ in 0..4 {
            watch.compare(&facts(Some(false), 8));
        }
        let gone = watch.compare(&facts(Some(false), 8));
        assert_eq!((gone.present, gone.refused.clone()), (false, None));
        assert_eq!(texts(&gone), ["", ""]);
    }

    #[test]
    fn no_beginning_of_a_saved_file_counts_and_what_a_killed_writer_left_does_no_harm() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("baseline.toml");
        let mut saved = Baseline::of(&facts(Some(true), 8));
        saved.gpu.mig_instances = Some(vec!["1g.10gb".to_owned(), "3g.40gb".to_owned()]);
        let text = file_text(&saved, "gpu-17", Timestamp::UNIX_EPOCH).unwrap();
        // As killed in the middle of writing, and as the power failed before the blocks were on the disk.
        for length in 0..text.trim_end().len() {
            std::fs::write(&path, &text[..length]).unwrap();
            assert!(load(&path).is_err(), "{:?}", &text[..length]);
            let mut hole = text[..length].to_owned();
            hole.extend(std::iter::repeat_n('\0', text.len() - length));
            std::fs::write(&path, hole).unwrap();
            assert!(load(&path).is_err(), "a hole from {length} on");
        }
        // Another that was killed has left its part beside it.
        let left = format!("baseline.toml.{}.new", std::process::id());
        std::fs::write(dir.path().join(left), &text[..40]).unwrap();
        crate::whole_file::save(&path, &text).unwrap();
        assert_eq!(load(&path).unwrap().unwrap(), saved);
        let files = std::fs::read_dir(dir.path()).unwrap();
        assert_eq!(files.count(), 1, "nothing stays beside it");
        // The daemon goes on by what it had.
        let mut watch = Watch::new(path.clone());
        watch.compare(&facts(Some(false), 8));
        std::fs::write(&path, &text[..text.len() / 2]).unwrap();
        for _ in 0..3 {
            watch.compare(&facts(Some(false), 8));
        }
        let half = watch.compare(&facts(Some(false), 8));
        assert!(half.present && half.refused.is_some());
        assert_eq!(texts(&half), ["", "ecc off, expected on"]);
        // One that starts with it has nothing to go by, and takes no drift back that is open.
        let mut watch = Watch::new(path.clone());
        for _ in 0..2 * STEADY {
            let half = watch.compare(&facts(Some(false), 8));
            assert_eq!((half.present, texts(&half)), (false, Vec::new()));
        }
        assert!(watch.refused.is_some());
        // What people do to a file does not make it one that was cut off.
        let edited = format!("{}\r\n\n# [gpu] below is ours\n", text.trim_end());
        for (text, wanted) in [
            (edited.as_str(), &saved),
            ("# nothing is expected of this host\n", &Baseline::default()),
        ] {
            std::fs::write(&path, text).unwrap();
            assert_eq!(&load(&path).unwrap().unwrap(), wanted, "{text}");
        }
        std::fs::write(&path, " \n").unwrap();
        assert!(load(&path).is_err());
    }

    #[test]
    fn the_example_on_its_page_is_what_this_code_says() {
        let page = include_str!("../../../docs/events/baseline_drift.md");
        let mut baseline = Baseline::default();
        baseline.gpu.ecc = Some(true);
        let (judgement, _) = judge(&baseline, &facts(Some(false), 8)).remove(1);
        let message = judgement.occurrence().message;
        assert!(
            page.contains(&format!("\"message\": \"{message}\"")),
            "{message}"
        );
    }
}
