//! Connections to the servers.

use async_nats::{Client, Event};
use tokio::sync::watch;

use crate::access::{Access, NatsError};

/// A connection to a server. Once it is lost another one is made anew, so that nobody waits for what went with it.
#[derive(Clone, Debug)]
pub struct Connection {
    /// What sends and gets messages.
    pub client: Client,
    lost: watch::Receiver<bool>,
}

impl Connection {
    /// Waits until the connection is lost.
    pub async fn lost(&self) {
        let mut lost = self.lost.clone();
        drop(lost.wait_for(|lost| *lost).await);
    }
}

impl Access {
    /// Connects to one of the servers. `name` is what the servers show of this client.
    ///
    /// # Errors
    /// [`NatsError`]: no server let it in.
    pub async fn connect(&self, name: &str) -> Result<Connection, NatsError> {
        let (lose, lost) = watch::channel(false);
        let options = self.options()?.name(name).event_callback(move |event| {
            let lose = lose.clone();
            async move {
                if let Event::Disconnected | Event::Closed = event {
                    let _ = lose.send(true);
                }
            }
        });
        let connected = options.connect(self.url.servers()).await;
        let connected = connected.map(|client| Connection { client, lost });
        connected.map_err(|error| NatsError::Connect(self.explained(&error)))
    }
}
