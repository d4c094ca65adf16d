//! Bodies of a bounded size: requests that come in time, answers that fit into what may wait for readers.

use std::io;
use std::sync::Arc;

use axum::Extension;
use axum::body::{Body, Bytes, HttpBody as _, to_bytes};
use axum::extract::{FromRequest, Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use futures_util::stream;
use gtrace_engine::recorder::ATTACHED_MAX;
use serde::de::DeserializeOwned;
use tokio::sync::OwnedSemaphorePermit;

use super::archive::{Archive, ArchiveError, Pages};
use super::peer::Peer;
use super::problem::Problem;
use super::query::EventQuery;
use super::refusals::Reason;
use super::share::Share;
use super::{AppState, MAX_BODY};

/// Every connection may have an answer of so many bytes: the number of connections bounds these.
const SMALL: usize = 16 * 1024;
/// Bytes of a streamed answer that are read from the store at once.
pub(super) const PAGE_BYTES: usize = 32 * 1024;

/// Takes the bytes of an answer from what may wait for readers until the connection has written them, or
/// refuses it. Streamed answers hold a page at a time and need no such account.
pub(super) async fn bound(
    State(state): State<AppState>,
    Extension(peer): Extension<Peer>,
    request: Request,
    next: Next,
) -> Response {
    let response = next.run(request).await;
    let size = response.body().size_hint().exact();
    let size = size.and_then(|size| usize::try_from(size).ok());
    let Some(size) = size.filter(|&size| size > SMALL) else {
        return response;
    };
    let Some(share) = state.answers.take(peer.user, size) else {
        return too_much(&state, peer, size).into_response();
    };
    let (head, body) = response.into_parts();
    match to_bytes(body, size).await {
        Ok(bytes) => {
            let held = Held {
                bytes,
                _share: share,
            };
            Response::from_parts(head, Body::from(Bytes::from_owner(held)))
        }
        Err(error) => {
            Problem::unavailable("cannot answer", error.to_string(), "report this").into_response()
        }
    }
}

/// The answer where `size` bytes more may not wait.
pub(super) fn too_much(state: &AppState, peer: Peer, size: usize) -> Problem {
    let held = state.answers.held_by(peer.user);
    let total = state.answers.total();
    let what = format_args!(
        "refused an answer of {size} bytes: {held} of {total} bytes already wait to be read"
    );
    state.refusals.count(peer, Reason::Memory, what);
    Problem::unavailable(
        "too many answers wait for their readers",
        format!("{held} bytes that your user asked for have not been read yet"),
        "read them, or close their connections, and ask again",
    )
}

/// Bytes with their share, which goes back once the last reference to them is gone.
struct Held {
    bytes: Bytes,
    _share: Share,
}

impl AsRef<[u8]> for Held {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

/// A JSON body of a request.
pub(super) struct Sent<T>(pub(super) T);

/// A body that is a file, and its turn: one such body is held at a time.
pub(super) struct SentBytes(pub(super) Bytes, pub(super) OwnedSemaphorePermit);

impl FromRequest<AppState> for SentBytes {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &AppState) -> Result<Self, Problem> {
        let turn = Arc::clone(&state.files).try_acquire_owned().map_err(|_| {
            Problem::unavailable(
                "cannot take the file",
                "another one is being sent",
                "send it again in a second",
            )
        })?;
        whole(request, state, ATTACHED_MAX)
            .await
            .map(|body| Self(body, turn))
    }
}

/// The body of a request, if it comes in time and has at most `most` bytes.
async fn whole(request: Request, state: &AppState, most: usize) -> Result<Bytes, Problem> {
    let peer = request.extensions().get::<Peer>().copied();
    let limit = state.limits.body;
    let read = Bytes::from_request(request, state);
    let Ok(body) = tokio::time::timeout(limit, read).await else {
        if let Some(peer) = peer {
            let what = format_args!("sent no whole body within {limit:?}");
            state.refusals.count(peer, Reason::Body, what);
        }
        return Err(Problem::new(
            StatusCode::REQUEST_TIMEOUT,
            "cannot read the body",
            format!("it did not come within {limit:?}"),
            "send it at once",
        ));
    };
    body.map_err(|rejection| {
        Problem::new(
            rejection.status(),
            "cannot read the body",
            rejection.body_text(),
            format!("send at most {most} bytes"),
        )
    })
}

impl<T: DeserializeOwned> FromRequest<AppState> for Sent<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &AppState) -> Result<Self, Problem> {
        let body = whole(request, state, MAX_BODY).await?;
        serde_json::from_slice(&body).map(Self).map_err(|error| {
            Problem::bad_request(
                format!("body: {error}"),
                "see /api/openapi.json for its fields",
            )
        })
    }
}

/// Events as a JSON array that is read from the store while it is sent.
struct EventArray {
    pages: Pages,
    begun: bool,
    ended: bool,
}

impl EventArray {
    fn next(&mut self, archive: &Archive) -> Result<Vec<u8>, ArchiveError> {
        let mut text = Vec::with_capacity(PAGE_BYTES);
        let begun = &mut self.begun;
        self.pages.next(archive, PAGE_BYTES, |event| {
            let before = text.len();
            text.push(if *begun { b',' } else { b'[' });
            *begun = true;
            // The types of the API always make JSON: they have string keys and no failing parts.
            let _ = serde_json::to_writer(&mut text, &event);
            text.len() - before
        })?;
        if self.pages.is_done() {
            text.extend(if self.begun { "]" } else { "[]" }.as_bytes());
            self.ended = true;
        }
        Ok(text)
    }
}

/// The events that match. An error after the first page ends the connection amid the array.
pub(super) async fn events(
    state: AppState,
    peer: Peer,
    query: EventQuery,
) -> Result<Response, Problem> {
    let first = state.read(peer, move |archive| {
        let mut array = EventArray {
            pages: Pages::new(archive, query)?,
            begun: false,
            ended: false,
        };
        let text = array.next(archive)?;
        Ok((array, text))
    });
    let (array, text) = first.await?;
    let body = match array.ended {
        true => Body::from(text),
        false => Body::from_stream(rest(state, peer, array, text)),
    };
    let json = [(header::CONTENT_TYPE, "application/json")];
    Ok((json, body).into_response())
}

/// `first`, and the pages after it, each read once the one before was sent.
fn rest(
    state: AppState,
    peer: Peer,
    array: EventArray,
    first: Vec<u8>,
) -> impl stream::Stream<Item = io::Result<Bytes>> {
    let begin = (Some(first), Some(array));
    stream::unfold(begin, move |(ready, array)| {
        let state = state.clone();
        async move {
            if let Some(text) = ready {
                return Some((Ok(text.into()), (None, array)));
            }
            let mut array = array.filter(|array| !array.ended)?;
            let page = state.read(peer, move |archive| {
                let text = array.next(archive)?;
                Ok((array, text))
            });
            match page.await {
                Ok((array, text)) => Some((Ok(text.into()), (None, Some(array)))),
                Err(problem) => {
                    tracing::warn!("an answer with events ends early: {}", problem.body.cause);
                    Some((Err(io::Error::other(problem.body.cause)), (None, None)))
                }
            }
        }
    })
}
