//! What libraries keep by context: a map that never leaves the process, and the function of a driver
//! that they call most.

use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};

/// What is called with context, key and value when the context ends.
pub type Destructor = unsafe extern "C" fn(usize, usize, usize);

#[derive(Clone, Copy)]
struct Kept {
    value: usize,
    destructor: Option<Destructor>,
}

/// Values by context and key; all three are the libraries' own and mean nothing here.
#[derive(Default)]
pub struct Storage(RwLock<HashMap<(usize, usize), Kept>>);

impl Storage {
    /// Keeps `value`.
    pub fn put(&self, context: usize, key: usize, value: usize, destructor: Option<Destructor>) {
        let mut kept = self.0.write().unwrap_or_else(PoisonError::into_inner);
        kept.insert((context, key), Kept { value, destructor });
    }

    /// What is kept.
    pub fn get(&self, context: usize, key: usize) -> Option<usize> {
        let kept = self.0.read().unwrap_or_else(PoisonError::into_inner);
        kept.get(&(context, key)).map(|kept| kept.value)
    }

    /// Forgets what is kept; false if there is nothing.
    pub fn delete(&self, context: usize, key: usize) -> bool {
        let mut kept = self.0.write().unwrap_or_else(PoisonError::into_inner);
        kept.remove(&(context, key)).is_some()
    }

    /// The context ends: what is kept for it, with what is to be called, in no particular order.
    #[must_use]
    pub fn end(&self, context: usize) -> Vec<(usize, usize, Destructor)> {
        let mut ended = Vec::new();
        let mut kept = self.0.write().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|(of, key), kept| {
            if *of == context
                && let Some(destructor) = kept.destructor
            {
                ended.push((*key, kept.value, destructor));
            }
            *of != context
        });
        ended
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    extern "C" fn nothing(_: usize, _: usize, _: usize) {}

    #[test]
    fn values_are_kept_by_context_and_key() {
        let storage = Storage::default();
        storage.put(1, 10, 100, None);
        storage.put(1, 11, 101, Some(nothing));
        storage.put(2, 10, 200, Some(nothing));
        assert_eq!(storage.get(1, 10), Some(100));
        assert_eq!(storage.get(2, 10), Some(200));
        storage.put(1, 10, 102, None);
        assert_eq!(storage.get(1, 10), Some(102));
        assert!(storage.delete(1, 10) && !storage.delete(1, 10));
        assert_eq!(storage.get(1, 10), None);
        let ended = storage.end(1);
        assert_eq!(ended.len(), 1);
        assert_eq!((ended[0].0, ended[0].1), (11, 101));
        assert_eq!((storage.get(1, 11), storage.get(2, 10)), (None, Some(200)));
    }
}
