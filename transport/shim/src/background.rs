//! The library's own threads. The program does not see what becomes of them, so a panic in one is the end of the session:
//! its calls fail from then on, instead of waiting for a thread that is gone.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::session::Session;

/// Does the work of a thread of `session`.
pub(crate) fn run(session: &Session, thread: &str, work: impl FnOnce()) {
    supervised(thread, |why| session.lose_for(why), work);
}

/// Does `work`; says to `lose` that it has panicked. Whether it has.
pub(crate) fn supervised(thread: &str, lose: impl FnOnce(&str), work: impl FnOnce()) -> bool {
    let panicked = catch_unwind(AssertUnwindSafe(work)).is_err();
    if panicked {
        lose(&format!(
            "gtrace's own thread {thread} has failed from within; please report what stands above"
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
