use gtrace_history::Query;

use crate::common::{HOUR, MINUTE, SECOND, START, everything, fill, open, points, query, seconds};

#[test]
fn a_clock_that_is_set_back_hides_nothing_and_repeats_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = open(dir.path());
    let ahead = START + 24 * 365 * HOUR;
    fill(&mut writer, ahead, ahead + 7 * MINUTE, SECOND);
    fill(&mut writer, START, START + 7 * MINUTE, SECOND);
    writer.flush(START + 7 * MINUTE).unwrap();
    let found = query(dir.path(), &everything());
    let mut expected = seconds(START, START + 7 * MINUTE);
    expected.extend(seconds(ahead, ahead + 7 * MINUTE));
    assert_eq!(points(&found, "temperature"), expected);
}

#[test]
fn a_clock_that_goes_over_the_same_minutes_twice_gives_one_point_a_second() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = open(dir.path());
    fill(&mut writer, START, START + 7 * MINUTE, SECOND);
    fill(&mut writer, START + MINUTE, START + 8 * MINUTE, SECOND);
    let found = query(dir.path(), &everything());
    let expected = seconds(START, START + 8 * MINUTE);
    assert_eq!(points(&found, "temperature"), expected);
}

#[test]
fn a_clock_that_is_wrong_for_half_an_hour_does_not_cost_the_history() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = open(dir.path());
    fill(&mut writer, START, START + 30 * MINUTE, SECOND);
    let wrong = START + 24 * 365 * HOUR;
    fill(&mut writer, wrong, wrong + 30 * MINUTE, SECOND);
    fill(
        &mut writer,
        START + HOUR,
        START + HOUR + 20 * MINUTE,
        SECOND,
    );
    let asked = Query {
        until_ms: START + 30 * MINUTE,
        ..everything()
    };
    let found = query(dir.path(), &asked);
    assert_eq!(
        points(&found, "temperature"),
        seconds(START, START + 30 * MINUTE)
    );
}

#[test]
fn extreme_times_do_no_harm() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = open(dir.path());
    for time in [i64::MIN, -1, 0, i64::MAX - 1, 5] {
        crate::common::push(&mut writer, time, vec![crate::common::gauge(0, 1.0)]);
        writer.tick(time).unwrap();
        writer.flush(time).unwrap();
    }
    drop(writer);
    let mut writer = open(dir.path());
    writer.tick(START).unwrap();
    let found = query(dir.path(), &everything());
    let mut times: Vec<_> = points(&found, "temperature").iter().map(|p| p.0).collect();
    times.sort_unstable();
    // 0 and 5 are of one second.
    assert_eq!(times, [i64::MIN, -1, 5, i64::MAX - 1]);
}
