//! Texture and surface objects that a client has.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Kinds of objects whose numbers are the driver's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Object {
    /// `CUtexObject`
    Texture,
    /// `CUsurfObject`
    Surface,
}

/// Those that live, with the context in which they were made, as frames name it.
#[derive(Default)]
pub(crate) struct Objects(Mutex<HashMap<(Object, u64), u32>>);

impl Objects {
    fn lock(&self) -> MutexGuard<'_, HashMap<(Object, u64), u32>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One was made.
    pub(crate) fn add(&self, kind: Object, number: u64, context: u32) {
        self.lock().insert((kind, number), context);
    }

    /// Whether there was one of this number, which is then forgotten.
    pub(crate) fn take(&self, kind: Object, number: u64) -> bool {
        self.lock().remove(&(kind, number)).is_some()
    }

    /// A context has ended, and what was made in it; `None`: one of those, it is not known which.
    pub(crate) fn context_ended(&self, context: Option<u32>) {
        self.lock()
            .retain(|_, of| context.is_some_and(|context| context != *of));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_made_can_be_taken_and_once() {
        let objects = Objects::default();
        objects.add(Object::Texture, 5, 1);
        objects.add(Object::Texture, 6, 2);
        assert!(!objects.take(Object::Surface, 5));
        assert!(objects.take(Object::Texture, 5));
        assert!(!objects.take(Object::Texture, 5));
        objects.context_ended(Some(1));
        assert!(objects.take(Object::Texture, 6));
        objects.add(Object::Surface, 7, 2);
        objects.context_ended(None);
        assert!(!objects.take(Object::Surface, 7));
    }
}
