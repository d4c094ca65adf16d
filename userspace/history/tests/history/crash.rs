use std::fs;
use std::path::{Path, PathBuf};

use gtrace_history::{HistoryError, Reader, decode_segment};

use crate::common::{MINUTE, SECOND, START, everything, fill, open, points, push, query, seconds};

fn segments(dir: &Path) -> Vec<PathBuf> {
    let names = fs::read_dir(dir).unwrap().map(|e| e.unwrap().path());
    let mut all: Vec<_> = names
        .filter(|path| path.extension().is_some_and(|e| e == "seg"))
        .collect();
    all.sort();
    all
}

fn copy(from: &Path) -> tempfile::TempDir {
    let to = tempfile::tempdir().unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), to.path().join(entry.file_name())).unwrap();
    }
    to
}

/// A history of two blocks and a journal.
fn history() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = open(dir.path());
    fill(&mut writer, START, START + 11 * MINUTE, 5 * SECOND);
    dir
}

#[test]
fn a_journal_cut_at_any_byte_gives_its_whole_batches_and_takes_more() {
    let original = tempfile::tempdir().unwrap();
    let mut writer = open(original.path());
    fill(&mut writer, START, START + 6 * SECOND, SECOND);
    drop(writer);
    let journal = fs::read(original.path().join("journal")).unwrap();
    let mut most = 0;
    for length in 0..=journal.len() {
        let dir = copy(original.path());
        fs::write(dir.path().join("journal"), &journal[..length]).unwrap();
        let before = points(&query(dir.path(), &everything()), "temperature");
        assert_eq!(before, seconds(START, START + before.len() as i64 * SECOND));
        most = most.max(before.len());
        let mut writer = open(dir.path());
        // Nothing is torn where the cut is between two batches.
        assert!(writer.dropped().torn <= 1);
        let later = START + 100 * SECOND;
        fill(&mut writer, later, later + SECOND, SECOND);
        let mut expected = before;
        expected.extend(seconds(later, later + SECOND));
        assert_eq!(
            points(&query(dir.path(), &everything()), "temperature"),
            expected
        );
    }
    assert_eq!(most, 6);
}

#[test]
fn a_journal_that_somebody_empties_costs_no_more_than_its_samples() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = open(dir.path());
    fill(&mut writer, START, START + 6 * MINUTE, SECOND);
    // As somebody does who needs room.
    fs::write(dir.path().join("journal"), "").unwrap();
    let end = START + 11 * MINUTE;
    fill(&mut writer, START + 6 * MINUTE, end, SECOND);
    let mut left = seconds(START, START + 5 * MINUTE);
    left.extend(seconds(START + 10 * MINUTE, end));
    let found = || points(&query(dir.path(), &everything()), "temperature");
    assert_eq!(found(), left);
    assert_eq!(writer.dropped().torn, 1);
    drop(writer);
    drop(open(dir.path()));
    assert_eq!(found(), left);
}

#[test]
fn a_file_on_a_bad_sector_costs_its_own_samples_only() {
    // Whoever reads the beginning of this file gets EIO.
    let bad = |path: &Path| {
        fs::remove_file(path).unwrap();
        std::os::unix::fs::symlink("/proc/self/mem", path).unwrap();
    };
    let dir = history();
    let whole = points(&query(dir.path(), &everything()), "temperature");
    let fine = segments(dir.path()).into_iter().find(|path| {
        let name = path.file_name().unwrap().to_str().unwrap();
        name.starts_with("1000-")
    });
    bad(&fine.unwrap());
    let found = query(dir.path(), &everything());
    assert_eq!(found.skipped.damaged, 1);
    // Ten seconds are still there of it.
    let got = points(&found, "temperature");
    assert!(got.len() >= whole.len() / 2 && got.last() == whole.last());
    assert_eq!(
        Reader::open(dir.path())
            .unwrap()
            .metrics(|_| true)
            .unwrap()
            .len(),
        2
    );
    bad(&dir.path().join("journal"));
    let mut writer = open(dir.path());
    assert_eq!(writer.dropped().torn, 2);
    let later = START + 12 * MINUTE;
    fill(&mut writer, later, later + SECOND, SECOND);
    let got = points(&query(dir.path(), &everything()), "temperature");
    assert_eq!(got.last(), Some(&(later, 720.0)));
}

#[test]
fn a_segment_cut_at_any_byte_is_read_up_to_its_last_whole_block() {
    let original = history();
    let whole = points(&query(original.path(), &everything()), "temperature");
    let fine = segments(original.path())
        .into_iter()
        .find(|path| {
            path.file_name()
                .is_some_and(|n| n.to_str().unwrap().starts_with("1000-"))
        })
        .unwrap();
    let bytes = fs::read(&fine).unwrap();
    for length in 0..bytes.len() {
        if let Ok(contents) = decode_segment(&bytes[..length]) {
            assert_eq!(contents.damaged, 0);
            assert!(contents.blocks.len() < 2);
        }
    }
    // Each opening reads all segments, so not every length.
    for length in (0..bytes.len()).step_by(7) {
        let dir = copy(original.path());
        fs::write(dir.path().join(fine.file_name().unwrap()), &bytes[..length]).unwrap();
        // Ten seconds are still there of what is cut off.
        let got = points(&query(dir.path(), &everything()), "temperature");
        assert!(got.len() >= whole.len() / 2 && got.last() == whole.last());
        let mut writer = open(dir.path());
        let later = START + 12 * MINUTE;
        fill(&mut writer, later, later + SECOND, SECOND);
        writer.flush(later).unwrap();
        let after = points(&query(dir.path(), &everything()), "temperature");
        assert_eq!(after.len(), got.len() + 1, "cut at {length}");
    }
}

#[test]
fn blocks_without_the_end_of_their_journal_are_not_read_twice() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = open(dir.path());
    fill(&mut writer, START, START + 4 * MINUTE, SECOND);
    let journal = fs::read(dir.path().join("journal")).unwrap();
    writer.flush(START + 4 * MINUTE).unwrap();
    drop(writer);
    // As if the process had been killed before it replaced the journal.
    fs::write(dir.path().join("journal"), journal).unwrap();
    // And before it had written the coarsest block.
    let coarsest = segments(dir.path()).pop().unwrap();
    fs::remove_file(coarsest).unwrap();
    let expected = seconds(START, START + 4 * MINUTE);
    assert_eq!(
        points(&query(dir.path(), &everything()), "temperature"),
        expected
    );
    let mut writer = open(dir.path());
    assert_eq!(
        points(&query(dir.path(), &everything()), "temperature"),
        expected
    );
    writer.flush(START + 4 * MINUTE).unwrap();
    assert_eq!(
        points(&query(dir.path(), &everything()), "temperature"),
        expected
    );
    assert_eq!(segments(dir.path()).len(), 3);
}

#[test]
fn a_bit_that_has_flipped_costs_one_block_of_one_resolution() {
    let original = history();
    let whole = points(&query(original.path(), &everything()), "temperature");
    let fine = segments(original.path()).remove(0);
    let bytes = fs::read(&fine).unwrap();
    for at in (0..bytes.len()).step_by(11) {
        let dir = copy(original.path());
        let mut bytes = bytes.clone();
        bytes[at] ^= 0x10;
        fs::write(dir.path().join(fine.file_name().unwrap()), bytes).unwrap();
        let got = points(&query(dir.path(), &everything()), "temperature");
        assert!(got.len() >= whole.len() / 2, "{at}: {}", got.len());
        let mut writer = open(dir.path());
        push(
            &mut writer,
            START + 12 * MINUTE,
            vec![crate::common::gauge(0, 1.0)],
        );
        writer.flush(START + 12 * MINUTE).unwrap();
    }
}

#[test]
fn a_bit_that_has_flipped_in_a_header_costs_no_other_file() {
    let original = history();
    let whole = points(&query(original.path(), &everything()), "temperature");
    let in_blocks = whole.iter().filter(|(t, _)| *t < START + 10 * MINUTE);
    let in_blocks: Vec<_> = in_blocks.copied().collect();
    assert!(!in_blocks.is_empty() && in_blocks.len() < whole.len());
    let journal = fs::read(original.path().join("journal")).unwrap();
    let segment = fs::read(&segments(original.path())[0]).unwrap();
    for bit in 0..24 * 8 {
        let flipped = |bytes: &[u8]| {
            let mut bytes = bytes.to_vec();
            bytes[bit / 8] ^= 1 << (bit % 8);
            bytes
        };
        assert!(decode_segment(&flipped(&segment)).is_err(), "{bit}");
        let dir = copy(original.path());
        fs::write(dir.path().join("journal"), flipped(&journal)).unwrap();
        let found = || points(&query(dir.path(), &everything()), "temperature");
        assert_eq!(found(), in_blocks, "{bit}");
        // A writer takes no block for one that the journal still has.
        assert_eq!(open(dir.path()).dropped().torn, 1);
        assert_eq!(found(), in_blocks, "{bit}");
    }
}

#[test]
fn files_whose_headers_have_no_crc_are_read() {
    let dir = history();
    let whole = points(&query(dir.path(), &everything()), "temperature");
    let mut files = segments(dir.path());
    files.push(dir.path().join("journal"));
    for path in files {
        let mut bytes = fs::read(&path).unwrap();
        bytes[12..16].fill(0);
        fs::write(path, bytes).unwrap();
    }
    let found = || points(&query(dir.path(), &everything()), "temperature");
    assert_eq!(found(), whole);
    assert_eq!(open(dir.path()).dropped().torn, 0);
    assert_eq!(found(), whole);
}

#[test]
fn a_second_writer_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let _writer = open(dir.path());
    let error = gtrace_history::Writer::open(dir.path(), Default::default()).unwrap_err();
    assert!(matches!(error, HistoryError::Locked { .. }), "{error}");
}

#[test]
fn nobody_but_owner_and_group_gets_into_the_directory() {
    use std::os::unix::fs::PermissionsExt as _;
    let dir = tempfile::tempdir().unwrap();
    let history = dir.path().join("history");
    let _writer = open(&history);
    let mode = std::fs::metadata(&history).unwrap().permissions().mode();
    assert_eq!(mode & 0o007, 0);
}

#[test]
fn a_directory_that_does_not_exist_is_absent() {
    let dir = tempfile::tempdir().unwrap();
    let error = Reader::open(&dir.path().join("none")).unwrap_err();
    assert!(error.is_absent(), "{error}");
}
