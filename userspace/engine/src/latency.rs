//! How long calls took, by day: for a fleet, whose percentiles are those of all its hosts' histograms added up.

use std::sync::{Arc, Mutex};

use gtrace_event::Timestamp;
use gtrace_profile::{DailyCalls, Layer};
use jiff::civil::Date;
use jiff::tz::TimeZone;

use crate::lock::lock;
use crate::rows::Rows;
use crate::samples::{Batch, Latency, Subscriber};

/// Rows that are kept.
const ROWS: usize = 256;

/// What is counted apart.
type Key = (Date, Layer, String, Option<String>);

/// What was counted: a subscriber of the samples.
#[derive(Debug, Default)]
pub struct Latencies(Mutex<Counted>);

#[derive(Debug, Default)]
struct Counted {
    driver: Option<String>,
    rows: Rows<Key, DailyCalls, ROWS>,
}

impl Latencies {
    /// Calls from now on are of this version of the driver, if it is known.
    pub fn driver_is(&self, driver: Option<&str>) {
        let mut counted = lock(&self.0);
        if driver.is_some() && counted.driver.as_deref() != driver {
            counted.driver = driver.map(str::to_owned);
        }
    }

    /// Rows with a call since `since`, those first that took the most time.
    pub fn rows(&self, since: Timestamp) -> Vec<DailyCalls> {
        let counted = lock(&self.0);
        let rows = counted.rows.values().filter(|row| row.last >= since);
        let mut rows: Vec<DailyCalls> = rows.cloned().collect();
        drop(counted);
        rows.sort_by_key(|row| std::cmp::Reverse(row.histogram.sum_ns()));
        rows
    }
}

impl Subscriber for Latencies {
    fn take(&self, _: &Arc<Batch>) {}

    fn take_latency(&self, time: Timestamp, latency: &[Latency]) {
        let mut counted = lock(&self.0);
        for one in latency {
            counted.add(time, one);
        }
    }
}

impl Counted {
    fn add(&mut self, time: Timestamp, latency: &Latency) {
        let layer = match latency.name {
            crate::samples::DRIVER_CALLS => Layer::Driver,
            crate::samples::CUDA_CALLS => Layer::Api,
            _ => return,
        };
        let call = latency.labels.iter().find(|(name, _)| *name == "call");
        let Some((_, call)) = call else {
            return;
        };
        let day = time.to_zoned(TimeZone::UTC).date();
        let key = (day, layer, call.clone(), self.driver.clone());
        let row = self.rows.entry(key, || DailyCalls {
            day,
            since: time,
            last: time,
            layer,
            call: call.clone(),
            driver: self.driver.clone(),
            histogram: Default::default(),
        });
        row.last = time;
        row.histogram.merge(&latency.histogram);
    }
}

#[cfg(test)]
mod tests {
    use gtrace_profile::Histogram;

    use super::*;
    use crate::samples::{CUDA_CALLS, DRIVER_CALLS};

    fn calls(name: &'static str, call: &str, pid: u32, ns: &[u64]) -> Latency {
        let mut histogram = Histogram::default();
        ns.iter().for_each(|ns| histogram.record(*ns));
        Latency {
            name,
            labels: vec![("call", call.to_owned()), ("pid", pid.to_string())],
            histogram,
        }
    }

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    #[test]
    fn calls_of_all_processes_add_up_by_day_and_driver() {
        let latencies = Latencies::default();
        let evening = at("2026-11-27T23:59:58Z");
        let one = calls(DRIVER_CALLS, "RM_ALLOC", 1, &[100, 200]);
        let two = calls(DRIVER_CALLS, "RM_ALLOC", 2, &[900]);
        let cuda = calls(CUDA_CALLS, "cuLaunchKernel", 1, &[7]);
        latencies.take_latency(evening, &[one.clone(), two, cuda]);
        latencies.driver_is(Some("550.1"));
        // A reading without GPUs knows no other.
        latencies.driver_is(None);
        latencies.take_latency(at("2026-11-28T00:00:00Z"), &[one]);
        let rows = latencies.rows(Timestamp::MIN);
        let of = |row: &DailyCalls| {
            let histogram = &row.histogram;
            let counted = (histogram.count(), histogram.sum_ns());
            (row.day.day(), row.call.clone(), row.driver.clone(), counted)
        };
        let driver = Some("550.1".to_owned());
        let rm = || "RM_ALLOC".to_owned();
        assert_eq!(
            rows.iter().map(of).collect::<Vec<_>>(),
            [
                (27, rm(), None, (3, 1200)),
                (28, rm(), driver, (2, 300)),
                (27, "cuLaunchKernel".to_owned(), None, (1, 7)),
            ]
        );
        assert_eq!(rows[2].layer, Layer::Api);
        assert_eq!(latencies.rows(at("2026-11-28T00:00:00Z")).len(), 1);
    }

    #[test]
    fn rows_are_bounded_and_one_that_comes_again_is_another() {
        let latencies = Latencies::default();
        let second = |n: usize| Timestamp::from_second(1_800_000_000 + n as i64).unwrap();
        for n in 0..ROWS + 10 {
            let one = calls(DRIVER_CALLS, &format!("call {n}"), 1, &[5]);
            latencies.take_latency(second(n), &[one]);
        }
        let rows = latencies.rows(Timestamp::MIN);
        assert_eq!(rows.len(), ROWS);
        assert!(!rows.iter().any(|row| row.call == "call 9"));
        let again = second(ROWS + 10);
        latencies.take_latency(again, &[calls(DRIVER_CALLS, "call 9", 1, &[5])]);
        assert_eq!(latencies.rows(again)[0].since, again);
        // By a clock that was set back, too.
        latencies.take_latency(second(0), &[calls(DRIVER_CALLS, "new", 1, &[5])]);
        let rows = latencies.rows(Timestamp::MIN);
        assert!(rows.len() == ROWS && rows.iter().any(|row| row.call == "new"));
    }
}
