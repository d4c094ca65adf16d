//! The columns of a block.

use std::collections::HashMap;

use crate::bytes::{Cursor, put_varint, put_zigzag};
use crate::error::Malformed;
use crate::value::{Gauge, Kind, Point, Value};

/// Flag: values are integers.
const INTEGERS: u8 = 1;
/// Flag: each point of a gauge is one sample.
const SINGLE: u8 = 2;
/// Flags: the kind, shifted by this.
const KIND_SHIFT: u8 = 2;
/// An f64 has every integer below this.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// The points of one series of a file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Columns<P = Vec<Point>> {
    /// The number of the series in its file.
    pub(crate) id: u32,
    /// Of one kind, ascending by time.
    pub(crate) points: P,
}

/// The payload of a block; `series` ascend by number and each has a point. `base_ms` is the first time of the frame.
pub(crate) fn encode(series: &[Columns<&[Point]>], base_ms: i64) -> Vec<u8> {
    let mut timelines: Vec<Vec<i64>> = Vec::new();
    let mut known: HashMap<Vec<i64>, usize> = HashMap::new();
    let mut indices = Vec::with_capacity(series.len());
    for columns in series {
        let times: Vec<i64> = columns.points.iter().map(|point| point.time_ms).collect();
        let index = *known.entry(times).or_insert_with_key(|times| {
            timelines.push(times.clone());
            timelines.len() - 1
        });
        indices.push(index);
    }
    let mut out = Vec::new();
    put_varint(&mut out, timelines.len() as u64);
    for times in &timelines {
        put_timeline(&mut out, times, base_ms);
    }
    put_varint(&mut out, series.len() as u64);
    let mut before = 0;
    for (columns, index) in series.iter().zip(indices) {
        put_varint(&mut out, u64::from(columns.id - before));
        put_varint(&mut out, index as u64);
        put_columns(&mut out, columns.points);
        before = columns.id;
    }
    out
}

fn put_timeline(out: &mut Vec<u8>, times: &[i64], base_ms: i64) {
    put_varint(out, times.len() as u64);
    let (mut before, mut step) = (base_ms, 0i64);
    for (index, time) in times.iter().enumerate() {
        let difference = time.wrapping_sub(before);
        if index == 0 {
            put_zigzag(out, difference);
        } else {
            put_zigzag(out, difference.wrapping_sub(step));
            step = difference;
        }
        before = *time;
    }
}

fn take_timeline(from: &mut Cursor<'_>, base_ms: i64) -> Result<Vec<i64>, Malformed> {
    let count = from.count()?;
    let mut times = Vec::with_capacity(count);
    let (mut before, mut step) = (base_ms, 0i64);
    for index in 0..count {
        let read = from.zigzag()?;
        let difference = if index == 0 {
            read
        } else {
            step = step.wrapping_add(read);
            step
        };
        before = before.wrapping_add(difference);
        times.push(before);
    }
    Ok(times)
}

fn last(value: &Value) -> f64 {
    match value {
        Value::Gauge(gauge) => gauge.last,
        Value::Counter(value) => *value,
        Value::Histogram(_) => 0.0,
    }
}

fn is_integer(value: f64) -> bool {
    value.abs() < EXACT && (value as i64 as f64).to_bits() == value.to_bits()
}

fn put_columns(out: &mut Vec<u8>, points: &[Point]) {
    let Some(kind) = points.first().map(|point| point.value.kind()) else {
        out.push(0);
        return;
    };
    let values = || points.iter().map(|point| &point.value);
    let integers = values().all(|value| is_integer(last(value)));
    let single = values().all(|value| !matches!(value, Value::Gauge(g) if !g.is_one()));
    let flag = |set: bool, flag: u8| if set { flag } else { 0 };
    out.push(flag(integers, INTEGERS) | flag(single, SINGLE) | kind.code() << KIND_SHIFT);
    if kind == Kind::Histogram {
        for value in values() {
            if let Value::Histogram(histogram) = value {
                histogram.pack(out);
            }
        }
        return;
    }
    if integers {
        let mut before = 0;
        for value in values() {
            let value = last(value) as i64;
            put_zigzag(out, value - before);
            before = value;
        }
    } else {
        let mut before = 0;
        for value in values() {
            let bits = last(value).to_bits();
            put_varint(out, (bits ^ before).swap_bytes());
            before = bits;
        }
    }
    if single {
        return;
    }
    let gauges = || {
        points.iter().filter_map(|point| match &point.value {
            Value::Gauge(gauge) => Some(gauge),
            _ => None,
        })
    };
    gauges().for_each(|gauge| put_varint(out, gauge.count));
    for read in [|g: &Gauge| g.min, |g: &Gauge| g.max, |g: &Gauge| g.mean] {
        for gauge in gauges() {
            let bits = read(gauge).to_bits() ^ gauge.last.to_bits();
            put_varint(out, bits.swap_bytes());
        }
    }
}

/// The columns of a payload, in their order. `wanted` says which series are kept; the others are only checked.
pub(crate) fn decode(
    payload: &[u8],
    base_ms: i64,
    wanted: impl Fn(u32, Kind) -> bool,
) -> Result<Vec<Columns>, Malformed> {
    let mut from = Cursor(payload);
    let timelines = from.count()?;
    let timelines = (0..timelines)
        .map(|_| take_timeline(&mut from, base_ms))
        .collect::<Result<Vec<_>, _>>()?;
    let count = from.count()?;
    let mut found = Vec::new();
    let mut id = 0u32;
    for _ in 0..count {
        let gap = u32::try_from(from.varint()?).map_err(|_| Malformed::Range)?;
        id = id.checked_add(gap).ok_or(Malformed::Range)?;
        let index = usize::try_from(from.varint()?).map_err(|_| Malformed::Range)?;
        let times = timelines.get(index).ok_or(Malformed::Range)?;
        let flags = from.u8()?;
        let kind = Kind::of_code(flags >> KIND_SHIFT).ok_or(Malformed::Kind)?;
        let values = take_values(&mut from, times.len(), flags, kind)?;
        if wanted(id, kind) {
            let points = times
                .iter()
                .zip(values)
                .map(|(&time_ms, value)| Point { time_ms, value });
            found.push(Columns {
                id,
                points: points.collect(),
            });
        }
    }
    from.end()?;
    Ok(found)
}

fn take_values(
    from: &mut Cursor<'_>,
    count: usize,
    flags: u8,
    kind: Kind,
) -> Result<Vec<Value>, Malformed> {
    // Each value takes a byte at least: a timeline that many series share does not make room for more.
    if count > from.0.len() {
        return Err(Malformed::Short);
    }
    if kind == Kind::Histogram {
        return (0..count)
            .map(|_| from.histogram().map(Value::Histogram))
            .collect();
    }
    let lasts = take_lasts(from, count, flags & INTEGERS != 0)?;
    if kind == Kind::Counter {
        return Ok(lasts.into_iter().map(Value::Counter).collect());
    }
    let mut gauges: Vec<Gauge> = lasts.into_iter().map(Gauge::one).collect();
    if flags & SINGLE == 0 {
        for gauge in &mut gauges {
            gauge.count = from.varint()?;
        }
        for write in [
            |g: &mut Gauge, value| g.min = value,
            |g: &mut Gauge, value| g.max = value,
            |g: &mut Gauge, value| g.mean = value,
        ] {
            for gauge in &mut gauges {
                let bits = from.varint()?.swap_bytes() ^ gauge.last.to_bits();
                write(gauge, f64::from_bits(bits));
            }
        }
    }
    Ok(gauges.into_iter().map(Value::Gauge).collect())
}

fn take_lasts(from: &mut Cursor<'_>, count: usize, integers: bool) -> Result<Vec<f64>, Malformed> {
    let (mut integer, mut bits) = (0i64, 0u64);
    (0..count)
        .map(|_| {
            if integers {
                integer = integer.wrapping_add(from.zigzag()?);
                Ok(integer as f64)
            } else {
                bits ^= from.varint()?.swap_bytes();
                Ok(f64::from_bits(bits))
            }
        })
        .collect()
}

/// The points of buckets of `resolution_ms`, from points that ascend by time.
pub(crate) fn coarsen(points: Vec<Point>, resolution_ms: u32) -> Vec<Point> {
    let bucket = |point: &Point| point.time_ms.div_euclid(i64::from(resolution_ms.max(1)));
    let mut coarse: Vec<Point> = Vec::new();
    for point in points {
        match coarse.last_mut() {
            Some(before) if bucket(before) == bucket(&point) => before.merge(point),
            _ => coarse.push(point),
        }
    }
    coarse
}

#[cfg(test)]
mod tests {
    use gtrace_profile::Histogram;
    use proptest::prelude::*;

    use super::*;

    fn encoded(series: &[Columns], base_ms: i64) -> Vec<u8> {
        let borrowed: Vec<_> = series
            .iter()
            .map(|columns| Columns {
                id: columns.id,
                points: columns.points.as_slice(),
            })
            .collect();
        encode(&borrowed, base_ms)
    }

    fn value(kind: Kind) -> BoxedStrategy<Value> {
        let number = prop_oneof![
            any::<i32>().prop_map(f64::from),
            any::<f64>().prop_filter("finite", |v| v.is_finite()),
            Just(-0.0),
            Just(EXACT),
        ];
        let histogram = prop::collection::vec(any::<u64>(), 0..8).prop_map(|values| {
            let mut histogram = Histogram::default();
            values.into_iter().for_each(|ns| histogram.record(ns));
            Value::Histogram(histogram)
        });
        match kind {
            Kind::Counter => number.prop_map(Value::Counter).boxed(),
            Kind::Histogram => histogram.boxed(),
            Kind::Gauge => (prop::collection::vec(number, 1..4))
                .prop_map(|values| {
                    let mut whole = Value::gauge(values[0]);
                    let rest = &values[1..];
                    rest.iter().for_each(|v| whole.merge(&Value::gauge(*v)));
                    whole
                })
                .boxed(),
        }
    }

    fn columns() -> impl Strategy<Value = Vec<Columns>> {
        let kind = prop_oneof![
            Just(Kind::Gauge),
            Just(Kind::Counter),
            Just(Kind::Histogram)
        ];
        let points = kind.prop_flat_map(|kind| {
            prop::collection::vec((any::<i64>(), value(kind)), 1..6).prop_map(|points| {
                let point = |(time_ms, value)| Point { time_ms, value };
                points.into_iter().map(point).collect::<Vec<_>>()
            })
        });
        prop::collection::vec((0u32..5, points), 0..6).prop_map(|series| {
            let mut id = 0;
            let mut all = Vec::new();
            for (gap, points) in series {
                id += gap;
                all.push(Columns { id, points });
            }
            all
        })
    }

    proptest! {
        #[test]
        fn every_column_comes_out_as_it_went_in(series in columns(), base in any::<i64>()) {
            let payload = encoded(&series, base);
            prop_assert_eq!(decode(&payload, base, |_, _| true).unwrap(), series);
        }

        #[test]
        fn a_payload_that_ends_early_is_refused(series in columns(), cut in 0usize..4096) {
            let payload = encoded(&series, 0);
            prop_assert!(decode(&payload[..cut % payload.len()], 0, |_, _| true).is_err());
        }

        #[test]
        fn no_bytes_make_it_panic(payload in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = decode(&payload, 0, |_, _| true);
        }
    }

    #[test]
    fn series_of_one_batch_share_their_times_and_integers_take_a_byte() {
        let point = |n: i64| Point {
            time_ms: 1_700_000_000_000 + n * 10_000,
            value: Value::gauge(80.0),
        };
        let series: Vec<_> = (0..100)
            .map(|id| Columns {
                id,
                points: (0..30).map(point).collect(),
            })
            .collect();
        let length = encoded(&series, 1_700_000_000_000).len();
        assert!(length < 100 * 35 + 50, "{length}");
    }
}
