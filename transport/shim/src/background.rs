//! The library's own threads. The program does not see what becomes of them, so a panic in one is the end of the session:
//! its calls fail from then on, instead of waiting for a thread that is gone.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread::Builder;

use crate::log;
use crate::session::Session;

/// Starts a thread of `session` that does `work`. False if the system has none to give: the log says then for `what` there is
/// none.
pub(crate) fn start(
    session: &'static Session,
    thread: &'static str,
    what: &str,
    work: impl FnOnce() + Send + 'static,
) -> bool {
    let run = move || {
        supervised(thread, |why| session.lose_for(why), work);
    };
    let started = gtrace_link::without_signals(|| Builder::new().name(thread.into()).spawn(run));
    if let Err(error) = &started {
        log::once(thread, &format!("no thread for {what}: {error}"));
    }
    started.is_ok()
}

/// Does `work`; says to `lose` that it has panicked. Whether it has.
pub(crate) fn supervised(thread: &str, lose: impl FnOnce(&str), work: impl FnOnce()) -> bool {
    let panicked = catch_unwind(AssertUnwindSafe(work)).is_err();
    if panicked {
        lose(&format!(
            "gtrace's own thread {thread} has failed from within; please report this with the messages above"
        ));
    }
    panicked
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_the_end_of_the_session_and_a_return_is_not() {
        let mut why = None;
        let lose = |text: &str| why = Some(text.to_owned());
        assert!(supervised("gtrace-host-fn", lose, || panic!("a fault")));
        assert!(why.unwrap().contains("gtrace-host-fn"));
        assert!(!supervised("any", |why| panic!("{why}"), || {}));
    }
}
