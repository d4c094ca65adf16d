//! How far heads have come with each host, where its agent reads it.

use std::collections::HashMap;

use futures_util::TryStreamExt as _;
use gtrace_fleet::nats::{HeadPosition, Key, Kind, SIGNATURE, Subject};
use gtrace_nats::async_nats::jetstream::Context;
use gtrace_nats::async_nats::jetstream::message::PublishMessage;
use gtrace_nats::async_nats::jetstream::stream::LastRawMessageErrorKind;
use gtrace_nats::{NatsError, POSITIONS};

use super::failed;
use crate::intake::{Intake, KnownHost};
use crate::readers::Unread;

/// Writes the positions anew that are not those of the database: it may have lost commits in a power cut, or be an older backup. The agent of a
/// quiet host would not ask.
pub(super) async fn renew(jetstream: &Context, intake: &Intake) -> Result<(), NatsError> {
    let unread = |Unread(cause)| failed(cause);
    let hosts = intake.readers.read(|db| db.hosts_with_states(|_| false));
    let hosts = hosts.await.map_err(unread)?;
    let ids: HashMap<String, i64> = hosts.into_iter().map(|row| (row.name, row.id)).collect();
    let stream = jetstream.get_stream_no_info(POSITIONS).await;
    let stream = stream.map_err(failed)?;
    let subjects = stream.info_with_subjects(Kind::Position.all_hosts()).await;
    let mut subjects = subjects.map_err(failed)?;
    while let Some((text, _)) = subjects.try_next().await.map_err(failed)? {
        let Some(id) = text
            .parse::<Subject>()
            .ok()
            .and_then(|subject| ids.get(&subject.host))
        else {
            continue;
        };
        let message = match stream.get_last_raw_message_by_subject(&text).await {
            Ok(message) => message,
            Err(error) if error.kind() == LastRawMessageErrorKind::NoMessageFound => continue,
            Err(error) => return Err(failed(error)),
        };
        let written = serde_json::from_slice::<HeadPosition>(&message.payload).ok();
        // After the message: a head commits before it writes.
        let cursor = intake.cursor(*id).await.map_err(unread)?;
        if written.is_some_and(|reported| reported.cursor == cursor) {
            continue;
        }
        if let Some(host) = intake.host(*id).await.map_err(unread)? {
            let reported = HeadPosition {
                cursor,
                missing: None,
            };
            write(jetstream, &host, &text, &reported).await?;
            tracing::info!("the position of {} was written anew", host.name);
        }
    }
    Ok(())
}

/// Writes how far a host is, where its agent reads it.
pub(super) async fn write(
    jetstream: &Context,
    host: &KnownHost,
    subject: &str,
    reported: &HeadPosition,
) -> Result<(), NatsError> {
    let subject: Subject = subject.parse().map_err(failed)?;
    let subject = Subject {
        kind: Kind::Position,
        ..subject
    };
    let subject = subject.to_string();
    let body = serde_json::to_vec(reported).map_err(failed)?;
    let signature = Key::of_digest(host.digest).sign(&[b"position", subject.as_bytes(), &body]);
    let message = PublishMessage::build()
        .header(SIGNATURE, signature.to_string())
        .payload(body.into());
    let stored = jetstream.send_publish(subject, message).await;
    stored.map_err(failed)?.await.map_err(failed)?;
    Ok(())
}
