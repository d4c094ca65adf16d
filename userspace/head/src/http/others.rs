//! What other heads of the same database say: records that they commit, for readers of this head's live streams, and what is to be read
//! of hosts whose agents ask this head.

use std::time::Duration;

use tokio::sync::watch;

use super::App;
use super::ending::over;
use super::reads;
use crate::db::{DbError, Listener, Note};

/// Before the database is asked again for what others commit.
const AGAIN: Duration = Duration::from_secs(1);

/// Gives readers what other heads commit, and reads hosts for them, until the end. When the connection to the database was away readers
/// get a gap.
pub(super) async fn follow(
    first: Listener,
    url: String,
    app: App,
    mut ended: watch::Receiver<bool>,
) {
    let listening = async {
        let mut listener = Ok(first);
        loop {
            let done = match listener {
                Ok(listener) => give(listener, &app).await,
                Err(error) => Err(error),
            };
            if let Err(error) = done {
                tracing::warn!("records of other heads are missing in live streams: {error}");
            }
            tokio::time::sleep(AGAIN).await;
            listener = Listener::connect(&url).await;
            if listener.is_ok() {
                app.writer.live.gap();
            }
        }
    };
    tokio::select! {
        () = over(&mut ended) => {}
        () = listening => {}
    }
}

/// Returns when the connection has ended.
async fn give(mut listener: Listener, app: &App) -> Result<(), DbError> {
    let (head, live) = (&app.writer.head, &app.writer.live);
    while let Some(announced) = listener.next().await {
        let Some(text) = announced else {
            live.gap();
            continue;
        };
        // A newer head may announce more than this one can read.
        let Ok(note) = serde_json::from_str::<Note>(&text) else {
            continue;
        };
        let announced = match note {
            Note::Took(announced) if announced.head != *head => announced,
            Note::Wanted { wanted, path } if wanted.head != *head => {
                reads::serve(app, wanted, path);
                continue;
            }
            Note::Given { given } if given.head == *head => {
                reads::fetch(app, given);
                continue;
            }
            _ => continue,
        };
        if !live.has_readers() {
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
