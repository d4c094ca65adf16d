//! Places at something, of which each has so many at a time.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Notify;

/// How many places each has, and who waits for one.
pub(super) struct Places<K>(Mutex<HashMap<K, usize>>, Notify);

/// One of them, given back when dropped.
pub(super) struct Place<K: Eq + Hash + Copy>(Arc<Places<K>>, K);

impl<K> Default for Places<K> {
    fn default() -> Self {
        Self(Mutex::default(), Notify::new())
    }
}

impl<K: Eq + Hash + Copy> Places<K> {
    /// A place for `of`, which may have `most`.
    pub(super) fn take(self: &Arc<Self>, of: K, most: usize) -> Option<Place<K>> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let count = all.entry(of).or_default();
        (*count < most).then(|| {
            *count += 1;
            Place(Arc::clone(self), of)
        })
    }

    /// The same once there is one.
    pub(super) async fn wait(self: &Arc<Self>, of: K, most: usize) -> Place<K> {
        loop {
            let freed = self.1.notified();
            if let Some(place) = self.take(of, most) {
                return place;
            }
            freed.await;
        }
    }
}

impl<K: Eq + Hash + Copy> Drop for Place<K> {
    fn drop(&mut self) {
        let mut all = self.0.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = all.get_mut(&self.1) {
            *count -= 1;
            if *count == 0 {
                all.remove(&self.1);
            }
        }
        drop(all);
        self.0.1.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_has_so_many_places_and_gives_them_back() {
        let places = Arc::<Places<i64>>::default();
        let (first, second) = (places.take(1, 2), places.take(1, 2));
        assert!(first.is_some() && second.is_some());
        assert!(places.take(1, 2).is_none() && places.take(2, 2).is_some());
        drop(first);
        let third = places.take(1, 2);
        assert!(third.is_some() && places.take(1, 2).is_none());
        drop((second, third));
        assert!(places.0.lock().unwrap().is_empty());
    }

    #[tokio::test]
    async fn who_waits_for_a_place_gets_the_one_that_is_given_back() {
        let places = Arc::<Places<i64>>::default();
        let first = places.wait(1, 1).await;
        let waits = tokio::spawn({
            let places = Arc::clone(&places);
            async move { drop(places.wait(1, 1).await) }
        });
        tokio::task::yield_now().await;
        assert!(!waits.is_finished());
        drop(places.wait(2, 1).await);
        drop(first);
        let waited = tokio::time::timeout(std::time::Duration::from_secs(60), waits);
        waited.await.unwrap().unwrap();
    }
}
