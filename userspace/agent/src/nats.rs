//! NATS JetStream before a head: batches and states go into streams, whether or not a head is there; what has to be asked goes to any head.
//!
//! Where records go on is what the stream has, else what a head reported last ([`gtrace_fleet::nats::resume`]). The cursor moves when the stream
//! has acknowledged a batch. Nothing is believed that neither this host nor a head has signed.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::StreamExt as _;
use gtrace_api::text::causes;
use gtrace_fleet::nats::{
    CALL, GENERATION, HEADERS_MAX, HOST, HeadPosition, Key, Kind, LAST, Last, NONCE, Resume,
    SIGNATURE, STATUS, Signature, Subject, resume,
};
use gtrace_fleet::{Batch, HostState, Position, credential_parts, encode};
use gtrace_nats::async_nats::client::RequestErrorKind;
use gtrace_nats::async_nats::jetstream::context::PublishErrorKind;
use gtrace_nats::async_nats::jetstream::message::PublishMessage;
use gtrace_nats::async_nats::jetstream::stream::{LastRawMessageErrorKind, Stream};
use gtrace_nats::async_nats::{HeaderMap, Request, Subscriber, jetstream};
use gtrace_nats::{Access, Connection, POSITIONS, RECORDS};
use tokio::sync::Notify;
use tokio::task::JoinHandle;

use crate::enroll::Enrolled;
use crate::transport::{Answered, BatchTaken, Call, LinkError, StateTaken, Transport, json, read};

/// How long the acknowledgement of a stream may take.
const STORED: Duration = Duration::from_secs(5);
/// How long a head may take for an answer that it does not hold open: where one has just gone, agents do not wait for it.
const ANSWER: Duration = Duration::from_secs(5);

/// How a host uses NATS.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NatsAccess {
    /// The servers and their files.
    pub access: Access,
    /// The site: the second part of the host's subjects.
    pub site: String,
}

/// The streams, and this host's place in them.
pub(crate) struct Nats {
    inner: Arc<Inner>,
    /// Reads what heads say of this host.
    listening: JoinHandle<()>,
}

struct Inner {
    connection: Connection,
    jetstream: jetstream::Context,
    /// The servers, for errors.
    servers: String,
    host: String,
    site: String,
    /// Number of the host.
    number: i64,
    key: Key,
    chain: Mutex<Chain>,
    woken: Arc<Notify>,
}

/// How far this host has come.
#[derive(Default)]
struct Chain {
    /// The last record that the stream acknowledged, and its generation; `None` before that is known.
    at: Option<(Option<Position>, String)>,
    /// Whether something was sent, or read, of which nobody knows whether it is there.
    doubtful: bool,
    /// The newest record that a head has committed, as one reported last.
    committed: Option<Option<Position>>,
    /// A head misses records: this is where to go on.
    again: Option<Option<Position>>,
}

impl Chain {
    /// Goes on after `cursor` with another generation.
    fn begin(&mut self, cursor: Option<Position>) {
        self.at = Some((cursor, format!("{:016x}", fastrand::u64(..))));
    }
}

impl Drop for Nats {
    fn drop(&mut self) {
        self.listening.abort();
    }
}

impl Nats {
    /// Connects. `woken` is notified where a head has asked for records again.
    pub(crate) async fn connect(
        NatsAccess { access, site }: &NatsAccess,
        enrolled: &Enrolled,
        woken: Arc<Notify>,
    ) -> Result<Self, LinkError> {
        let servers = access.url.to_string();
        let failed = |cause: String| LinkError::Unreachable {
            url: servers.clone(),
            cause,
        };
        let (number, secret) = credential_parts(&enrolled.credential)
            .ok_or_else(|| failed("the credential of this host is none of a head".to_owned()))?;
        let name = format!("gtrace agent of {}", enrolled.host);
        let connection = access
            .connect(&name)
            .await
            .map_err(|e| failed(e.to_string()))?;
        let mut jetstream = jetstream::new(connection.client.clone());
        jetstream.set_timeout(STORED);
        let inner = Arc::new(Inner {
            jetstream,
            servers: servers.clone(),
            host: enrolled.host.clone(),
            site: site.clone(),
            number,
            key: Key::of_secret(secret),
            chain: Mutex::default(),
            woken,
            connection,
        });
        // Before anything is read: what comes from now on is not missed.
        let positions = inner
            .connection
            .client
            .subscribe(inner.subject(Kind::Position))
            .await;
        let positions = positions.map_err(|e| failed(e.to_string()))?;
        let of_task = Arc::clone(&inner);
        Ok(Self {
            inner,
            listening: tokio::spawn(async move { of_task.listen(positions).await }),
        })
    }
}

impl Inner {
    fn subject(&self, kind: Kind) -> String {
        let (site, host) = (self.site.clone(), self.host.clone());
        Subject { site, host, kind }.to_string()
    }

    fn failed(&self, cause: impl ToString) -> LinkError {
        LinkError::Unreachable {
            url: self.servers.clone(),
            cause: cause.to_string(),
        }
    }

    /// The servers are there, and do not keep a message.
    fn not_stored(&self, cause: impl ToString) -> LinkError {
        LinkError::NotStored {
            url: self.servers.clone(),
            cause: cause.to_string(),
        }
    }

    /// Waits for an answer as long as the connection is there: what went with it does not come.
    async fn unless_lost<T>(
        &self,
        answering: impl Future<Output = Result<T, LinkError>>,
    ) -> Result<T, LinkError> {
        tokio::select! {
            answer = answering => answer,
            () = self.connection.lost() => Err(self.failed("the connection was lost")),
        }
    }

    fn chain<T>(&self, change: impl FnOnce(&mut Chain) -> T) -> T {
        change(&mut self.chain.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn headers(&self, signature: &Signature) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(HOST, self.number.to_string());
        headers.insert(SIGNATURE, signature.to_string());
        headers
    }

    /// What heads say, as they say it.
    async fn listen(&self, mut positions: Subscriber) {
        let subject = self.subject(Kind::Position);
        while let Some(message) = positions.next().await {
            let Some(reported) =
                self.head_position(&subject, message.headers.as_ref(), &message.payload)
            else {
                continue;
            };
            let again = self.chain(|chain| {
                chain.committed = Some(reported.cursor);
                let generation = chain.at.as_ref().map(|(_, generation)| generation);
                let again = reported.missing.is_some() && reported.missing.as_ref() == generation;
                if again {
                    chain.begin(reported.cursor);
                    chain.again = Some(reported.cursor);
                }
                again
            });
            if again {
                tracing::info!("a head misses records of this host: they are sent again");
                self.woken.notify_one();
            }
        }
    }

    /// The position that a head wrote, if it is one.
    fn head_position(
        &self,
        subject: &str,
        headers: Option<&HeaderMap>,
        payload: &[u8],
    ) -> Option<HeadPosition> {
        let signature: Signature = headers?.get(SIGNATURE)?.as_str().parse().ok()?;
        let parts = [b"position", subject.as_bytes(), payload];
        if !self.key.verifies(&signature, &parts) {
            tracing::warn!(
                "{subject} has a message that no head of this fleet wrote; it is ignored"
            );
            return None;
        }
        serde_json::from_slice(payload).ok()
    }

    /// The newest message of this host that a stream has.
    async fn newest(
        &self,
        stream: &str,
        subject: &str,
    ) -> Result<Option<jetstream::message::StreamMessage>, LinkError> {
        let stream: Stream<()> = self
            .jetstream
            .get_stream_no_info(stream)
            .await
            .map_err(|e| self.failed(e))?;
        match stream.get_last_raw_message_by_subject(subject).await {
            Ok(message) => Ok(Some(message)),
            Err(error) if error.kind() == LastRawMessageErrorKind::NoMessageFound => Ok(None),
            Err(error) => Err(self.failed(no_stream(error))),
        }
    }

    /// The newest batch of this host that the stream has.
    async fn last(&self) -> Result<Option<Last>, LinkError> {
        let subject = self.subject(Kind::Records);
        let Some(message) = self.newest(RECORDS, &subject).await? else {
            return Ok(None);
        };
        let text = |name: &str| message.headers.get(name).map(|value| value.as_str());
        let read = || {
            let (generation, last) = (text(GENERATION)?, text(LAST)?);
            let signature: Signature = text(SIGNATURE)?.parse().ok()?;
            let parts = [
                b"records",
                subject.as_bytes(),
                generation.as_bytes(),
                last.as_bytes(),
                message.payload.as_ref(),
            ];
            self.key.verifies(&signature, &parts).then_some(())?;
            Some(Last {
                generation: generation.to_owned(),
                position: last.parse().ok()?,
            })
        };
        let last = read();
        if last.is_none() {
            tracing::warn!("{subject} has a batch that this host has not written; heads refuse it");
        }
        Ok(last)
    }

    /// Where records go on.
    async fn resume(&self) -> Result<Option<Position>, LinkError> {
        let settled = self.chain(|chain| {
            if chain.again.take().is_some() {
                // Where it goes on was set with it.
                return chain.at.as_ref().map(|(cursor, _)| *cursor);
            }
            let (cursor, _) = chain.at.as_ref()?;
            (!chain.doubtful && chain.committed == Some(*cursor)).then_some(*cursor)
        });
        if let Some(cursor) = settled {
            return Ok(cursor);
        }
        let known = self.chain(|chain| chain.at.clone());
        let last = self.last().await?;
        let subject = self.subject(Kind::Position);
        let reported = self.newest(POSITIONS, &subject).await?;
        let reported = reported.and_then(|message| {
            self.head_position(&subject, Some(&message.headers), &message.payload)
        });
        let to = match resume(known.as_ref(), last.as_ref(), reported.as_ref()) {
            Resume::Ask => {
                let cursors: Vec<Position> =
                    read(&self.call(Call::get("/fleet/v1/cursors")).await?)?;
                Resume::NewGeneration(cursors.first().copied())
            }
            to => to,
        };
        Ok(self.chain(|chain| {
            chain.doubtful = false;
            if let Some(reported) = reported {
                chain.committed = Some(reported.cursor);
            }
            match to {
                Resume::Generation(cursor, generation) => chain.at = Some((cursor, generation)),
                Resume::NewGeneration(cursor) => chain.begin(cursor),
                Resume::Ask => {}
            }
            chain.at.as_ref().and_then(|(cursor, _)| *cursor)
        }))
    }

    /// Has a stream keep a message.
    async fn store(&self, subject: String, message: PublishMessage) -> Result<(), LinkError> {
        let stored = async { self.jetstream.send_publish(subject, message).await?.await };
        match tokio::time::timeout(STORED, stored).await {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(error)) => Err(match error.kind() {
                PublishErrorKind::StreamNotFound => {
                    self.not_stored("there is no stream for it yet; `gtrace head --nats` makes it")
                }
                PublishErrorKind::TimedOut | PublishErrorKind::BrokenPipe => {
                    self.failed(causes(&error))
                }
                // A server answered: the stream is full, or has no leader at the moment.
                _ => self.not_stored(causes(&error)),
            }),
            Err(_) => Err(self.failed("the stream does not acknowledge")),
        }
    }

    async fn state(&self, state: &HostState) -> Result<StateTaken, LinkError> {
        let body = json(state)?;
        let sent = body.len();
        let subject = self.subject(Kind::State);
        let signature = self.key.sign(&[b"state", subject.as_bytes(), &body]);
        let message = PublishMessage::build()
            .headers(self.headers(&signature))
            .payload(body.into());
        self.store(subject, message).await?;
        Ok(StateTaken {
            cursor: self.resume().await?,
            measure: None,
            sent,
        })
    }

    async fn batch(&self, batch: &Batch) -> Result<BatchTaken, LinkError> {
        let again = self.chain(|chain| chain.again.take());
        if let Some(cursor) = again {
            return Ok(BatchTaken { cursor, sent: 0 });
        }
        let (body, count) = self.fitting(batch)?;
        let Some(last) = batch.records[..count]
            .last()
            .map(|record| record.position())
        else {
            return Ok(BatchTaken {
                cursor: batch.after,
                sent: 0,
            });
        };
        let generation = self.chain(|chain| {
            let known = chain.at.as_ref().map(|(cursor, _)| *cursor);
            if known != Some(batch.after) {
                // After a store that was replaced: what was sent before is not followed.
                chain.begin(batch.after);
            }
            chain.doubtful = true;
            chain
                .at
                .as_ref()
                .map_or_else(String::new, |(_, generation)| generation.clone())
        });
        let subject = self.subject(Kind::Records);
        let (of, text) = (self.number, last.to_string());
        let parts = [
            b"records",
            subject.as_bytes(),
            generation.as_bytes(),
            text.as_bytes(),
            &body,
        ];
        let mut headers = self.headers(&self.key.sign(&parts));
        headers.insert(GENERATION, generation.as_str());
        headers.insert(LAST, text);
        let first = batch.records[0].seq;
        // A batch that is sent again, as nobody knows whether it came, is kept once. A generation that follows it is another one.
        let id = format!("{of}-{}-{first}-{generation}", last.id);
        let sent = body.len();
        let message = PublishMessage::build()
            .headers(headers)
            .message_id(id)
            .payload(body.into());
        self.store(subject, message).await?;
        let cursor = self.chain(|chain| {
            let mine = chain.at.as_ref().is_some_and(|(_, now)| *now == generation);
            match mine {
                true => {
                    chain.doubtful = false;
                    chain.at = Some((Some(last), generation));
                    Some(last)
                }
                // A head asked for more meanwhile.
                false => chain.at.as_ref().and_then(|(cursor, _)| *cursor),
            }
        });
        Ok(BatchTaken { cursor, sent })
    }

    /// As many of the first records as the servers take in one message.
    fn fitting(&self, batch: &Batch) -> Result<(Vec<u8>, usize), LinkError> {
        let most = self
            .connection
            .client
            .max_payload()
            .saturating_sub(HEADERS_MAX);
        let mut count = batch.records.len();
        loop {
            let part = Batch {
                after: batch.after,
                tip: batch.tip,
                records: batch.records[..count].to_vec(),
            };
            let body = encode(&part);
            match body {
                Ok(body) if body.len() <= most => return Ok((body, count)),
                Ok(body) if count <= 1 => {
                    let seq = batch.records.first().map_or(0, |record| record.seq);
                    return Err(self.not_stored(format!(
                        "record {seq} has {} bytes, and the servers take messages of {most}: raise max_payload there",
                        body.len()
                    )));
                }
                Err(error) if count <= 1 => return Err(LinkError::NotEncoded(error.to_string())),
                _ => count /= 2,
            }
        }
    }

    async fn call(&self, call: Call) -> Result<Vec<u8>, LinkError> {
        let subject = self.subject(Kind::Call);
        let what = format!("{} {}", call.method, call.path);
        let nonce = format!("{:032x}", fastrand::u128(..));
        let parts = [
            b"call",
            subject.as_bytes(),
            nonce.as_bytes(),
            what.as_bytes(),
            &call.body,
        ];
        let mut headers = self.headers(&self.key.sign(&parts));
        headers.insert(CALL, what);
        headers.insert(NONCE, nonce.as_str());
        let request = Request::new()
            .headers(headers)
            .payload(call.body.into())
            .timeout(Some(match call.held {
                true => call.patience,
                false => call.patience.min(ANSWER),
            }));
        let answer = match self.connection.client.send_request(subject, request).await {
            Ok(answer) => answer,
            Err(error)
                if matches!(
                    error.kind(),
                    RequestErrorKind::NoResponders | RequestErrorKind::TimedOut
                ) =>
            {
                return Err(LinkError::NoHead {
                    url: self.servers.clone(),
                });
            }
            Err(error) => return Err(self.failed(causes(&error))),
        };
        let headers = answer.headers.as_ref();
        let status = status_of(&self.key, &nonce, headers, &answer.payload).ok_or_else(|| {
            LinkError::NotUnderstood("no head of this fleet has signed it".to_owned())
        })?;
        match LinkError::of_answer(status, &answer.payload) {
            Some(error) => Err(error),
            None => Ok(answer.payload.to_vec()),
        }
    }
}

impl Transport for Nats {
    fn state<'a>(&'a self, state: &'a HostState) -> Answered<'a, StateTaken> {
        Box::pin(self.inner.unless_lost(self.inner.state(state)))
    }

    fn batch<'a>(&'a self, batch: &'a Batch) -> Answered<'a, BatchTaken> {
        Box::pin(self.inner.unless_lost(self.inner.batch(batch)))
    }

    fn call(&self, call: Call) -> Answered<'_, Vec<u8>> {
        Box::pin(self.inner.unless_lost(self.inner.call(call)))
    }

    fn call_max(&self) -> usize {
        self.inner
            .connection
            .client
            .max_payload()
            .saturating_sub(HEADERS_MAX)
    }
}

/// The status of an answer to the question with this nonce, if a head of this fleet gave it.
fn status_of(key: &Key, nonce: &str, headers: Option<&HeaderMap>, payload: &[u8]) -> Option<u16> {
    let text = |name: &str| headers?.get(name).map(|value| value.as_str());
    let status = text(STATUS)?;
    // A head that does not know the host has no key to sign with, and says only that.
    if status != "401" {
        let signature: Signature = text(SIGNATURE)?.parse().ok()?;
        let parts: [&[u8]; 4] = [b"answer", nonce.as_bytes(), status.as_bytes(), payload];
        key.verifies(&signature, &parts).then_some(())?;
    }
    status.parse().ok()
}

/// A stream that is not there yet, in the words of who has to make it.
fn no_stream(error: impl std::error::Error + 'static) -> String {
    let text = causes(&error);
    match text.contains("stream not found") {
        true => "there is no stream of the fleet yet; `gtrace head --nats` makes it".to_owned(),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_signed_but_those_to_a_host_that_is_not_known() {
        let (own, other) = (Key::of_secret("own"), Key::of_secret("other"));
        let answer = |status: &str, key: Option<&Key>| {
            let mut headers = HeaderMap::new();
            headers.insert(STATUS, status);
            if let Some(key) = key {
                let parts: [&[u8]; 4] = [b"answer", b"n", status.as_bytes(), b"{}"];
                headers.insert(SIGNATURE, key.sign(&parts).to_string());
            }
            status_of(&own, "n", Some(&headers), b"{}")
        };
        assert_eq!(answer("200", Some(&own)), Some(200));
        assert_eq!(answer("200", Some(&other)), None);
        assert_eq!(answer("200", None), None);
        // By it the agent learns that its credential is good no more, and reads the file of it again.
        assert_eq!(answer("401", None), Some(401));
        assert_eq!(status_of(&own, "n", None, b"{}"), None);
    }
}
