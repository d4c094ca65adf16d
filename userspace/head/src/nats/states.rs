//! States of hosts. The stream has the newest of each.

use gtrace_fleet::nats::Kind;
use gtrace_nats::NatsError;
use gtrace_nats::async_nats::jetstream::consumer::{Consumer, pull};
use gtrace_nats::async_nats::jetstream::{AckKind, Message};

use super::{LATER, Never, PULL, Refused, count, end, failed, published, refuse, sender, together};
use crate::intake::{Intake, NotTaken};

/// States of a pull.
const MESSAGES: usize = 256;

/// Takes states until something fails.
pub(super) async fn take(
    consumer: &Consumer<pull::Config>,
    intake: &Intake,
) -> Result<Never, NatsError> {
    loop {
        let pull = consumer.batch().max_messages(MESSAGES).expires(PULL);
        let mut pulled = pull.messages().await.map_err(failed)?;
        loop {
            let messages = together(&mut pulled, |_| true).await.map_err(failed)?;
            if messages.is_empty() {
                break;
            }
            // They share the writer's next transaction.
            let taking = messages.iter().map(|message| one(message, intake));
            let kinds = futures_util::future::join_all(taking).await;
            for (message, kind) in messages.iter().zip(kinds) {
                end(message, kind).await?;
            }
        }
    }
}

async fn one(message: &Message, intake: &Intake) -> AckKind {
    let subject = message.subject.as_str();
    let parts: [&[u8]; 3] = [b"state", subject.as_bytes(), &message.payload];
    let headers = message.headers.as_ref();
    let host = match sender(intake, subject, Kind::State, headers, &parts).await {
        Ok(host) => host,
        Err(Refused::Never(why)) => {
            refuse(intake, subject, why);
            return AckKind::Ack;
        }
        Err(Refused::Later) => return AckKind::Nak(Some(LATER)),
    };
    let taken = intake.state(host.id, message.payload.clone(), published(message));
    match taken.await {
        Ok(()) => {
            count(&intake.nats.taken);
            AckKind::Ack
        }
        Err(NotTaken::Bad { cause, .. }) => {
            refuse(intake, subject, &cause);
            AckKind::Ack
        }
        Err(NotTaken::Unavailable(_)) => {
            count(&intake.nats.again);
            AckKind::Nak(Some(LATER))
        }
    }
}
