//! Faults by order, for tests: builds with debug assertions obey the file that `GTRACE_FAULT_FILE`
//! names; release builds have no such code. The file holds `panic:TASK` or `hang:TASK`: the task
//! removes it and does so at its next heartbeat. No task is started again while a file of that name
//! with the extension `hold` is there.

#[cfg(debug_assertions)]
mod on {
    use std::path::{Path, PathBuf};
    use std::sync::{Mutex, OnceLock};
    use std::time::Duration;

    /// Long enough to be taken for hung.
    const HANG: Duration = Duration::from_secs(5);

    /// Between two heartbeats of a task that rests, and two checks of the tasks, where orders may come.
    const OBEYS_WITHIN: Duration = Duration::from_secs(2);

    static HANGS: Mutex<Option<String>> = Mutex::new(None);

    fn file() -> Option<&'static Path> {
        static FILE: OnceLock<Option<PathBuf>> = OnceLock::new();
        FILE.get_or_init(|| std::env::var_os("GTRACE_FAULT_FILE").map(PathBuf::from))
            .as_deref()
    }

    #[allow(clippy::panic)] // what it is for
    pub(in super::super) fn strike(task: &str) {
        let Some(file) = file() else { return };
        let Ok(order) = std::fs::read_to_string(file) else {
            return;
        };
        let Some((what, name)) = order.trim().split_once(':') else {
            return;
        };
        if name != task || std::fs::remove_file(file).is_err() {
            return;
        }
        match what {
            "panic" => panic!("a fault by order"),
            "hang" => {
                if let Ok(mut hangs) = HANGS.lock() {
                    *hangs = Some(task.to_owned());
                }
                std::thread::sleep(HANG);
            }
            _ => {}
        }
    }

    /// How long something may last that would last for `time` without orders.
    pub(in super::super) fn longest(time: Duration) -> Duration {
        match file() {
            Some(_) => time.min(OBEYS_WITHIN),
            None => time,
        }
    }

    /// Nobody waits for a task that hangs by order.
    pub(in super::super) fn silence(task: &str, silence: Duration) -> Duration {
        let hangs = HANGS.lock().is_ok_and(|h| h.as_deref() == Some(task));
        if hangs { Duration::ZERO } else { silence }
    }

    /// The one that hung has been replaced, or goes on.
    pub(in super::super) fn over(task: &str) {
        if let Ok(mut hangs) = HANGS.lock() {
            hangs.take_if(|of| of == task);
        }
    }

    /// While no task is started again, nobody waits for one to come back.
    pub(in super::super) fn down_max(limit: Duration) -> Duration {
        if held() { Duration::ZERO } else { limit }
    }

    pub(in super::super) fn held() -> bool {
        file().is_some_and(|file| file.with_extension("hold").exists())
    }
}

#[cfg(not(debug_assertions))]
mod off {
    use std::time::Duration;

    pub(in super::super) fn strike(_task: &str) {}

    pub(in super::super) fn longest(time: Duration) -> Duration {
        time
    }

    pub(in super::super) fn silence(_task: &str, silence: Duration) -> Duration {
        silence
    }

    pub(in super::super) fn over(_task: &str) {}

    pub(in super::super) fn down_max(limit: Duration) -> Duration {
        limit
    }

    pub(in super::super) fn held() -> bool {
        false
    }
}

#[cfg(not(debug_assertions))]
pub(super) use off::{down_max, held, longest, over, silence, strike};
#[cfg(debug_assertions)]
pub(super) use on::{down_max, held, longest, over, silence, strike};
