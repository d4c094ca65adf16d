//! What was counted between two readings of counts that only rise.

use std::collections::BTreeMap;

use crate::{Counts, Key, Row};

/// Readings of one place, and what came between them.
///
/// Who counts keeps the calls of a process that has ended under [`Process::ended`](crate::Process::ended). That row rises
/// by all that the process ever did, of which most was reported before: so what a row that is gone had
/// counted is taken off there.
#[derive(Clone, Debug, Default)]
pub struct Differences {
    last: BTreeMap<Key, Counts>,
    /// Rows whose counts could not be distinguished from one reading to the next.
    lost: u64,
}

impl Differences {
    /// Begins with a reading, of which nothing counts.
    pub fn begin(reading: &[Row]) -> Self {
        Self {
            last: by_key(reading),
            lost: 0,
        }
    }

    /// What was counted since the reading before, without rows that counted nothing.
    pub fn advance(&mut self, reading: &[Row]) -> Vec<Row> {
        let now = by_key(reading);
        let mut moved: BTreeMap<Key, Counts> = BTreeMap::new();
        let mut known: BTreeMap<&Key, &Counts> = BTreeMap::new();
        for (key, last) in &self.last {
            match now.get(key) {
                Some(counts) if counts.since(last).is_some() => {
                    known.insert(key, last);
                }
                // Gone, or begun anew under the same number.
                _ => {
                    let ended = Key {
                        process: key.process.ended(),
                        ..key.clone()
                    };
                    moved.entry(ended).or_default().merge(last);
                }
            }
        }
        let mut rows = Vec::new();
        for (key, counts) in &now {
            let mut before = known.get(key).copied().cloned().unwrap_or_default();
            if let Some(moved) = moved.get(key) {
                before.merge(moved);
            }
            match counts.since(&before) {
                Some(counts) if counts.calls > 0 || counts.histogram.sum_ns() > 0 => {
                    rows.push(Row {
                        key: key.clone(),
                        counts,
                    })
                }
                Some(_) => {}
                None => self.lost += 1,
            }
        }
        self.last = now;
        rows
    }

    /// How many times the calls of a row between two readings could not be reported: counts of ended
    /// processes that were kept elsewhere.
    pub fn lost(&self) -> u64 {
        self.lost
    }
}

fn by_key(rows: &[Row]) -> BTreeMap<Key, Counts> {
    let mut by_key: BTreeMap<Key, Counts> = BTreeMap::new();
    for row in rows {
        by_key
            .entry(row.key.clone())
            .or_default()
            .merge(&row.counts);
    }
    by_key
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::made::key;
    use crate::{Histogram, Layer};
    use proptest::prelude::*;

    fn row(pid: u32, values: &[u64]) -> Row {
        let mut histogram = Histogram::default();
        values.iter().for_each(|ns| histogram.record(*ns));
        let mut key = key(Layer::Driver, pid, "f");
        if pid == 0 {
            key.process = key.process.ended();
        }
        Row {
            key,
            counts: Counts::timed(histogram),
        }
    }

    fn calls(rows: &[Row]) -> Vec<(u32, u64)> {
        let pids = rows
            .iter()
            .map(|row| (row.key.process.pid, row.counts.calls));
        pids.collect()
    }

    #[test]
    fn what_was_reported_about_a_process_is_not_reported_again_when_it_has_ended() {
        let mut differences = Differences::begin(&[row(0, &[50]), row(7, &[100, 200])]);
        let rows = differences.advance(&[row(0, &[50]), row(7, &[100, 200, 300])]);
        assert_eq!(calls(&rows), [(7, 1)]);
        // One more call, and then its end.
        let rows = differences.advance(&[row(0, &[50, 100, 200, 300, 400])]);
        assert_eq!(calls(&rows), [(0, 1)]);
        assert_eq!(rows[0].counts.histogram.max_ns(), 400);
        assert_eq!(differences.lost(), 0);
    }

    #[test]
    fn a_process_under_an_old_number_begins_anew() {
        let mut differences = Differences::begin(&[row(7, &[100, 200])]);
        let rows = differences.advance(&[row(0, &[100, 200]), row(7, &[900])]);
        assert_eq!(calls(&rows), [(7, 1)]);
        assert_eq!(rows[0].counts.histogram.max_ns(), 900);
    }

    #[test]
    fn counts_that_were_begun_anew_are_reported_as_lost() {
        let mut differences = Differences::begin(&[row(0, &[50; 9]), row(7, &[100; 9])]);
        let rows = differences.advance(&[row(0, &[50])]);
        assert_eq!((calls(&rows), differences.lost()), (Vec::new(), 1));
    }

    proptest! {
        #[test]
        fn differences_add_up_to_what_was_counted(
            steps in prop::collection::vec((1u32..5, 64u64..1 << 40, 0u8..4), 1..60)
        ) {
            let mut live: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
            let mut ended = Vec::new();
            let mut all = Histogram::default();
            let mut reported = Histogram::default();
            let mut differences = Differences::begin(&[]);
            let mut reading = |live: &BTreeMap<u32, Vec<u64>>, ended: &[u64]| {
                let mut rows: Vec<Row> = live.iter().map(|(pid, values)| row(*pid, values)).collect();
                rows.push(row(0, ended));
                for row in differences.advance(&rows) {
                    reported.merge(&row.counts.histogram);
                }
                differences.lost()
            };
            for (pid, ns, what) in steps {
                match what {
                    0 => ended.extend(live.remove(&pid).unwrap_or_default()),
                    1 => prop_assert_eq!(reading(&live, &ended), 0),
                    _ => {
                        live.entry(pid).or_default().push(ns);
                        all.record(ns);
                    }
                }
            }
            prop_assert_eq!(reading(&live, &ended), 0);
            prop_assert!(reported.buckets().eq(all.buckets()));
            prop_assert_eq!(reported.sum_ns(), all.sum_ns());
        }
    }
}
