use super::*;
use crate::model::made;
use crate::{Histogram, Key, Layer, Origin, Profile, to_hdr};
use hdrhistogram::serialization::{Serializer as _, V2DeflateSerializer, V2Serializer};
use proptest::prelude::*;

fn encoded(hdr: &hdrhistogram::Histogram<u64>, compressed: bool) -> String {
    use base64::Engine as _;
    let mut bytes = Vec::new();
    if compressed {
        V2DeflateSerializer::new()
            .serialize(hdr, &mut bytes)
            .unwrap();
    } else {
        V2Serializer::new().serialize(hdr, &mut bytes).unwrap();
    }
    base64::engine::general_purpose::STANDARD.encode(bytes)
}

fn round(profile: &Profile) -> Profile {
    let mut log = Vec::new();
    write(profile, &mut log).unwrap();
    read(log.as_slice()).unwrap()
}

#[test]
fn a_row_is_found_again_by_its_tag() {
    let mut key = made::key(Layer::Remote, 4711, "cuMem cpy,=%/\n\u{e9}");
    key.gpu = Some("0000:3b:00.0".into());
    for origin in [
        None,
        Some(Origin {
            host: "laptop".into(),
            pid: 9,
            program: "a b".into(),
        }),
    ] {
        key.process.origin = origin;
        let tag = tag::of(&key);
        assert!(!tag.contains([',', ' ', '\n', '\r', '=']), "{tag}");
        assert_eq!(tag::parse(&tag), key);
    }
    let foreign: Key = tag::parse("db-reads");
    assert_eq!(
        (foreign.layer, foreign.function.as_str()),
        (Layer::Api, "db-reads")
    );
}

#[test]
fn logs_of_others_are_read() {
    // As HdrHistogram's writer in Java puts them: a legend, an untagged and a tagged line, Windows'
    // ends of lines.
    let mut hdr = hdrhistogram::Histogram::<u64>::new_with_bounds(1, 1 << 40, 2).unwrap();
    hdr.record_n(5_000, 7).unwrap();
    let histogram = encoded(&hdr, true);
    let log = format!(
        "#[Logged by something]\r\n#[StartTime: 1700000000.000 (seconds since epoch), then]\r\n\
         \"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"\r\n\
         0.500,1.000,0.005,{histogram}\r\nTag=writes,1.500,1.000,0.005,{histogram}\r\n"
    );
    let profile = read(log.as_bytes()).unwrap();
    let rows: Vec<(&str, u64)> = profile
        .rows
        .iter()
        .map(|(key, counts)| (key.function.as_str(), counts.calls))
        .collect();
    assert_eq!(rows, [("(untagged)", 7), ("writes", 7)]);
    let start = profile.taken.span.unwrap().start;
    assert_eq!(start.to_string(), "2023-11-14T22:13:20.5Z");
    let p50 = profile
        .rows
        .values()
        .next()
        .unwrap()
        .histogram
        .quantile(0.5);
    assert!(p50.abs_diff(5_000) < 100, "{p50}");
}

#[test]
fn what_is_no_log_is_refused_with_its_line() {
    for (log, wanted) in [
        ("", "no line has a histogram"),
        ("#only a comment\n", "no line has a histogram"),
        ("#c\nhello\n", "line 2: no start"),
        ("1,1\n", "no maximum"),
        ("1,1,1\n", "fourth column"),
        ("nan,1,1,AA==\n", "no start"),
        ("1e300,1,1,HISTFAAAAA==\n", "the histogram"),
        ("1,1,1,AAAA\n", "the histogram"),
        ("Tag=x\n", "a tag and nothing else"),
    ] {
        let error = read(log.as_bytes()).unwrap_err().to_string();
        assert!(error.contains(wanted), "{log:?}: {error}");
    }
}

#[test]
fn headers_that_cannot_be_are_refused() {
    let header = |length: u32, digits: u32, low: u64, ratio: f64| {
        use base64::Engine as _;
        let mut bytes = 0x1c84_9313u32.to_be_bytes().to_vec();
        bytes.extend(length.to_be_bytes());
        bytes.extend(0u32.to_be_bytes());
        bytes.extend(digits.to_be_bytes());
        bytes.extend(low.to_be_bytes());
        bytes.extend(u64::MAX.to_be_bytes());
        bytes.extend(ratio.to_be_bytes());
        // The least number there is: a skip of 2^63.
        bytes.extend([0xff; 9]);
        base64::engine::general_purpose::STANDARD.encode(bytes)
    };
    assert!(decode(&header(9, 3, 1, 1.0)).unwrap().is_empty());
    for (text, wanted) in [
        (header(u32::MAX, 3, 1, 1.0), "4 MiB"),
        (header(100, 3, 1, 1.0), "length"),
        (header(9, 6, 1, 1.0), "digits"),
        (header(9, 3, 0, 1.0), "lowest"),
        (header(9, 5, 1 << 60, 1.0), "lowest"),
        (header(9, 3, 1, 2.0), "ratio"),
    ] {
        let error = decode(&text).unwrap_err().to_string();
        assert!(error.contains(wanted), "{error}");
    }
}

proptest! {
    #[test]
    fn buckets_and_rows_are_found_again(profile in made::profile()) {
        let timed: Vec<_> = profile
            .rows
            .iter()
            .filter(|(_, counts)| !counts.histogram.is_empty())
            .collect();
        prop_assume!(!timed.is_empty());
        let back = round(&profile);
        prop_assert_eq!(back.rows.len(), timed.len());
        for (key, counts) in timed {
            let found = &back.rows[key];
            prop_assert!(found.histogram.buckets().eq(counts.histogram.buckets()));
        }
        let filled = |profile: &Profile| -> Vec<_> {
            let filled = profile.intervals.iter().filter(|(_, rows)| {
                rows.values().any(|histogram| !histogram.is_empty())
            });
            filled.map(|(span, _)| *span).collect()
        };
        let spans = filled(&profile);
        if spans.len() > 1 {
            prop_assert_eq!(filled(&back), spans);
        }
    }

    #[test]
    fn what_hdrhistogram_writes_is_read_as_it_reads_it(
        values in prop::collection::vec((0u32..64, any::<u64>(), 1u64..1000), 0..50),
        digits in 0u8..=4, low in 1u64..5000, compressed: bool
    ) {
        let mut hdr = hdrhistogram::Histogram::<u64>::new_with_bounds(low, u64::MAX >> 1, digits).unwrap();
        let mut wanted = Histogram::default();
        for (shift, ns, count) in values {
            let ns = ns >> shift >> 1;
            hdr.record_n(ns, count).unwrap();
        }
        for value in hdr.iter_recorded() {
            let value_ = value.value_iterated_to();
            let (low, high) = (hdr.lowest_equivalent(value_), hdr.highest_equivalent(value_));
            wanted.record_n(low + (high - low).div_ceil(2), value.count_since_last_iteration());
        }
        prop_assert_eq!(decode(&encoded(&hdr, compressed)).unwrap(), wanted);
    }

    #[test]
    fn own_histograms_keep_their_buckets(values in prop::collection::vec((0u32..64, any::<u64>()), 0..50)) {
        let mut histogram = Histogram::default();
        values.iter().for_each(|(shift, ns)| histogram.record(ns >> shift));
        let back = decode(&encoded(&to_hdr(&histogram).unwrap(), true)).unwrap();
        prop_assert!(back.buckets().eq(histogram.buckets()));
    }
}
