//! What users share, so that none of them can take it away from the others.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::peer::{Origin, Peer, User};

/// So many places, or bytes. A user who holds some gets more only while at least as much stays free: alone
/// it gets half, and who comes new finds a reserve. Who holds nothing gets what is free.
#[derive(Debug)]
pub(super) struct Supply {
    total: usize,
    held: Mutex<Held>,
}

#[derive(Debug, Default)]
struct Held {
    by_all: usize,
    by_user: HashMap<User, usize>,
}

impl Held {
    fn by(&self, user: User) -> usize {
        self.by_user.get(&user).copied().unwrap_or(0)
    }
}

impl Supply {
    pub(super) fn new(total: usize) -> Arc<Self> {
        Arc::new(Self {
            total,
            held: Mutex::default(),
        })
    }

    fn lock(&self) -> MutexGuard<'_, Held> {
        // Nothing that is done under the lock leaves the sums half changed.
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes `amount` for `user`; `None` where that is more than its share.
    pub(super) fn take(self: &Arc<Self>, user: User, amount: usize) -> Option<Share> {
        let mut held = self.lock();
        let left = (self.total - held.by_all).checked_sub(amount)?;
        let before = held.by(user);
        if before > 0 && before + amount > left {
            return None;
        }
        held.by_all += amount;
        held.by_user.insert(user, before + amount);
        drop(held);
        Some(Share {
            supply: Arc::clone(self),
            user,
            amount,
        })
    }

    pub(super) fn total(&self) -> usize {
        self.total
    }

    /// What all users hold.
    pub(super) fn held(&self) -> usize {
        self.lock().by_all
    }

    /// What `user` holds.
    pub(super) fn held_by(&self, user: User) -> usize {
        self.lock().by(user)
    }
}

/// A part of a [`Supply`], until it is dropped.
#[derive(Debug)]
pub(super) struct Share {
    supply: Arc<Supply>,
    user: User,
    amount: usize,
}

impl Drop for Share {
    fn drop(&mut self) {
        let mut held = self.supply.lock();
        held.by_all -= self.amount;
        let left = held.by(self.user) - self.amount;
        if left == 0 {
            held.by_user.remove(&self.user);
        } else {
            held.by_user.insert(self.user, left);
        }
    }
}

/// Lets each user over each listener do only so much at once, so that who asks for much waits for itself.
#[derive(Debug)]
pub(super) struct Turns {
    at_once: usize,
    users: Mutex<HashMap<(Origin, User), Weak<Semaphore>>>,
}

impl Turns {
    pub(super) fn new(at_once: usize) -> Arc<Self> {
        Arc::new(Self {
            at_once,
            users: Mutex::default(),
        })
    }

    /// Waits for the turn of `peer`, which lasts until it is dropped. `None` never comes: nobody closes a
    /// semaphore.
    pub(super) async fn take(&self, peer: Peer) -> Option<OwnedSemaphorePermit> {
        self.of(peer).acquire_owned().await.ok()
    }

    fn of(&self, peer: Peer) -> Arc<Semaphore> {
        let mut users = self.users.lock().unwrap_or_else(PoisonError::into_inner);
        users.retain(|_, turns| turns.strong_count() > 0);
        let place = users.entry((peer.origin, peer.user)).or_default();
        place.upgrade().unwrap_or_else(|| {
            let turns = Arc::new(Semaphore::new(self.at_once));
            *place = Arc::downgrade(&turns);
            turns
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn take_all(supply: &Arc<Supply>, user: User) -> Vec<Share> {
        std::iter::from_fn(|| supply.take(user, 1)).collect()
    }

    #[test]
    fn greedy_users_leave_a_reserve_and_who_comes_new_gets_of_it() {
        let supply = Supply::new(256);
        let shares: Vec<_> = [Some(1), Some(2), None]
            .map(|uid| take_all(&supply, User::Local(uid)))
            .into();
        let counts: Vec<_> = shares.iter().map(Vec::len).collect();
        assert_eq!(counts, [128, 64, 32]);
        let newcomers: Vec<_> = (10..42)
            .map(|uid| supply.take(User::Local(Some(uid)), 1).unwrap())
            .collect();
        assert_eq!(newcomers.len(), 32);
        assert!(
            supply.take(User::Local(Some(42)), 1).is_none(),
            "nothing is left"
        );
        drop(shares);
        assert_eq!(supply.held(), 32);
        assert_eq!(supply.held_by(User::Local(Some(1))), 0);
        assert_eq!(supply.take(User::Local(Some(1)), 224).unwrap().amount, 224);
    }

    #[tokio::test]
    async fn a_user_waits_for_its_own_turns_and_not_for_those_of_others() {
        let turns = Turns::new(1);
        let peer = |uid, origin| Peer {
            user: User::Local(Some(uid)),
            origin,
        };
        let first = turns.take(peer(1, Origin::Loopback)).await;
        let mut second = Box::pin(turns.take(peer(1, Origin::Loopback)));
        tokio::select! {
            biased;
            _ = &mut second => panic!("two at once"),
            _ = turns.take(peer(2, Origin::Loopback)) => {}
        }
        drop(turns.take(peer(1, Origin::Unix)).await);
        drop(first);
        drop(second.await);
        turns.take(peer(3, Origin::Loopback)).await;
        assert_eq!(
            turns.users.lock().unwrap().len(),
            1,
            "those that ended are forgotten"
        );
    }
}
