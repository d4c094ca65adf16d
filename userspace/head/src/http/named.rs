//! Hosts as live streams name them, read once for all readers: each would read the states of all hosts by itself, again and again.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::Mutex;

use super::problem::Problem;
use super::{App, seen};
use crate::db::HostRow;

/// For so long they are good: labels change, and with them whose hosts are whose.
const GOOD_FOR: Duration = Duration::from_secs(5);

/// When they were read last, and how they were; of their states the labels alone.
type Reading = (Instant, Arc<[HostRow]>);

/// What was read last. Who asks meanwhile waits for it.
#[derive(Clone, Default)]
pub(super) struct Named(Arc<Mutex<Option<Reading>>>);

/// All hosts, that of this number among them if there is one.
pub(super) async fn hosts(app: &App, number: i64) -> Result<Arc<[HostRow]>, Problem> {
    let mut last = app.named.0.lock().await;
    if let Some((read, rows)) = &*last
        && read.elapsed() < GOOD_FOR
        && rows.iter().any(|row| row.id == number)
    {
        return Ok(Arc::clone(rows));
    }
    let rows = seen::hosts(app).await?.rows;
    *last = Some((Instant::now(), Arc::clone(&rows)));
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::super::tests::opened;
    use super::*;

    #[tokio::test]
    async fn readers_of_streams_read_the_hosts_together() {
        let dir = tempfile::tempdir().unwrap();
        let app = opened(dir.path());
        let connection = rusqlite::Connection::open(dir.path().join("fleet.db")).unwrap();
        let enroll = |id: i64| {
            let state = r#"{"time":"2026-01-01T00:00:00Z","version":"1","labels":{"rack":"r7"}}"#;
            let insert = "INSERT INTO hosts(id, name, simulated, credential, enrolled_ns, taken, tip, forks, state) \
                 VALUES (?1, 'h' || ?1, 0, x'00', 0, 0, 0, 0, ?2)";
            connection.execute(insert, (id, state)).unwrap();
        };
        enroll(1);
        let rows = hosts(&app, 1).await.unwrap();
        assert_eq!((rows.len(), rows[0].name.as_str()), (1, "h1"));
        let state = rows[0].state.as_ref().unwrap();
        assert_eq!(
            (state.labels["rack"].as_str(), state.version.as_str()),
            ("r7", "")
        );
        // One that has come since is read.
        enroll(2);
        assert_eq!(hosts(&app, 2).await.unwrap().len(), 2);
        // However long this test takes.
        let an_hour = Duration::from_secs(3600);
        app.named.0.lock().await.as_mut().unwrap().0 += an_hour;
        connection.execute_batch("DROP TABLE hosts").unwrap();
        for _ in 0..200 {
            assert_eq!(hosts(&app, 1).await.unwrap().len(), 2);
        }
        assert!(hosts(&app, 3).await.is_err());
    }
}
