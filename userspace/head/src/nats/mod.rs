//! NATS JetStream as a way by which agents reach heads. Heads of one database share its consumers, and so the work.
//!
//! A batch is acknowledged to the stream once it is committed and the agent's place is written ([`gtrace_fleet::nats::HeadPosition`]). Each message
//! has the signature of its host: who may use the servers is not thereby a host.

mod calls;
mod positions;
mod records;
mod states;

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use axum::Router;
use gtrace_fleet::nats::{HOST, Key, Kind, SIGNATURE, Signature, Subject};
use gtrace_nats::async_nats::jetstream::consumer::{AckPolicy, pull};
use gtrace_nats::async_nats::jetstream::{self, consumer};
use gtrace_nats::async_nats::{self, HeaderMap};
use gtrace_nats::{Access, NatsError};
use tokio::sync::watch;

use crate::intake::{Intake, KnownHost, Receiver, Receiving};
use crate::readers::Unread;

/// Before servers that were not reached are tried again.
const AGAIN: Duration = Duration::from_secs(1);
/// The consumer that heads share.
const CONSUMER: &str = "gtrace-heads";
/// How long a pull waits for messages.
const PULL: Duration = Duration::from_secs(2);
/// A pull that has not ended so long after its time is lost: the server that had it is gone.
const PULL_LOST: Duration = Duration::from_secs(1);
/// Before a message that cannot be taken now is given to a head again.
const LATER: Duration = Duration::from_secs(1);

/// How a head uses NATS.
#[derive(Clone, Debug)]
pub struct Nats {
    /// The servers.
    pub access: Access,
    /// Of each stream that this head makes: how many servers keep it.
    pub replicas: usize,
    /// How long a head may take for a message, before another head gets it.
    pub ack_wait: Duration,
}

fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}

impl Receiver for Nats {
    fn receive(
        self: Box<Self>,
        intake: Intake,
        router: Router,
        mut ended: watch::Receiver<bool>,
    ) -> Receiving {
        Box::pin(async move {
            let mut warned = None;
            loop {
                let working = async {
                    let error = match self.work(&intake, &router).await {
                        Ok(never) => match never {},
                        Err(error) => error.to_string(),
                    };
                    if warned.as_ref() != Some(&error) {
                        tracing::warn!(
                            "NATS at {}: {error}; trying again, and agents keep what they have",
                            self.access.url
                        );
                        warned = Some(error);
                    }
                    tokio::time::sleep(AGAIN).await;
                };
                tokio::select! {
                    () = working => {}
                    () = async { drop(ended.wait_for(|end| *end).await) } => return,
                }
            }
        })
    }
}

/// Nothing is of this type.
enum Never {}

impl Nats {
    /// Takes what comes, until something fails.
    async fn work(&self, intake: &Intake, router: &Router) -> Result<Never, NatsError> {
        let connection = self.access.connect("gtrace head").await?;
        let client = connection.client.clone();
        let jetstream = jetstream::new(client.clone());
        gtrace_nats::ensure(&jetstream, self.replicas).await?;
        let records = self
            .consumer(&jetstream, gtrace_nats::RECORDS, Kind::Records)
            .await?;
        let states = self
            .consumer(&jetstream, gtrace_nats::STATES, Kind::State)
            .await?;
        tracing::info!(
            "taking what agents send through NATS at {}",
            self.access.url
        );
        tokio::try_join!(
            records::take(&jetstream, &records, intake, client.max_payload()),
            states::take(&states, intake),
            calls::answer(&client, intake, router),
            async {
                positions::renew(&jetstream, intake).await?;
                std::future::pending::<Result<Never, NatsError>>().await
            },
            async {
                // What was pulled through it does not come any more.
                connection.lost().await;
                Err::<Never, _>(failed("the connection was lost"))
            },
        )?;
        Err(failed("the connection has ended"))
    }

    async fn consumer(
        &self,
        jetstream: &jetstream::Context,
        stream: &str,
        kind: Kind,
    ) -> Result<consumer::Consumer<pull::Config>, NatsError> {
        let config = pull::Config {
            durable_name: Some(CONSUMER.to_owned()),
            ack_policy: AckPolicy::Explicit,
            ack_wait: self.ack_wait,
            filter_subject: kind.all_hosts(),
            // What is put off comes again until it is taken.
            max_deliver: -1,
            max_ack_pending: 4096,
            ..pull::Config::default()
        };
        let failed = |cause: String| {
            NatsError::Connect(format!(
                "cannot use a consumer of the stream {stream}: {cause}"
            ))
        };
        let of = jetstream.get_stream(stream).await;
        let of = of.map_err(|e| failed(e.to_string()))?;
        // One that is there gets these values: they are the same for all heads, but for the time, which is that of the head that came last.
        of.create_consumer(config)
            .await
            .map_err(|e| failed(e.to_string()))
    }
}

/// Why a message is not one of a host.
enum Refused {
    /// It never will be.
    Never(&'static str),
    /// Nobody knows now.
    Later,
}

impl From<Unread> for Refused {
    fn from(_: Unread) -> Self {
        Self::Later
    }
}

/// The host that signed a message.
async fn sender(
    intake: &Intake,
    subject: &str,
    kind: Kind,
    headers: Option<&HeaderMap>,
    parts: &[&[u8]],
) -> Result<KnownHost, Refused> {
    let text = |name| header(headers, name);
    let subject: Subject = subject
        .parse()
        .map_err(|_| Refused::Never("its subject is none of a host"))?;
    let number = text(HOST).and_then(|text| text.parse::<i64>().ok());
    let signature = text(SIGNATURE).and_then(|text| text.parse::<Signature>().ok());
    let (Some(number), Some(signature), true) = (number, signature, subject.kind == kind) else {
        return Err(Refused::Never("it has no host or signature"));
    };
    let known = intake.host(number).await?;
    let known = known.ok_or(Refused::Never(
        "its host is not in this fleet, or its credential was revoked",
    ))?;
    let holds = Key::of_digest(known.digest).verifies(&signature, parts);
    match holds && *known.name == *subject.host {
        true => Ok(known),
        false => Err(Refused::Never("its signature is not that of its host")),
    }
}

fn header<'a>(headers: Option<&'a HeaderMap>, name: &str) -> Option<&'a str> {
    headers?.get(name).map(|value| value.as_str())
}

/// Counts and logs a message that was removed.
fn refuse(intake: &Intake, subject: &str, why: &str) {
    count(&intake.nats.refused);
    intake.refuse();
    let subject: String = subject.chars().take(300).collect();
    tracing::warn!("a message of {subject} was removed: {why}");
}

/// Waits for a message, then takes those that are there already, as long as `more` says so.
async fn together(
    batch: &mut pull::Batch,
    mut more: impl FnMut(&jetstream::Message) -> bool,
) -> Result<Vec<jetstream::Message>, async_nats::Error> {
    use futures_util::{FutureExt as _, StreamExt as _};
    let mut messages = Vec::new();
    let Ok(Some(first)) = tokio::time::timeout(PULL + PULL_LOST, batch.next()).await else {
        return Ok(messages);
    };
    let mut next = Some(first);
    while let Some(message) = next.take() {
        let message = match message {
            Err(error) if is_full(error.as_ref()) => break,
            message => message?,
        };
        let go_on = more(&message);
        messages.push(message);
        if go_on {
            next = batch.next().now_or_never().flatten();
        }
    }
    Ok(messages)
}

/// Whether a pull has ended as the next message is beyond its bytes, which servers say by status 409.
fn is_full(error: &(dyn std::error::Error + Send + Sync)) -> bool {
    let text = error.to_string();
    text.contains("409") && text.contains("MaxBytes")
}

/// When a server took a message.
fn published(message: &jetstream::Message) -> gtrace_event::Timestamp {
    let now = gtrace_event::Timestamp::now();
    let Ok(info) = message.info() else {
        return now;
    };
    let at = gtrace_event::Timestamp::from_nanosecond(info.published.unix_timestamp_nanos());
    at.map_or(now, |at| at.min(now))
}

fn failed(error: impl ToString) -> NatsError {
    NatsError::Connect(error.to_string())
}

/// A message came to its end, or comes again.
async fn end(message: &jetstream::Message, kind: jetstream::AckKind) -> Result<(), NatsError> {
    // One that is lost comes again, and is known then.
    message.ack_with(kind).await.map_err(failed)
}
