//! What is cut in the middle of a stream: bytes up to a point and then an error, and never a byte behind
//! a gap. Where there is a way to go on by, all bytes come, each once.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use super::ends::{Ends, Kind, kinds};
use super::traffic::{Bytes, converse};
use crate::link::{LinkError, LinkKind, Rx, Tx};
use crate::rdma::double::Break;

/// Bytes after which it is cut, and of the pieces that are sent.
const CUT: [usize; 4] = [0, 1, 100_000, 5 << 20];
const PIECE: usize = 30_000;

/// Sends until it fails; bytes that were taken.
fn send_all(tx: &mut dyn Tx, taken: &AtomicU64) -> LinkError {
    let mut bytes = Bytes::new(41);
    let mut body = vec![0; PIECE];
    loop {
        bytes.fill(&mut body);
        // Counted before, as what is taken in part may be read.
        taken.fetch_add(PIECE as u64, Ordering::SeqCst);
        if let Err(error) = tx.bulk(&body) {
            return error;
        }
    }
}

/// Reads until it fails, with `at` called when `cut` bytes are read; how many were, and the error.
fn read_all(rx: &mut dyn Rx, cut: usize, at: impl FnOnce()) -> (usize, LinkError) {
    let mut bytes = Bytes::new(41);
    let (mut piece, mut used, mut read) = (vec![0; PIECE], PIECE, 0);
    let mut at = Some(at);
    loop {
        if read >= cut
            && let Some(at) = at.take()
        {
            at();
        }
        if used == PIECE {
            bytes.fill(&mut piece);
            used = 0;
        }
        let some = match rx.some(PIECE - used) {
            Ok(some) => some,
            Err(error) => return (read, error),
        };
        let len = some.len();
        assert!(*some == piece[used..used + len], "byte {read} or behind");
        rx.consume(len);
        (used, read) = (used + len, read + len);
    }
}

fn ends_cleanly(kind: &str, mut ends: Ends, cut: usize, break_it: impl FnOnce() + Send) {
    let taken = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&taken);
    let Ends { here, there, .. } = &mut ends;
    thread::scope(|scope| {
        let (tx, here_rx) = (&mut here.tx, &mut here.rx);
        let writer = scope.spawn(move || (send_all(&mut **tx, &counted), tx));
        // The other direction: somebody waits while it is cut.
        let waiting = scope.spawn(move || (here_rx.peek(1, None).map(<[u8]>::len), here_rx));
        let (read, error) = read_all(&mut *there.rx, cut, break_it);
        assert!(matches!(error, LinkError::Closed(_)), "{kind}: {error}");
        let (error, tx) = writer.join().unwrap();
        assert!(matches!(error, LinkError::Closed(_)), "{kind}: {error}");
        let (waited, here_rx) = waiting.join().unwrap();
        let error = waited.unwrap_err();
        assert!(matches!(error, LinkError::Closed(_)), "{kind}: {error}");
        let taken = taken.load(Ordering::SeqCst);
        assert!(read >= cut && read as u64 <= taken, "{kind}: {read}");
        // It stays at its end, in all of its halves.
        for rx in [&mut there.rx, here_rx] {
            assert!(rx.peek(1, None).is_err(), "{kind}: more came");
            assert!(rx.read(&mut [0]).is_err(), "{kind}: more came");
        }
        for tx in [tx, &mut there.tx] {
            let sent = (0..100).any(|_| tx.bulk(&[1; 100_000]).is_err());
            assert!(sent, "{kind}: more can be sent");
        }
    });
}

#[test]
fn a_connection_that_breaks_ends_without_a_gap() {
    for kind in kinds() {
        for cut in CUT {
            let mut ends = Ends::of(kind);
            let cutter = ends.cutter();
            ends_cleanly(&kind.to_string(), ends, cut, cutter);
        }
    }
}

#[test]
fn an_emulated_network_that_breaks_ends_without_a_gap() {
    for (kind, settings) in [
        (Kind::Tcp, "break=3MB"),
        (Kind::Unix, "break=1B"),
        (Kind::SharedMemory, "rtt=2ms,break=2MB"),
        (Kind::Doubled, "rtt=1ms,jitter=1ms,break=2MB"),
    ] {
        let ends = Ends::of(kind).slower(settings);
        ends_cleanly(&format!("{settings} over {kind}"), ends, 0, || {});
    }
}

#[test]
fn a_device_that_fails_leaves_a_link_that_goes_on() {
    let hows = [
        Break::Lost,
        Break::Unnoticed,
        Break::Unacknowledged,
        Break::Refused,
        Break::Torn,
    ];
    for kind in kinds().into_iter().filter(|kind| kind.has_a_device()) {
        // What an emulated network has besides is the same whatever breaks below it.
        let times = if kind == Kind::Doubled { 20 } else { 5 };
        for (at, how) in hows.into_iter().cycle().take(times).enumerate() {
            let mut ends = Ends::of(kind);
            let cables = ends.cables.as_ref().unwrap();
            let left = Bytes::new(at as u64).next() % 60;
            cables[at % 2].break_after(left, how);
            if at % 3 == 0 {
                cables[1 - at % 2].break_after(9, Break::Unacknowledged);
            }
            converse(&mut ends.here, &mut ends.there, 77 * at as u64, 60);
            for link in [&ends.here, &ends.there] {
                let changes = &link.info.changes;
                assert_eq!(changes.failovers(), 1, "{kind}, {how:?}");
                let now = match changes.is_fallen() {
                    true => LinkKind::Tcp,
                    false => LinkKind::Rdma,
                };
                assert_eq!(link.info.kind_now(), now);
            }
        }
    }
}
