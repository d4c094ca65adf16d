//! What must be undone however a benchmark ends: by return, error, panic or signal.

use std::io::{self, Read as _};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::low_level::pipe;

type Action = Box<dyn FnOnce() + Send>;

static PENDING: Mutex<Vec<(u64, Action)>> = Mutex::new(Vec::new());
/// Held while an action runs, and from a signal to the end: neither cuts the other short.
static RUNNING: Mutex<()> = Mutex::new(());
static NEXT: AtomicU64 = AtomicU64::new(0);

fn pending() -> MutexGuard<'static, Vec<(u64, Action)>> {
    PENDING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs its action once: when dropped, or when a signal ends the program.
#[derive(Debug)]
#[must_use]
pub(crate) struct Deferred(u64);

/// Runs `action` when the result is dropped, or when a signal ends the program.
pub(crate) fn defer(action: impl FnOnce() + Send + 'static) -> Deferred {
    let id = NEXT.fetch_add(1, Ordering::Relaxed);
    pending().push((id, Box::new(action)));
    Deferred(id)
}

impl Deferred {
    fn take(&self) -> Option<Action> {
        let mut pending = pending();
        let at = pending.iter().position(|(id, _)| *id == self.0)?;
        Some(pending.remove(at).1)
    }

    /// Never runs the action.
    pub(crate) fn cancel(self) {
        drop(self.take());
    }
}

impl Drop for Deferred {
    fn drop(&mut self) {
        let _running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(action) = self.take() {
            action();
        }
    }
}

/// Runs everything that is pending, the newest first.
fn run_all() {
    while let Some((_, action)) = { pending().pop() } {
        action();
    }
}

/// From now on a signal that ends the program undoes what is pending first.
pub(crate) fn on_signals() -> io::Result<()> {
    let (mut reader, writer) = io::pipe()?;
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        pipe::register(signal, writer.try_clone()?)?;
    }
    std::thread::Builder::new()
        .name("signals".to_owned())
        .spawn(move || {
            let mut byte = [0];
            if reader.read_exact(&mut byte).is_ok() {
                let _running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
                eprintln!("gtrace-bench: interrupted; everything is put back");
                run_all();
                std::process::exit(130);
            }
        })?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn an_action_runs_once_at_the_end_of_its_scope_also_in_a_panic_and_not_when_cancelled() {
        let count = Arc::new(AtomicU64::new(0));
        let add = |n| {
            let count = Arc::clone(&count);
            move || {
                count.fetch_add(n, Ordering::Relaxed);
            }
        };
        drop(defer(add(1)));
        let _ = std::panic::catch_unwind(|| {
            let _guard = defer(add(10));
            panic!("as a benchmark might");
        });
        defer(add(100)).cancel();
        assert_eq!(count.load(Ordering::Relaxed), 11);
    }
}
