use std::path::Path;
use std::process::{Command, Stdio};

use gtrace_history::{Options, Samples, Writer};

use crate::common::{MINUTE, SECOND, START, everything, fill, gauge, open, points, query, seconds};

const DIR_ENV: &str = "GTRACE_HISTORY_TEST_DIR";

/// Runs the test `name` of this binary as a child whose files may have `blocks` of 512 bytes.
fn limited(name: &str, dir: &Path, blocks: u32) -> String {
    let script =
        format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" --exact {name} --nocapture");
    let output = Command::new("sh")
        .args(["-c", &script])
        .arg(std::env::current_exe().unwrap())
        .env(DIR_ENV, dir)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// In a child process with a limit on the size of its files: pushes until that fails ten times, and goes on.
#[test]
fn child_hits_its_limit() {
    let Some(dir) = std::env::var_os(DIR_ENV) else {
        return;
    };
    let mut writer = Writer::open(Path::new(&dir), Options::default()).unwrap();
    let (mut failures, mut n, mut pushed) = (0, 0, 0);
    while failures < 10 {
        n += 1;
        let samples = (0..50).map(|gpu| gauge(gpu, n as f64)).collect();
        let batch = Samples {
            time_ms: START + n * SECOND,
            samples,
        };
        match writer.push(&batch) {
            Ok(()) => pushed = n,
            Err(error) => {
                assert!(error.to_string().contains("journal"), "{error}");
                failures += 1;
            }
        }
    }
    // A block is smaller than the journal, so there is room for it.
    writer.flush(START).unwrap();
    n += 1;
    let batch = Samples {
        time_ms: START + n * SECOND,
        samples: vec![gauge(0, n as f64)],
    };
    writer.push(&batch).unwrap();
    println!(
        "pushed {pushed} last {n} lost {}",
        writer.dropped().unwritable
    );
}

#[test]
fn a_batch_that_cannot_be_written_is_lost_as_a_whole_and_counted() {
    let dir = tempfile::tempdir().unwrap();
    let out = limited("disk_full::child_hits_its_limit", dir.path(), 64);
    let line = out.lines().find(|line| line.contains("pushed ")).unwrap();
    let line = &line[line.find("pushed ").unwrap()..];
    let numbers: Vec<i64> = line
        .split(' ')
        .filter_map(|word| word.parse().ok())
        .collect();
    let [pushed, last, lost] = numbers[..] else {
        panic!("{line}");
    };
    assert_eq!(lost, 500);
    let found = query(dir.path(), &everything());
    assert_eq!(found.series.len(), 50);
    let first = &found.series[0].points;
    assert_eq!(first.len() as i64, pushed + 1);
    assert_eq!(first.last().unwrap().time_ms, START + last * SECOND);
}

/// In a child process whose files have no room for a block.
#[test]
fn child_cannot_write_a_block() {
    let Some(dir) = std::env::var_os(DIR_ENV) else {
        return;
    };
    let mut writer = Writer::open(Path::new(&dir), Options::default()).unwrap();
    let error = writer.flush(START).unwrap_err();
    assert!(error.to_string().contains(".seg"), "{error}");
    assert!(writer.flush(START).is_err());
}

#[test]
fn a_block_that_cannot_be_written_stays_in_the_journal() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = Writer::open(dir.path(), Options::default()).unwrap();
    let mut value = 1u64;
    for n in 0..200 {
        value = value
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        let sample = gauge(0, f64::from_bits(0x3ff0_0000_0000_0000 | value >> 12));
        writer
            .push(&Samples {
                time_ms: START + n * SECOND,
                samples: vec![sample],
            })
            .unwrap();
    }
    drop(writer);
    let before = points(&query(dir.path(), &everything()), "temperature");
    assert_eq!(before.len(), 200);
    limited("disk_full::child_cannot_write_a_block", dir.path(), 1);
    assert_eq!(
        points(&query(dir.path(), &everything()), "temperature"),
        before
    );
    let mut writer = Writer::open(dir.path(), Options::default()).unwrap();
    writer.flush(START).unwrap();
    assert_eq!(
        points(&query(dir.path(), &everything()), "temperature"),
        before
    );
}

#[test]
fn a_history_that_somebody_removes_goes_on_with_what_the_journal_had() {
    for with_directory in [true, false] {
        let parent = tempfile::tempdir().unwrap();
        let dir = parent.path().join("samples");
        let mut writer = open(&dir);
        let (removed, end) = (START + 10 * MINUTE, START + 30 * MINUTE);
        fill(&mut writer, START, removed, SECOND);
        std::fs::remove_dir_all(&dir).unwrap();
        if !with_directory {
            std::fs::create_dir(&dir).unwrap();
        }
        fill(&mut writer, removed, end, SECOND);
        drop(writer);
        // A block of the first five minutes is gone with its file.
        let found = points(&query(&dir, &everything()), "temperature");
        assert_eq!(found, seconds(START + 5 * MINUTE, end), "{with_directory}");
    }
}

#[test]
fn a_history_that_is_at_its_place_again_keeps_its_blocks_and_goes_on() {
    let parent = tempfile::tempdir().unwrap();
    let [dir, aside] = ["samples", "aside"].map(|name| parent.path().join(name));
    let mut writer = open(&dir);
    let minute = |n: i64| START + n * MINUTE;
    fill(&mut writer, START, minute(30), SECOND);
    // As a file system that is unmounted, and mounted again while what came meanwhile is below it.
    std::fs::rename(&dir, &aside).unwrap();
    fill(&mut writer, minute(30), minute(40), SECOND);
    std::fs::remove_dir_all(&dir).unwrap();
    std::fs::rename(&aside, &dir).unwrap();
    fill(&mut writer, minute(40), minute(60), SECOND);
    drop(writer);
    let found = points(&query(&dir, &everything()), "temperature");
    let times: Vec<i64> = found.iter().map(|(time, _)| *time).collect();
    // What was below it is gone, and so is the journal from before it.
    let all = |from: i64, until: i64| (minute(from)..minute(until)).step_by(SECOND as usize);
    assert!(
        all(0, 25)
            .chain(all(35, 60))
            .all(|time| times.binary_search(&time).is_ok())
    );
}
