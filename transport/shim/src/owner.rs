//! What was instantiated with a place on the device, or with a function, which nothing else may have that is instantiated.
//! No I/O.

use std::sync::atomic::{AtomicU64, Ordering};

/// Its handle, if there is one.
#[derive(Debug, Default)]
pub(crate) struct Owner(AtomicU64);

impl Owner {
    /// Whether it is something else than `exec`. A graph, of which each instance gets others, is 0.
    pub(crate) fn is_other(&self, exec: u64) -> bool {
        let own = self.0.load(Ordering::Relaxed);
        own != 0 && exec != 0 && own != exec
    }

    /// Whether it is `exec`.
    pub(crate) fn is(&self, exec: u64) -> bool {
        self.0.load(Ordering::Relaxed) == exec
    }

    /// It is `exec` from now on.
    pub(crate) fn set(&self, exec: u64) {
        self.0.store(exec, Ordering::Relaxed);
    }

    /// It is only for what is under way: nothing may have it from now on.
    pub(crate) fn leave(&self) {
        self.set(u64::MAX);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_one_instance_has_is_no_other_ones() {
        let owner = Owner::default();
        assert!(!owner.is_other(7));
        owner.set(7);
        assert!(owner.is_other(8));
        assert!(!owner.is_other(7));
        assert!(owner.is(7) && !owner.is(8));
        // A graph may have it beside its instance.
        assert!(!owner.is_other(0));
        owner.leave();
        assert!(owner.is_other(7) && !owner.is(7));
    }
}
