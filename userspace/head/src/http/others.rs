//! Records that other heads of the same database commit, for readers of this head's live streams.

use std::time::Duration;

use tokio::sync::watch;

use super::ending::over;
use crate::db::{Announced, DbError, Listener};
use crate::writer::Live;

/// Before the database is asked again for what others commit.
const AGAIN: Duration = Duration::from_secs(1);

/// Gives readers what heads other than `head` commit, until the end. When the connection to the database was away they get a gap.
pub(super) async fn follow(
    first: Listener,
    url: String,
    head: String,
    live: Live,
    mut ended: watch::Receiver<bool>,
) {
    let listening = async {
        let mut listener = Ok(first);
        loop {
            let done = match listener {
                Ok(listener) => give(listener, &head, &live).await,
                Err(error) => Err(error),
            };
            if let Err(error) = done {
                tracing::warn!("records of other heads are missing in live streams: {error}");
            }
            tokio::time::sleep(AGAIN).await;
            listener = Listener::connect(&url).await;
            if listener.is_ok() {
                live.gap();
            }
        }
    };
    tokio::select! {
        () = over(&mut ended) => {}
        () = listening => {}
    }
}

/// Returns when the connection has ended.
async fn give(mut listener: Listener, head: &str, live: &Live) -> Result<(), DbError> {
    while let Some(announced) = listener.next().await {
        let Some(text) = announced else {
            live.gap();
            continue;
        };
        // A newer head may announce more than this one can read.
        let Ok(announced) = serde_json::from_str::<Announced>(&text) else {
            continue;
        };
        if announced.head == head || !live.has_readers() {
            continue;
        }
        for of_host in announced.took {
            listener
                .bodies(announced.day, of_host, |body| {
                    live.record(of_host.host, body)
                })
                .await?;
        }
    }
    Ok(())
}
