//! Connections to the database for reading.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Semaphore;

use crate::db::{Database, DbError, Place};

/// Why nothing was read.
#[derive(Debug)]
pub(crate) struct Unread(pub(crate) String);

/// A number of connections, each for one question at a time.
pub(crate) struct Readers {
    place: Place,
    free: Mutex<Vec<Database>>,
    turns: Arc<Semaphore>,
}

impl Readers {
    pub(crate) fn open(place: &Place, count: usize) -> Result<Arc<Self>, DbError> {
        let free = (0..count).map(|_| Database::open(place));
        Ok(Arc::new(Self {
            place: place.clone(),
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
            let mut database = match taken {
                Some(database) => database,
                // A read that panicked took its connection with it.
                None => Database::open(&readers.place).map_err(|e| e.to_string())?,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_read_that_panics_takes_the_database_from_nobody() {
        let dir = tempfile::tempdir().unwrap();
        let readers = Readers::open(&Place::File(dir.path().join("fleet.db")), 1).unwrap();
        for _ in 0..2 {
            let wrong = readers.read::<()>(|_| std::panic::panic_any("wrong"));
            assert!(wrong.await.is_err());
            assert_eq!(readers.read(Database::count_hosts).await.unwrap(), 0);
        }
    }
}
