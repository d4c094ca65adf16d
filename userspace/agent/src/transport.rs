//! What an agent needs of the way to its head, whichever that is.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use gtrace_api::ProblemBody;
use gtrace_fleet::{Batch, HostState, Measure, Position};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// What a transport does, once it is awaited.
pub(crate) type Answered<'a, T> = Pin<Box<dyn Future<Output = Result<T, LinkError>> + Send + 'a>>;

/// A state that was taken.
#[derive(Debug)]
pub(crate) struct StateTaken {
    /// What records go on after.
    pub(crate) cursor: Option<Position>,
    /// What the host is to measure, where the answer says so.
    pub(crate) measure: Option<Vec<Measure>>,
    /// Bytes that were sent.
    pub(crate) sent: usize,
}

/// A batch that was taken, or one before which records are missing.
#[derive(Debug)]
pub(crate) struct BatchTaken {
    /// What records go on after.
    pub(crate) cursor: Option<Position>,
    /// Bytes that were sent.
    pub(crate) sent: usize,
}

/// A question to a head: all but states and batches.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) method: &'static str,
    /// With its query.
    pub(crate) path: String,
    pub(crate) body: Vec<u8>,
    /// How long the answer may take.
    pub(crate) patience: Duration,
    /// Whether a head holds it open until it has something to say.
    pub(crate) held: bool,
}

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(30);
/// The same where a file of some MiB goes first.
const UPLOAD: Duration = Duration::from_secs(110);

impl Call {
    pub(crate) fn get(path: impl Into<String>) -> Self {
        Self {
            method: "GET",
            path: path.into(),
            body: Vec::new(),
            patience: PATIENCE,
            held: false,
        }
    }

    /// A question that a head holds open.
    pub(crate) fn held(path: impl Into<String>) -> Self {
        Self {
            held: true,
            ..Self::get(path)
        }
    }

    pub(crate) fn post(path: impl Into<String>, body: Vec<u8>) -> Self {
        Self {
            method: "POST",
            path: path.into(),
            body,
            patience: PATIENCE,
            held: false,
        }
    }

    /// Posts a file.
    pub(crate) fn upload(path: impl Into<String>, body: Vec<u8>) -> Self {
        Self {
            patience: UPLOAD,
            ..Self::post(path, body)
        }
    }
}

/// A way to a head, with the host's credential.
///
/// What was answered is kept: by the head, or by a stream before it that hands it on once a head is there.
pub(crate) trait Transport: Send + Sync {
    /// Hands the state of the host over.
    fn state<'a>(&'a self, state: &'a HostState) -> Answered<'a, StateTaken>;

    /// Hands records over, or as many of their first as fit.
    fn batch<'a>(&'a self, batch: &'a Batch) -> Answered<'a, BatchTaken>;

    /// Asks a head. The body of the answer.
    fn call(&self, call: Call) -> Answered<'_, Vec<u8>>;

    /// Most bytes of the body of a call.
    fn call_max(&self) -> usize;
}

/// A transport that several tasks use.
pub(crate) type Shared = Arc<dyn Transport>;

/// Reads JSON.
pub(crate) async fn get<T: DeserializeOwned>(
    transport: &dyn Transport,
    path: &str,
) -> Result<T, LinkError> {
    read(&transport.call(Call::get(path)).await?)
}

/// Posts JSON; bytes that were sent.
pub(crate) async fn post(
    transport: &dyn Transport,
    path: &str,
    body: &impl Serialize,
) -> Result<usize, LinkError> {
    let body = json(body)?;
    let sent = body.len();
    transport.call(Call::post(path, body)).await?;
    Ok(sent)
}

pub(crate) fn json(body: &impl Serialize) -> Result<Vec<u8>, LinkError> {
    serde_json::to_vec(body).map_err(|e| LinkError::NotEncoded(e.to_string()))
}

pub(crate) fn read<T: DeserializeOwned>(body: &[u8]) -> Result<T, LinkError> {
    serde_json::from_slice(body).map_err(|e| LinkError::NotUnderstood(e.to_string()))
}

/// Why something was not sent, or not answered.
#[derive(Debug, thiserror::Error)]
pub enum LinkError {
    /// Nobody answers, or the connection broke.
    #[error("the head at {url} cannot be reached: {cause}")]
    Unreachable {
        /// The head.
        url: String,
        /// Why.
        cause: String,
    },
    /// It answered with an error.
    #[error("the head answers {status}: {}; {}", .body.cause, .body.remedy)]
    Refused {
        /// HTTP status.
        status: u16,
        /// Its answer.
        body: ProblemBody,
    },
    /// What is between this host and the heads is there, and no head.
    #[error("no head answers through NATS at {url}")]
    NoHead {
        /// The servers.
        url: String,
    },
    /// What is between this host and the heads is there, and does not keep it.
    #[error("NATS at {url} does not keep it: {cause}")]
    NotStored {
        /// The servers.
        url: String,
        /// Why.
        cause: String,
    },
    /// Its answer is not understood.
    #[error("the head's answer is not understood ({0}): is another program listening there?")]
    NotUnderstood(String),
    /// The store of this host cannot be read. The text has the remedy.
    #[error("the store of this host cannot be shipped: {0}")]
    Store(String),
    /// This agent cannot write what it has for the head.
    #[error(
        "this host's agent cannot write for the head what it has ({0}): a newer gtrace may; records that do not fit stay on the host"
    )]
    NotEncoded(String),
}

impl LinkError {
    /// Whether trying again is of no use before a person has done something.
    pub fn is_final(&self) -> bool {
        matches!(
            self,
            Self::Refused {
                status: 400..=403,
                ..
            }
        )
    }

    /// The error that the status and the body of an answer are; `None` where it is a success.
    pub(crate) fn of_answer(status: u16, body: &[u8]) -> Option<Self> {
        if (200..300).contains(&status) {
            return None;
        }
        Some(match serde_json::from_slice(body) {
            Ok(body) => Self::Refused { status, body },
            // Its limits, and a proxy before it, answer in plain text.
            Err(_) if (400..500).contains(&status) => Self::Refused {
                status,
                body: plain(status, body),
            },
            Err(_) => Self::NotUnderstood(format!("status {status}")),
        })
    }
}

/// A refusal that is no JSON.
fn plain(status: u16, body: &[u8]) -> ProblemBody {
    let reason = hyper::StatusCode::from_u16(status)
        .ok()
        .and_then(|status| status.canonical_reason())
        .unwrap_or("refused")
        .to_owned();
    let text = String::from_utf8_lossy(body);
    let text: String = text.chars().take(200).collect();
    let text = text.replace(char::is_control, " ").trim().to_owned();
    ProblemBody {
        cause: if text.is_empty() {
            reason.clone()
        } else {
            text
        },
        error: reason,
        remedy: "is another program, or a proxy, listening there?".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn what_fails_on_the_host_is_not_said_of_the_head() {
        // Keys of JSON are text.
        let error = json(&BTreeMap::from([([1, 2], 3)])).unwrap_err();
        assert!(matches!(error, LinkError::NotEncoded(_)), "{error}");
        let store = LinkError::Store("it is damaged".to_owned());
        for text in [error.to_string(), store.to_string()] {
            assert!(!text.contains("the head's answer"), "{text}");
        }
    }

    #[test]
    fn a_refusal_in_plain_text_is_one() {
        assert_eq!(
            plain(413, b"length limit exceeded\n").cause,
            "length limit exceeded"
        );
        assert_eq!(plain(413, b"\x1b\n").cause, "Payload Too Large");
    }
}
