use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use gtrace_history::Options;

use crate::common::{SECOND, START, everything, open, push, query};

/// The reader must see a prefix of what is written, and ever more of it, whatever blocks are made meanwhile.
#[test]
fn a_reader_beside_the_writer_sees_each_batch_once() {
    let dir = tempfile::tempdir().unwrap();
    let (path, done) = (dir.path(), AtomicBool::new(false));
    drop(open(path));
    thread::scope(|scope| {
        scope.spawn(|| {
            let options = Options::default();
            let mut writer = gtrace_history::Writer::open(path, options).unwrap();
            for n in 0..3000i64 {
                let sample = crate::common::gauge(0, n as f64);
                push(&mut writer, START + n * SECOND, vec![sample]);
                if n % 25 == 24 {
                    writer.flush(START + n * SECOND).unwrap();
                }
            }
            done.store(true, Ordering::Release);
        });
        let mut seen = 0;
        loop {
            let last = done.load(Ordering::Acquire);
            let found = query(path, &everything());
            let points = crate::common::points(&found, "temperature");
            let expected = (0..points.len() as i64).map(|n| (START + n * SECOND, n as f64));
            assert!(
                points.iter().copied().eq(expected),
                "{} points",
                points.len()
            );
            assert!(points.len() >= seen);
            assert_eq!(found.skipped.damaged, 0);
            seen = points.len();
            if last {
                break;
            }
        }
        assert_eq!(seen, 3000);
    });
}
