//! `/api/v1/incidents/{id}/evidence/{name}`: the files that were kept of an incident, and those that others add.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::sync::Arc;

use axum::Extension;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use futures_util::stream;
use gtrace_engine::flight::Attachment;
use gtrace_engine::recorder::evidence_directory;
use tokio::sync::oneshot;

use super::super::AppState;
use super::super::body::SentBytes;
use super::super::peer::Peer;
use super::super::problem::Problem;
use super::Named;
use super::incidents::find;

/// Bytes that are read at once.
const PAGE: usize = 64 * 1024;

/// A file, page by page as it is taken.
pub(in super::super) async fn get(
    State(state): State<AppState>,
    Extension(peer): Extension<Peer>,
    Named((id, name)): Named<(String, String)>,
) -> Result<Response, Problem> {
    let incident = find(&state, peer, &id).await?;
    // Only what its record names, so that no path leads to other files.
    let known = incident.evidence.iter().find(|file| file.name == name);
    let Some(known) = known else {
        return Err(Problem::not_found(
            "no such evidence",
            format!("the record of incident {id} names no file {name}"),
            "take a name from the incident's field evidence; it is filled once the recording has ended",
        ));
    };
    let path = evidence_directory(&state.store)
        .join(incident.id.to_string())
        .join(&known.name);
    let opened = state.block(peer, move || {
        let file = File::open(path)?;
        let length = file.metadata()?.len();
        io::Result::Ok((file, length))
    });
    let gone = |cause: String| {
        Problem::not_found(
            "the evidence is gone",
            cause,
            "evidence_mb in the configuration bounds what is kept of all incidents",
        )
    };
    let (file, length) = match opened.await {
        Ok(Ok(opened)) => opened,
        Ok(Err(error)) => return Err(gone(error.to_string())),
        Err(panic) => return Err(gone(panic.to_string())),
    };
    let head = [
        (header::CONTENT_TYPE, "application/octet-stream".to_owned()),
        (header::CONTENT_LENGTH, length.to_string()),
        (header::ETAG, format!("\"{}\"", known.sha256)),
    ];
    let body = Body::from_stream(pages(state, peer, file));
    Ok((head, body).into_response())
}

fn pages(state: AppState, peer: Peer, file: File) -> impl stream::Stream<Item = io::Result<Bytes>> {
    let begin = (Arc::new(file), 0);
    stream::unfold(begin, move |(file, at)| {
        let state = state.clone();
        async move {
            let of_thread = Arc::clone(&file);
            let read = state.block(peer, move || {
                let mut page = vec![0; PAGE];
                let length = of_thread.read_at(&mut page, at)?;
                page.truncate(length);
                io::Result::Ok(page)
            });
            let page = read.await.map_err(io::Error::other).flatten();
            match page {
                Ok(page) if page.is_empty() => None,
                Ok(page) => {
                    let next = at + page.len() as u64;
                    Some((Ok(Bytes::from(page)), (file, next)))
                }
                Err(error) => Some((Err(error), (file, u64::MAX))),
            }
        }
    })
}

/// Adds a file to a recording that is under way.
pub(in super::super) async fn add(
    State(state): State<AppState>,
    Extension(peer): Extension<Peer>,
    Named((id, name)): Named<(String, String)>,
    SentBytes(bytes, _turn): SentBytes,
) -> Result<StatusCode, Problem> {
    let incident = find(&state, peer, &id).await?.id;
    let (answer, answered) = oneshot::channel();
    let attachment = Attachment {
        incident,
        name,
        bytes: bytes.into(),
        answer,
    };
    let refused = |cause: String| {
        Problem::unavailable(
            "the file cannot be added",
            cause,
            "add files while the incident is being recorded: half a minute from its opening",
        )
    };
    state
        .hub
        .recorder
        .attach(attachment)
        .map_err(|cause| refused(cause.to_owned()))?;
    match tokio::time::timeout(super::super::CORE_DEADLINE, answered).await {
        Ok(Ok(Ok(()))) => Ok(StatusCode::NO_CONTENT),
        Ok(Ok(Err(cause))) => Err(refused(cause)),
        Ok(Err(_)) => Err(refused("the daemon is shutting down".to_owned())),
        Err(_) => Err(refused(
            "the flight recorder has not answered in 5 s".to_owned(),
        )),
    }
}
