//! Connections to the database for reading.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Semaphore;

use crate::db::{Database, DbError, Place};

/// Why nothing was read.
#[derive(Debug)]
pub(crate) struct Unread(pub(crate) String);

/// A number of connections, each for one question at a time.
pub(crate) struct Readers {
    free: Mutex<Vec<Database>>,
    turns: Arc<Semaphore>,
}

impl Readers {
    pub(crate) fn open(place: &Place, count: usize) -> Result<Arc<Self>, DbError> {
        let free = (0..count).map(|_| Database::open(place));
        Ok(Arc::new(Self {
            free: Mutex::new(free.collect::<Result<_, _>>()?),
            turns: Arc::new(Semaphore::new(count)),
        }))
    }

    /// Reads the database on a thread for that.
    pub(crate) async fn read<T: Send + 'static>(
        self: &Arc<Self>,
        read: impl FnOnce(&mut Database) -> Result<T, DbError> + Send + 'static,
    ) -> Result<T, Unread> {
        let readers = Arc::clone(self);
        let turn = Arc::clone(&self.turns).acquire_owned().await;
        let done = tokio::task::spawn_blocking(move || {
            // It ends with the work, also where nobody waits for that any longer.
            let _turn = turn;
            let lock = || readers.free.lock().unwrap_or_else(PoisonError::into_inner);
            let taken = lock().pop();
            let Some(mut database) = taken else {
                // A read that panicked took its connection with it.
                return Err("no connection is left; start the head anew".to_owned());
            };
            let result = read(&mut database).map_err(|e| e.to_string());
            lock().push(database);
            result
        });
        done.await
            .map_err(|e| Unread(e.to_string()))?
            .map_err(Unread)
    }
}
