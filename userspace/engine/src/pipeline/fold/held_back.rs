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

    /// The first `most` events whose record waits for room: there is room now.
    pub fn take_held_back(&mut self, most: usize) -> Vec<Event> {
        let Self {
            live: all,
            held_back,
            ..
        } = self;
        let most = most.min(held_back.len());
        let taken = held_back.drain(..most).filter_map(|id| {
            let live = all.get_mut(&id)?;
            live.recorded = true;
            // The record has what has changed.
            live.published = None;
            Some(live.event.clone())
        });
        taken.collect()
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
