//! New events whose record waits for room in the store.

use gtrace_event::{Event, EventId};

use super::Fold;

impl Fold {
    /// The store has no room for the record of the new event `id`, which waits for that.
    pub fn hold_back(&mut self, id: EventId) {
        if let Some(live) = self.live.get_mut(&id) {
            live.recorded = false;
            self.held_back.push(id);
        }
    }

    /// Whether the record of the event waits for room.
    pub fn is_held_back(&self, id: EventId) -> bool {
        self.live.get(&id).is_some_and(|live| !live.recorded)
    }

    /// Whether that of any does.
    pub fn holds_back(&self) -> bool {
        !self.held_back.is_empty()
    }

    /// The first `most` events whose record waits for room: there is room now. With `until_ns`, of those that have not happened since,
    /// in nanoseconds since boot.
    pub fn take_held_back(&mut self, until_ns: Option<u64>, most: usize) -> Vec<Event> {
        let Self {
            live: all,
            held_back,
            ..
        } = self;
        let mut taken = Vec::new();
        held_back.retain(|id| {
            let Some(live) = all.get_mut(id) else {
                return false;
            };
            let is_later = until_ns.is_some_and(|until_ns| live.last_ns > until_ns);
            if is_later || taken.len() >= most {
                return true;
            }
            live.recorded = true;
            // The record has what has changed.
            live.published = None;
            taken.push(live.event.clone());
            false
        });
        taken
    }

    /// Events whose record waits for room and that have changed since they were last shown. Their revision stays: the record is the
    /// first that there is of them.
    pub fn changed_held_back(&mut self) -> Vec<Event> {
        let Self {
            live: all,
            held_back,
            ..
        } = self;
        let changed = held_back.iter().filter_map(|id| {
            let live = all.get_mut(id)?;
            live.published.take()?;
            Some(live.event.clone())
        });
        changed.collect()
    }

    /// How many events have gone without a record since the last call.
    pub fn take_lost(&mut self) -> u64 {
        std::mem::take(&mut self.lost)
    }
}
