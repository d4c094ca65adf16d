//! What the wall clock showed in a span of time, although it was set.

use std::collections::VecDeque;

use gtrace_event::Timestamp;

/// By so much at once it was set; less is drift, and what corrects it.
const SET_NS: i128 = 1_000_000_000;
/// How often it was set that is remembered.
const TIMES_SET: usize = 16;

/// What the wall clock showed while it was watched.
#[derive(Debug, Default)]
pub(crate) struct ClockSteps {
    /// When, since boot, it was seen first and last to be so far ahead of the time since boot; the newest last.
    steps: VecDeque<(u64, u64, i128)>,
}

impl ClockSteps {
    /// It says `now` at `boot_ns`. To be called often: between two calls it may have been set at any time.
    pub(crate) fn observe(&mut self, now: Timestamp, boot_ns: u64) {
        let ahead = now.as_nanosecond() - i128::from(boot_ns);
        match self.steps.back_mut() {
            Some((_, last, before)) if (ahead - *before).abs() <= SET_NS => {
                (*last, *before) = (boot_ns, ahead);
            }
            _ => self.steps.push_back((boot_ns, boot_ns, ahead)),
        }
        if self.steps.len() > TIMES_SET {
            self.steps.pop_front();
        }
    }

    /// What it showed between two times since boot, ns: the first and last milliseconds of spans that do not overlap.
    pub(crate) fn shown(&self, from_ns: i64, until_ns: i64) -> Vec<(i64, i64)> {
        let steps = self.steps.iter();
        let begins = steps.clone().map(|(_, last, _)| i128::from(*last));
        let begins = [i128::MIN].into_iter().chain(begins);
        let ends = steps.clone().map(|(first, ..)| i128::from(*first));
        let ends = ends.skip(1).chain([i128::MAX]);
        let mut spans = Vec::new();
        for ((begin, (.., ahead)), end) in begins.zip(steps).zip(ends) {
            let (first, last) = (begin.max(from_ns.into()), end.min(until_ns.into()));
            if first <= last {
                spans.push((first + ahead, last + ahead));
            }
        }
        spans.sort_unstable();
        let mut apart: Vec<(i64, i64)> = Vec::new();
        for (first, last) in spans {
            let ms = |ns: i128| i64::try_from(ns.div_euclid(1_000_000)).unwrap_or(i64::MAX);
            let (first, last) = (ms(first), ms(last));
            match apart.last_mut() {
                Some((_, end)) if first <= *end => *end = last.max(*end),
                _ => apart.push((first, last)),
            }
        }
        apart
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_of_time_is_what_the_clock_showed_before_and_after_it_was_set() {
        const S: i64 = 1_000_000_000;
        let mut steps = ClockSteps::default();
        let mut observe = |boot_s: i64, shows_s: i64| {
            let now = Timestamp::from_second(shows_s).unwrap();
            steps.observe(now, (boot_s * S) as u64);
        };
        // Set back by an hour at 1000 s since boot, forward by a minute at 1100 s, and back by ten seconds at 1200 s. Then it
        // is set within 45 s in which nobody looks.
        observe(900, 10_900);
        observe(999, 10_999);
        observe(1000, 7400);
        observe(1099, 7499);
        observe(1100, 7560);
        observe(1199, 7659);
        observe(1200, 7650);
        observe(1255, 7705);
        observe(1300, 9000);
        let shown = |from: i64, until: i64| {
            let spans = steps.shown(from * S, until * S).into_iter();
            spans.map(|(a, b)| (a / 1000, b / 1000)).collect::<Vec<_>>()
        };
        assert_eq!(shown(1010, 1050), [(7410, 7450)]);
        // From before it was watched.
        assert_eq!(shown(800, 900), [(10_800, 10_900)]);
        assert_eq!(shown(950, 1050), [(7399, 7450), (10_950, 11_000)]);
        assert_eq!(shown(1050, 1110), [(7450, 7500), (7559, 7570)]);
        assert_eq!(shown(1150, 1250), [(7610, 7700)]);
        assert_eq!(shown(1260, 1290), [(7710, 7740), (8960, 8990)]);
        assert!(ClockSteps::default().shown(0, S).is_empty());
    }
}
