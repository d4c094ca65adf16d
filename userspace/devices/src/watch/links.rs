use std::collections::VecDeque;
use std::time::Duration;

use gtrace_event::{Kind, Severity, Timestamp};

use super::{Findings, Reading, rise};
use crate::nvlink::COUNTERS;
use crate::{GpuSample, NvLinkSample};

/// NVLink states and error counters.
pub(super) fn observe(last: Option<&GpuSample>, now: &GpuSample, found: &mut Findings<'_>) {
    let Some(last) = last else { return };
    for link in &now.nvlinks {
        let Some(old) = last.nvlinks.iter().find(|l| l.link == link.link) else {
            continue;
        };
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
                // The packet is sent again; the others train the link anew, or lose it.
                "replay" | "crc_flit" | "crc_data" => Severity::Info,
                _ => Severity::Warning,
            };
            let reading = Reading::counter("gtrace_gpu_nvlink_errors", old_count, value);
            let event = found.add((Kind::Nvlink, severity), text, reading, count);
            event.detail.fabric.link = Some(i64::from(link));
        }
    }
}

/// PCIe replays within [`WINDOW`] that are more than noise: DCGM's health check uses the same
/// rate, 8 a minute.
const MAX_REPLAYS: u64 = 8;
const WINDOW: Duration = Duration::from_secs(60);
/// Readings kept at most, however fast the samples come.
const MAX_READINGS: usize = 128;

/// The PCIe replay counter over the last minute.
#[derive(Debug, Default)]
pub(super) struct Replays(VecDeque<(Timestamp, u64)>);

impl Replays {
    pub(super) fn observe(&mut self, now: &GpuSample, found: &mut Findings<'_>) {
        let Some(count) = now.pcie_replays else {
            return;
        };
        if self.0.back().is_some_and(|&(_, newest)| count < newest) {
            self.0.clear();
            self.0.push_back((now.time, 0));
        }
        // One reading that is older than the window stays, so that the window is full.
        while self
            .0
            .get(1)
            .is_some_and(|&(t, _)| now.time.duration_since(t).unsigned_abs() >= WINDOW)
            || self.0.len() >= MAX_READINGS
        {
            self.0.pop_front();
        }
        let (since, oldest) = self.0.front().copied().unwrap_or((now.time, count));
        self.0.push_back((now.time, count));
        let rose = count - oldest.min(count);
        // After a gap in the samples the rise is spread over all of it.
        let over = now.time.duration_since(since).unsigned_abs().max(WINDOW);
        let a_minute = rose as f64 * WINDOW.as_secs_f64() / over.as_secs_f64();
        if a_minute > MAX_REPLAYS as f64 {
            self.0.clear();
            self.0.push_back((now.time, count));
            let reading = Reading {
                limit: Some(MAX_REPLAYS as f64),
                ..Reading::counter("gtrace_gpu_pcie_replays", Some(oldest), count)
            };
            let text = "The PCIe replay counter rose faster than 8 a minute";
            found.add((Kind::PcieLink, Severity::Warning), text, reading, rose);
        }
    }
}

#[cfg(test)]
mod tests {
    use gtrace_event::Gpu;

    use super::*;

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
