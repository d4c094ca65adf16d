//! Rows that are counted in, of which so many are kept.

use std::collections::BTreeMap;

/// At most `MOST` rows: the one that was changed longest ago goes, by the order of changes, as the wall clock may be set back.
#[derive(Debug)]
pub(crate) struct Rows<K, V, const MOST: usize> {
    /// Each with the number of its last change.
    rows: BTreeMap<K, (u64, V)>,
    changes: u64,
}

impl<K, V, const MOST: usize> Default for Rows<K, V, MOST> {
    fn default() -> Self {
        Self {
            rows: BTreeMap::new(),
            changes: 0,
        }
    }
}

impl<K: Ord + Clone, V, const MOST: usize> Rows<K, V, MOST> {
    /// The row of `key`, to be changed; made where there is none.
    pub(crate) fn entry(&mut self, key: K, make: impl FnOnce() -> V) -> &mut V {
        if self.rows.len() >= MOST && !self.rows.contains_key(&key) {
            let oldest = self.rows.iter().min_by_key(|(_, (change, _))| *change);
            if let Some(oldest) = oldest.map(|(key, _)| key.clone()) {
                self.rows.remove(&oldest);
            }
        }
        self.changes += 1;
        let (change, row) = self.rows.entry(key).or_insert_with(|| (0, make()));
        *change = self.changes;
        row
    }

    /// All, in the order of their keys.
    pub(crate) fn values(&self) -> impl Iterator<Item = &V> {
        self.rows.values().map(|(_, row)| row)
    }
}
