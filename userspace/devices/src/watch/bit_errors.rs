use std::collections::BTreeMap;
use std::time::Duration;

use gtrace_event::{Kind, Occurrence, Severity, Timestamp};

use super::{Findings, Reading, STATED_EVERY};
use crate::GpuSample;

/// Wrong bits after correction, of all: DCGM's health check fails a GPU with more.
const MAX_RATIO: f64 = 1e-12;
/// For so long samples have to show a link above it: the ratio counts from when the link came up, and one error is many of the bits of its
/// first seconds. A sample has a ratio that was read up to a minute before, so that the last one was read a minute after the first or
/// later: a link of 200 Gb/s has carried 12 * 10^12 bits by then.
const SUSTAINED: Duration = Duration::from_secs(120);

/// What `detail.error` of the event says: a rule of health goes by it.
const TOO_MANY: &str = "bit error rate";
const FEW: &str = "bit error rate is within its limit";

/// Links of a GPU with more bit errors than a link may have.
#[derive(Debug, Default)]
pub(super) struct BitErrors {
    /// Since when links are above the limit.
    above: BTreeMap<u32, Timestamp>,
    /// Whether one has been for long enough.
    bad: Option<bool>,
    stated: Option<Timestamp>,
}

impl BitErrors {
    /// Reports that a link has too many, and that none has any more. How that is at the beginning, and that one still has, is how
    /// the GPU stands. GPUs without such readings, as all before NVLink 5, are not judged, nor are links that are down.
    pub(super) fn observe(&mut self, now: &GpuSample, found: &mut Findings<'_>) {
        let known = now.nvlinks.iter();
        let known = known.filter_map(|link| Some((link.link, link.effective_ber?)));
        let known: BTreeMap<u32, f64> = known.collect();
        if known.is_empty() {
            return;
        }
        let is_above = |link: &u32| known.get(link).is_some_and(|ratio| *ratio > MAX_RATIO);
        self.above.retain(|link, _| is_above(link));
        for link in known.keys().filter(|link| is_above(link)) {
            self.above.entry(*link).or_insert(now.time);
        }
        let age = |at: Timestamp| now.time.duration_since(at).unsigned_abs();
        let sustained = self
            .above
            .iter()
            .filter(|(_, since)| age(**since) >= SUSTAINED);
        let sustained = sustained.filter_map(|(link, _)| Some((*link, *known.get(link)?)));
        let worst = sustained.max_by(|(_, one), (_, other)| one.total_cmp(other));
        if worst.is_none() && !self.above.is_empty() {
            return;
        }
        let before = self.bad.replace(worst.is_some());
        let changed = before.is_some_and(|before| before != worst.is_some());
        let due = self.stated.is_none_or(|at| age(at) >= STATED_EVERY);
        if !changed && before.is_some() && !(due && worst.is_some()) {
            return;
        }
        self.stated = Some(now.time);
        let event = occurrence(found, worst);
        match changed {
            true => found.happened(event),
            false => found.stands(event),
        }
    }
}

fn occurrence(found: &Findings<'_>, worst: Option<(u32, f64)>) -> Occurrence {
    let (severity, text, error) = match worst {
        Some((link, _)) => (
            Severity::Warning,
            format!("NVLink {link} has more bit errors than a link may have"),
            TOO_MANY,
        ),
        None => (
            Severity::Info,
            "no NVLink has too many bit errors any more".to_owned(),
            FEW,
        ),
    };
    let reading = Reading {
        value: worst.map(|(_, ratio)| ratio),
        limit: Some(MAX_RATIO),
        ..Reading::of("gtrace_gpu_nvlink_bit_error_ratio")
    };
    let mut event = reading.occurrence(found.gpu, (Kind::Nvlink, severity), text);
    event.detail.fabric.link = worst.map(|(link, _)| i64::from(link));
    event.detail.host.error = Some(error.to_owned());
    event
}

#[cfg(test)]
mod tests {
    use gtrace_event::{Gpu, PciAddress};

    use super::super::{Observed, SampleWatch};
    use super::*;
    use crate::NvLinkSample;

    struct Bench(SampleWatch, i64);

    impl Bench {
        fn new() -> Self {
            Self(SampleWatch::new(), 0)
        }

        /// What a sample leads to that comes ten seconds after the one before: the ratio of each link, by number.
        fn see(&mut self, ratios: &[Option<f64>]) -> (Vec<Observed>, Vec<Observed>) {
            self.1 += 10;
            let gpu = Gpu::at(PciAddress::parse("0000:3b:00.0").unwrap());
            let mut sample = GpuSample::at(Timestamp::from_second(self.1).unwrap());
            let link = |(link, ratio): (u32, &Option<f64>)| NvLinkSample {
                link,
                active: Some(true),
                effective_ber: *ratio,
                ..NvLinkSample::default()
            };
            sample.nvlinks = (0..).zip(ratios).map(link).collect();
            let (mut happened, mut stands) = (self.0.observe(&gpu, &sample), self.0.standing());
            // A GPU that needs no licence stands so too.
            for all in [&mut happened, &mut stands] {
                all.retain(|found| found.occurrence.kind == Kind::Nvlink);
            }
            (happened, stands)
        }

        fn texts(&mut self, ratios: &[Option<f64>]) -> (Vec<String>, Vec<String>) {
            let (happened, stands) = self.see(ratios);
            let text = |found: Observed| found.occurrence.message;
            let text = |all: Vec<Observed>| all.into_iter().map(text).collect();
            (text(happened), text(stands))
        }
    }

    const WITHIN: Option<f64> = Some(1e-12);
    const BEYOND: Option<f64> = Some(2e-12);
    const FEWER: &str = "no NVLink has too many bit errors any more";

    #[test]
    fn a_link_is_bad_once_it_has_had_too_many_bit_errors_for_a_minute() {
        let mut bench = Bench::new();
        let none: (Vec<String>, Vec<String>) = Default::default();
        let stands = |text: &str| (Vec::new(), vec![text.to_owned()]);
        let happened = |text: &str| (vec![text.to_owned()], Vec::new());
        assert_eq!(bench.texts(&[WITHIN, Some(0.0)]), stands(FEWER));
        // Just after it came up one error is too many, and is not in a minute.
        for _ in 0..3 {
            for _ in 0..12 {
                assert_eq!(bench.texts(&[WITHIN, BEYOND]), none);
            }
            assert_eq!(bench.texts(&[WITHIN, WITHIN]), none);
        }
        for _ in 0..12 {
            assert_eq!(bench.texts(&[WITHIN, BEYOND]), none);
        }
        let (found, _) = bench.see(&[WITHIN, BEYOND]);
        let event = &found[0].occurrence;
        assert_eq!(
            event.message,
            "NVLink 1 has more bit errors than a link may have"
        );
        assert_eq!(
            (event.kind, event.severity),
            (Kind::Nvlink, Severity::Warning)
        );
        let sample = &event.detail.sample;
        assert_eq!((sample.value, sample.limit), (BEYOND, Some(1e-12)));
        assert_eq!(event.detail.fabric.link, Some(1));
        assert_eq!(event.detail.host.error.as_deref(), Some("bit error rate"));
        for _ in 0..5 {
            assert_eq!(bench.texts(&[WITHIN, BEYOND]), none);
        }
        let again = "NVLink 1 has more bit errors than a link may have";
        assert_eq!(bench.texts(&[WITHIN, BEYOND]), stands(again));
        // A reading that failed says nothing.
        assert_eq!(bench.texts(&[None, None]), none);
        assert_eq!(bench.texts(&[WITHIN, WITHIN]), happened(FEWER));
        assert_eq!(bench.texts(&[WITHIN, WITHIN]), none);
    }

    #[test]
    fn a_gpu_without_the_reading_is_not_judged_and_one_that_begins_bad_stands_so() {
        let mut bench = Bench::new();
        for _ in 0..20 {
            let (happened, stands) = bench.see(&[None, None]);
            assert!(happened.is_empty() && stands.is_empty());
        }
        for _ in 0..12 {
            let (happened, stands) = bench.see(&[BEYOND]);
            assert!(happened.is_empty() && stands.is_empty());
        }
        let (happened, stands) = bench.see(&[BEYOND]);
        assert_eq!((happened.len(), stands.len()), (0, 1));
    }
}
