//! Hosts as people see them, read once for all who ask meanwhile: the states of a large fleet are a hundred megabytes, and each open
//! page asks every few seconds.

use std::sync::Arc;
use std::time::Instant;

use gtrace_event::Timestamp;
use gtrace_fleet::HostState;
use tokio::sync::Mutex;

use super::App;
use super::problem::Problem;
use crate::db::HostRow;
use crate::view::HostView;

/// All hosts, by name.
#[derive(Clone)]
pub(super) struct Seen {
    /// Of their states the labels alone.
    pub(super) rows: Arc<[HostRow]>,
    /// The same as they are answered, in the same order.
    pub(super) views: Arc<[HostView]>,
}

impl Seen {
    fn of(mut rows: Vec<HostRow>, now: Timestamp) -> Self {
        let views = rows.iter().map(|row| HostView::new(row, now)).collect();
        for row in &mut rows {
            let labels = |state: HostState| HostState {
                labels: state.labels,
                ..HostState::default()
            };
            row.state = row.state.take().map(labels);
        }
        Self {
            rows: rows.into(),
            views,
        }
    }
}

/// What was read last, or why nothing was, and when that began.
type Reading = (Instant, Result<Seen, Problem>);

/// What was read last.
#[derive(Clone, Default)]
pub(super) struct Last(Arc<Mutex<Option<Reading>>>);

/// Hosts as they are now: who asks during a reading waits for the next, which is for all who wait.
pub(super) async fn hosts(app: &App) -> Result<Seen, Problem> {
    let asked = Instant::now();
    let mut last = app.seen.0.lock().await;
    if let Some((begun, read)) = &*last
        && *begun > asked
    {
        return read.clone();
    }
    let begun = Instant::now();
    let read = app
        .read(|db| Ok(Seen::of(db.hosts()?, Timestamp::now())))
        .await;
    *last = Some((begun, read.clone()));
    read
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::tests::opened;
    use super::*;

    #[tokio::test]
    async fn who_asks_for_the_hosts_at_the_same_time_reads_them_together() {
        let dir = tempfile::tempdir().unwrap();
        let app = opened(dir.path());
        let connection = rusqlite::Connection::open(dir.path().join("fleet.db")).unwrap();
        let state = r#"{"time":"2026-01-01T00:00:00Z","version":"1","labels":{"rack":"r7"}}"#;
        let insert = "INSERT INTO hosts(id, name, simulated, credential, enrolled_ns, taken, tip, forks, state) \
             VALUES (1, 'h1', 0, x'00', 0, 0, 0, 0, ?1)";
        connection.execute(insert, [state]).unwrap();
        let first = hosts(&app).await.unwrap();
        // Two hundred ask while a reading is under way.
        let under_way = Arc::clone(&app.seen.0).lock_owned().await;
        let ask = |_| {
            let app = app.clone();
            tokio::spawn(async move { hosts(&app).await.unwrap() })
        };
        let asked: Vec<_> = (0..200).map(ask).collect();
        for _ in 0..1_000 {
            tokio::task::yield_now().await;
        }
        drop(under_way);
        let mut readings = BTreeSet::from([Arc::as_ptr(&first.rows).addr()]);
        let mut all = Vec::new();
        for one in asked {
            let seen = one.await.unwrap();
            assert_eq!(seen.views[0].version.as_deref(), Some("1"));
            let kept = seen.rows[0].state.as_ref().unwrap();
            assert_eq!(
                (kept.labels["rack"].as_str(), kept.version.as_str()),
                ("r7", "")
            );
            readings.insert(Arc::as_ptr(&seen.rows).addr());
            all.push(seen);
        }
        assert_eq!(readings.len(), 2);
        // Who asks later sees what has changed since.
        connection.execute("DELETE FROM hosts", []).unwrap();
        assert!(hosts(&app).await.unwrap().rows.is_empty());
    }
}
