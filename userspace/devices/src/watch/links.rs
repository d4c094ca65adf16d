use std::collections::VecDeque;
use std::time::Duration;

use gtrace_event::{Kind, Severity, Timestamp};

use super::{Findings, Reading, rise};
use crate::nvlink::COUNTERS;
use crate::{GpuSample, NvLinkSample};

/// NVLink states and error counters.
pub(super) fn observe(last: Option<&GpuSample>, now: &GpuSample, found: &mut Findings<'_>) {
    let Some(last) = last else { return };
    for (old, link) in both(last, now) {
        if old.active == Some(true) && link.active == Some(false) {
            let text = format!("NVLink {} went down", link.link);
            let reading = Reading {
                value: Some(0.0),
                previous: Some(1.0),
                ..Reading::of("gtrace_gpu_nvlink_active")
            };
            let event = found.add((Kind::Nvlink, Severity::Critical), text, reading, 1);
            event.detail.fabric.link = Some(i64::from(link.link));
        }
        errors(old, link, found);
    }
}

/// Each link that both samples have.
fn both<'a>(
    last: &'a GpuSample,
    now: &'a GpuSample,
) -> impl Iterator<Item = (&'a NvLinkSample, &'a NvLinkSample)> {
    now.nvlinks.iter().filter_map(move |link| {
        let old = last.nvlinks.iter().find(|old| old.link == link.link)?;
        Some((old, link))
    })
}

/// Effective and symbol errors are judged by their share of all bits. A packet that was not sent had its error before.
const NO_EVENT: [&str; 3] = ["effective", "symbol", "transmit_discard"];

fn errors(old: &NvLinkSample, new: &NvLinkSample, found: &mut Findings<'_>) {
    let counters = COUNTERS.iter().filter(|c| !NO_EVENT.contains(&c.name));
    for counter in counters {
        let (old_count, new_count) = ((counter.read)(old), (counter.read)(new));
        if let (count @ 1.., Some(value)) = (rise(old_count, new_count), new_count) {
            let (link, name) = (new.link, counter.name);
            let text = match name {
                "failed_recovery" => format!("NVLink {link} could not be recovered, and went down"),
                _ => format!("NVLink {link} counted {name} errors"),
            };
            let severity = match name {
                "failed_recovery" => Severity::Critical,
                // Their rate is judged: see [`CrcErrors`]. DCGM's health check fails a GPU for each replay and recovery.
                "crc_flit" | "crc_data" => Severity::Info,
                _ => Severity::Warning,
            };
            let reading = Reading::counter("gtrace_gpu_nvlink_errors", old_count, value);
            let event = found.add((Kind::Nvlink, severity), text, reading, count);
            event.detail.fabric.link = Some(i64::from(link));
        }
    }
}

const WINDOW: Duration = Duration::from_secs(60);
/// Readings kept at most, however fast the samples come.
const MAX_READINGS: usize = 128;

/// A counter over the last minute.
#[derive(Debug, Default)]
struct Recent(VecDeque<(Timestamp, u64)>);

/// By how much a counter rose, since when it was `from`.
struct Rise {
    from: u64,
    by: u64,
    over: Duration,
}

impl Rise {
    /// How much of it is of each `time`.
    fn every(&self, time: Duration) -> f64 {
        self.by as f64 * time.as_secs_f64() / self.over.as_secs_f64()
    }
}

impl Recent {
    /// Takes a reading. By how much the counter rose within [`WINDOW`].
    fn observe(&mut self, now: Timestamp, count: u64) -> Rise {
        if self.0.back().is_some_and(|&(_, newest)| count < newest) {
            self.begin(now, 0);
        }
        // One reading that is older than the window stays, so that the window is full.
        while self
            .0
            .get(1)
            .is_some_and(|&(t, _)| now.duration_since(t).unsigned_abs() >= WINDOW)
            || self.0.len() >= MAX_READINGS
        {
            self.0.pop_front();
        }
        let (since, from) = self.0.front().copied().unwrap_or((now, count));
        self.0.push_back((now, count));
        Rise {
            from,
            by: count - from.min(count),
            // After a gap in the samples the rise is spread over all of it.
            over: now.duration_since(since).unsigned_abs().max(WINDOW),
        }
    }

    /// Forgets what was before.
    fn begin(&mut self, now: Timestamp, count: u64) {
        self.0.clear();
        self.0.push_back((now, count));
    }
}

/// PCIe replays a minute that are no more than noise: DCGM's health check uses the same rate.
const MAX_REPLAYS: u64 = 8;

/// The PCIe replay counter over the last minute.
#[derive(Debug, Default)]
pub(super) struct Replays(Recent);

impl Replays {
    pub(super) fn observe(&mut self, now: &GpuSample, found: &mut Findings<'_>) {
        let Some(count) = now.pcie_replays else {
            return;
        };
        let rose = self.0.observe(now.time, count);
        if rose.every(Duration::from_secs(60)) > MAX_REPLAYS as f64 {
            self.0.begin(now.time, count);
            let reading = Reading {
                limit: Some(MAX_REPLAYS as f64),
                ..Reading::counter("gtrace_gpu_pcie_replays", Some(rose.from), count)
            };
            let text = "The PCIe replay counter rose faster than 8 a minute";
            found.add((Kind::PcieLink, Severity::Warning), text, reading, rose.by);
        }
    }
}

/// CRC errors a second of all links together for which DCGM's health check fails a GPU: the packet is sent again, and fewer
/// do not matter (DCGM_LIMIT_MAX_NVLINK_CRC_ERROR of dcgm_gpu_hardware_limits.h).
const MAX_CRC_ERRORS: u64 = 100;
/// What `detail.error` of the event says: a rule of health goes by it.
const CRC_ERROR_RATE: &str = "CRC error rate";

/// A counter of a link.
type Read = fn(&NvLinkSample) -> Option<u64>;

/// CRC errors of NVLinks over the last minute: in flow control digits, and in data. Links of NVLink 5 do not count them.
#[derive(Debug, Default)]
pub(super) struct CrcErrors([(u64, Recent); 2]);

impl CrcErrors {
    pub(super) fn observe(
        &mut self,
        last: Option<&GpuSample>,
        now: &GpuSample,
        found: &mut Findings<'_>,
    ) {
        let counters: [(&str, Read); 2] = [
            ("crc_flit", |link| link.crc_flit),
            ("crc_data", |link| link.crc_data),
        ];
        for ((name, read), (counted, recent)) in counters.into_iter().zip(&mut self.0) {
            // Counters of a link that is down are not there: a sum of them would fall.
            let links = last.into_iter().flat_map(|last| both(last, now));
            let rises = links.map(|(old, link)| rise(read(old), read(link)));
            *counted = rises.fold(*counted, u64::saturating_add);
            let rose = recent.observe(now.time, *counted);
            if rose.every(Duration::from_secs(1)) >= MAX_CRC_ERRORS as f64 {
                recent.begin(now.time, *counted);
                let counts = now.nvlinks.iter().filter_map(read);
                let value = counts.fold(0, u64::saturating_add);
                let reading = Reading {
                    limit: Some(MAX_CRC_ERRORS as f64),
                    ..Reading::counter(
                        "gtrace_gpu_nvlink_errors",
                        Some(value.saturating_sub(rose.by)),
                        value,
                    )
                };
                let text = format!("NVLinks counted 100 {name} errors a second or more");
                let event = found.add((Kind::Nvlink, Severity::Warning), text, reading, rose.by);
                event.detail.host.error = Some(CRC_ERROR_RATE.to_owned());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use gtrace_event::Gpu;

    use super::super::SampleWatch;
    use super::*;

    /// Samples of a GPU every five seconds.
    #[derive(Default)]
    struct Bench(SampleWatch, i64);

    impl Bench {
        /// A sample with so many CRC errors of each link; none of one that is down. Whether it shows too many.
        fn see(&mut self, crc_data: &[Option<u64>]) -> bool {
            self.1 += 5;
            let mut sample = GpuSample::at(Timestamp::from_second(self.1).unwrap());
            let link = |(link, crc_data): (u32, &Option<u64>)| NvLinkSample {
                link,
                active: Some(crc_data.is_some()),
                crc_data: *crc_data,
                ..NvLinkSample::default()
            };
            sample.nvlinks = (0..).zip(crc_data).map(link).collect();
            let gpu = Gpu::at("0000:3b:00.0".parse().unwrap());
            let found = self.0.observe(&gpu, &sample).into_iter();
            let found: Vec<_> = found
                .map(|found| found.occurrence)
                .filter(|found| found.detail.host.error.as_deref() == Some(CRC_ERROR_RATE))
                .collect();
            for event in &found {
                assert_eq!(
                    (event.kind, event.severity),
                    (Kind::Nvlink, Severity::Warning)
                );
                assert_eq!(
                    event.message,
                    "NVLinks counted 100 crc_data errors a second or more"
                );
                assert_eq!(event.detail.sample.limit, Some(100.0));
            }
            !found.is_empty()
        }
    }

    #[test]
    fn crc_errors_are_judged_by_the_second_over_a_minute_and_all_links() {
        let mut bench = Bench::default();
        assert!(!bench.see(&[Some(1_000_000), Some(0)]), "of long ago");
        // 98 a second, of both together.
        let mut count = 0;
        for _ in 0..30 {
            count += 245;
            assert!(!bench.see(&[Some(1_000_000 + count), Some(count)]));
        }
        for _ in 0..12 {
            assert!(!bench.see(&[Some(1_000_000 + count), Some(count)]));
        }
        // A link that comes up again has counted all of it before, and the sum of the others did not fall meanwhile.
        assert!(!bench.see(&[None, Some(count)]));
        assert!(!bench.see(&[Some(1_000_000 + count), Some(count)]));
        // A burst is spread over a minute.
        let second = count + 5_999;
        assert!(!bench.see(&[Some(1_000_000 + count), Some(second)]));
        for _ in 0..12 {
            assert!(!bench.see(&[Some(1_000_000 + count), Some(second)]));
        }
        // 120 a second: after 6,000 each time.
        let mut shown = 0;
        for n in 1..=24 {
            let first = 1_000_000 + count + n * 300;
            shown += u32::from(bench.see(&[Some(first), Some(second + n * 300)]));
        }
        assert_eq!(shown, 2);
    }

    #[test]
    fn counters_of_nvlink_5_are_events_but_for_those_that_a_ratio_judges() {
        let sample = |count: u64| {
            let mut link = NvLinkSample {
                link: 7,
                active: Some(true),
                ..NvLinkSample::default()
            };
            for counter in COUNTERS.iter().filter(|counter| counter.field.is_some()) {
                (counter.set)(&mut link, Some(count));
            }
            let mut sample = GpuSample::at(Timestamp::UNIX_EPOCH);
            sample.nvlinks = vec![link];
            sample
        };
        let gpu = Gpu::at("0000:3b:00.0".parse().unwrap());
        let mut found = Findings {
            gpu: &gpu,
            events: Vec::new(),
            standing: Vec::new(),
        };
        // A GPU that was asked for the first time, and one that counted nothing.
        observe(
            Some(&GpuSample::at(Timestamp::UNIX_EPOCH)),
            &sample(9),
            &mut found,
        );
        observe(Some(&sample(9)), &sample(9), &mut found);
        assert!(found.events.is_empty());
        observe(Some(&sample(9)), &sample(11), &mut found);
        let events = found.events.iter().map(|found| &found.occurrence);
        let events: Vec<_> = events.map(|e| (e.severity, e.message.as_str())).collect();
        let counted = [
            "NVLink 7 counted malformed_packet errors",
            "NVLink 7 counted buffer_overrun errors",
            "NVLink 7 counted receive errors",
            "NVLink 7 counted remote errors",
            "NVLink 7 counted general errors",
            "NVLink 7 counted link_integrity errors",
        ];
        let down = "NVLink 7 could not be recovered, and went down";
        let mut wanted = vec![(Severity::Critical, down)];
        wanted.extend(counted.map(|text| (Severity::Warning, text)));
        assert_eq!(events, wanted);
        assert!(found.events.iter().all(|found| found.count == 2));
    }
}
