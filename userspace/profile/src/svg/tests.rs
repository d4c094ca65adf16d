use super::*;
use crate::model::made;
use crate::{Counts, Histogram, Layer, Profile, Row};

fn profile() -> Profile {
    let mut profile = Profile::default();
    for second in 0..20 {
        let rows = [
            ("cu<Launch>&\"Kernel'", 5_000),
            ("cuMemcpy\u{1b}[2J", 900_000),
        ];
        let rows = rows.map(|(function, ns)| {
            let mut histogram = Histogram::default();
            (0..50).for_each(|n| histogram.record(ns + ns * n / 10 * second as u64));
            Row {
                key: made::key(Layer::Api, 7, function),
                counts: Counts::timed(histogram),
            }
        });
        profile.add_interval(made::span(second), &rows);
    }
    profile
}

/// Elements are closed in order, attributes are quoted, and nothing but text is between.
fn well_formed(svg: &str) {
    let mut open = Vec::new();
    let mut rest = svg;
    while let Some(at) = rest.find('<') {
        let (text, tag) = rest.split_at(at);
        assert!(
            !text.contains('>') || open.last() == Some(&"style"),
            "{text}"
        );
        for reference in text.split('&').skip(1) {
            let known = ["amp;", "lt;", "gt;", "quot;", "#39;"];
            assert!(
                known.iter().any(|r| reference.starts_with(r)),
                "{reference}"
            );
        }
        let end = tag.find('>').expect("a tag ends");
        let (inside, after) = (&tag[1..end], &tag[end + 1..]);
        let name = inside
            .trim_matches('/')
            .split_whitespace()
            .next()
            .unwrap_or("");
        assert_eq!(inside.matches('"').count() % 2, 0, "{inside}");
        if inside.starts_with('/') {
            assert_eq!(open.pop(), Some(name));
        } else if !inside.ends_with('/') {
            open.push(name);
        }
        rest = after;
    }
    assert!(open.is_empty(), "{open:?}");
    assert!(svg.chars().all(|c| c == '\n' || !c.is_control()));
}

#[test]
fn pictures_are_well_formed_whatever_names_are() {
    let profile = profile();
    for svg in [percentiles(&profile), heat_map(&profile).unwrap()] {
        well_formed(&svg);
        for wanted in [
            "<title",
            "prefers-color-scheme: dark",
            "&lt;Launch&gt;&amp;",
            "latency",
        ] {
            assert!(svg.contains(wanted), "{wanted}: {svg}");
        }
        assert!(!svg.contains("<script"));
    }
    well_formed(&percentiles(&Profile::default()));
    assert_eq!(heat_map(&Profile::default()), None);
}

#[test]
fn axes_have_units() {
    let svg = percentiles(&profile());
    for wanted in [
        "1 us",
        "10 us",
        "1 ms",
        "50 %",
        "99 %",
        "99.9 %",
        "percentile of calls",
    ] {
        assert!(svg.contains(&format!(">{wanted}<")), "{wanted}");
    }
    let svg = heat_map(&profile()).unwrap();
    for wanted in [
        "time since 2023-11-14 22:13:20 UTC",
        "20.000 s",
        "calls in a cell",
    ] {
        assert!(svg.contains(wanted), "{wanted}");
    }
}

#[test]
fn durations_stand_where_their_decade_is() {
    let scale = Scale::around(1_500, 900_000);
    assert_eq!(
        scale,
        Scale {
            low: 3.0,
            high: 6.0
        }
    );
    assert!((scale.at(31_623.0) - 0.5).abs() < 1e-4);
    let names: Vec<String> = scale.ticks().map(|(_, name)| name).collect();
    assert_eq!(names, ["1 us", "10 us", "100 us", "1 ms"]);
}

#[test]
fn every_call_is_in_a_cell() {
    let profile = profile();
    let svg = heat_map(&profile).unwrap();
    // 20 columns, each with at least one cell of each of both functions, beside the key's.
    let cells = svg.matches("class=\"heat\" x=").count();
    assert!(cells >= 2 * 20 + 2 * 6, "{cells}");
}
