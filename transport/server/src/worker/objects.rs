//! Objects whose numbers are the driver's: kernels take them, or a call by which a client would name them otherwise has
//! no handle. No other number than those that the client was given reaches the driver, which trusts them.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Kinds of objects whose numbers are the driver's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Object {
    /// `CUtexObject`
    Texture,
    /// `CUsurfObject`
    Surface,
    /// `CUgraphConditionalHandle`
    Conditional,
}

/// Those that live.
#[derive(Default)]
pub(crate) struct Objects(Mutex<Table>);

/// The objects, while nobody else makes or ends one: the context in which a texture or surface was made, as frames name it, or the
/// graph of a conditional handle.
#[derive(Default)]
pub(crate) struct Table(HashMap<(Object, u64), u64>);

impl Table {
    /// One was made.
    pub(crate) fn add(&mut self, kind: Object, number: u64, of: u64) {
        self.0.insert((kind, number), of);
    }

    /// Whether there is one of this number.
    pub(crate) fn has(&self, kind: Object, number: u64) -> bool {
        self.0.contains_key(&(kind, number))
    }

    /// It has ended. Whether there was one of this number.
    pub(crate) fn take(&mut self, kind: Object, number: u64) -> bool {
        self.0.remove(&(kind, number)).is_some()
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }
}

impl Objects {
    /// For a call that must not meet another one's end of the object.
    pub(crate) fn lock(&self) -> MutexGuard<'_, Table> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A context has ended, and what was made in it.
    pub(crate) fn context_ended(&self, context: u32) {
        self.lock().0.retain(|(kind, _), of| match kind {
            Object::Texture | Object::Surface => u64::from(context) != *of,
            Object::Conditional => true,
        });
    }

    /// A graph has ended, and with it the handles that were made for it.
    pub(crate) fn graph_ended(&self, graph: u64) {
        self.lock()
            .0
            .retain(|(kind, _), of| *kind != Object::Conditional || *of != graph);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_made_can_be_taken_and_once() {
        let objects = Objects::default();
        objects.lock().add(Object::Texture, 5, 1);
        objects.lock().add(Object::Texture, 6, 2);
        assert!(!objects.lock().take(Object::Surface, 5));
        assert!(objects.lock().take(Object::Texture, 5));
        assert!(!objects.lock().take(Object::Texture, 5));
        objects.context_ended(1);
        assert!(objects.lock().take(Object::Texture, 6));
        objects.lock().add(Object::Surface, 7, 2);
        objects.context_ended(2);
        assert!(!objects.lock().take(Object::Surface, 7));
    }

    #[test]
    fn conditional_handles_end_with_their_graph() {
        let objects = Objects::default();
        objects.lock().add(Object::Conditional, 3, 70);
        objects.lock().add(Object::Conditional, 4, 71);
        objects.graph_ended(70);
        assert!(!objects.lock().has(Object::Conditional, 3));
        assert!(objects.lock().has(Object::Conditional, 4));
    }
}
