//! The streams of a fleet.

use async_nats::jetstream::Context;
use async_nats::jetstream::stream::{Config, DiscardPolicy, RetentionPolicy, StorageType};
use gtrace_fleet::nats::Kind;

use crate::access::NatsError;

/// Stream of batches, each until a head has committed it.
pub const RECORDS: &str = "GTRACE_RECORDS";
/// Stream of the newest state of each host.
pub const STATES: &str = "GTRACE_STATES";
/// Stream of what heads have of each host.
pub const POSITIONS: &str = "GTRACE_POSITIONS";

/// What of a stream is not as records and positions need it; limits and replicas may be any.
fn unfit(found: &Config, needed: &Config) -> Option<String> {
    let unlimited = |n: i64| if n <= 0 { -1 } else { n };
    let per_subject = unlimited(found.max_messages_per_subject);
    if needed
        .subjects
        .iter()
        .any(|one| !found.subjects.contains(one))
    {
        return Some(format!("its subjects are not {:?}", needed.subjects));
    }
    if found.retention != needed.retention {
        return Some(format!(
            "its retention is {:?} instead of {:?}",
            found.retention, needed.retention
        ));
    }
    if found.discard != needed.discard {
        return Some(format!(
            "it discards {:?} messages instead of {:?} ones",
            found.discard, needed.discard
        ));
    }
    (per_subject != needed.max_messages_per_subject).then(|| {
        format!(
            "it keeps {per_subject} messages of a subject instead of {}",
            needed.max_messages_per_subject
        )
    })
}

/// Makes the streams that are not there. One that is there stays as it is: limits and replicas are the site's.
///
/// # Errors
/// Why one cannot be made.
pub async fn ensure(jetstream: &Context, replicas: usize) -> Result<(), NatsError> {
    let stream = |name: &str, kind: Kind, newest: bool| Config {
        name: name.to_owned(),
        subjects: vec![kind.all_hosts()],
        storage: StorageType::File,
        num_replicas: replicas,
        retention: match newest {
            true => RetentionPolicy::Limits,
            false => RetentionPolicy::WorkQueue,
        },
        max_messages_per_subject: if newest { 1 } else { -1 },
        // A stream of batches that is full takes no more: hosts wait, and nothing is lost.
        discard: match newest {
            true => DiscardPolicy::Old,
            false => DiscardPolicy::New,
        },
        ..Config::default()
    };
    for config in [
        stream(RECORDS, Kind::Records, false),
        stream(STATES, Kind::State, true),
        stream(POSITIONS, Kind::Position, true),
    ] {
        let name = config.name.clone();
        if let Ok(stream) = jetstream.get_stream(&name).await {
            if let Some(wrong) = unfit(&stream.cached_info().config, &config) {
                return Err(NatsError::Stream { name, wrong });
            }
            continue;
        }
        let made = jetstream.get_or_create_stream(config).await;
        made.map_err(|error| {
            NatsError::Connect(format!(
                "cannot make the stream {name}: {error}; does the account have JetStream, and the cluster {replicas} servers?"
            ))
        })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_that_would_lose_records_is_not_used() {
        let needed = || Config {
            subjects: vec!["a.>".to_owned()],
            retention: RetentionPolicy::WorkQueue,
            discard: DiscardPolicy::New,
            max_messages_per_subject: -1,
            ..Config::default()
        };
        let mut other = needed();
        other.max_bytes = 1 << 30;
        other.num_replicas = 3;
        assert_eq!(unfit(&other, &needed()), None);
        let wrong: [fn(&mut Config); 4] = [
            |config| config.retention = RetentionPolicy::Limits,
            |config| config.discard = DiscardPolicy::Old,
            |config| config.max_messages_per_subject = 1,
            |config| config.subjects.clear(),
        ];
        for wrong in wrong {
            let mut other = needed();
            wrong(&mut other);
            assert!(unfit(&other, &needed()).is_some(), "{other:?}");
        }
    }
}
