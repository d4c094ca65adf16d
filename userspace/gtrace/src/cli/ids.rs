//! Ids as people type them.

use std::fmt;

use gtrace_event::{Event, EventId, Incident, IncidentId};
use gtrace_http::{Archive, ArchiveError};
use serde::de::DeserializeOwned;

use super::shared::{Exit, Failure, Instance};
use crate::render;

/// Shortest part of an id that may stand for it.
pub(super) const SHORTEST_PART: usize = 6;

/// The one of `ids` that begins or ends with `part`. `of`: what they are ids of, such as `event`.
pub(super) fn find<Id: Copy + Eq + fmt::Display>(
    of: &str,
    part: &str,
    ids: impl IntoIterator<Item = Id>,
) -> Result<Id, Failure> {
    let part = part.to_ascii_uppercase();
    if part.len() < SHORTEST_PART || !part.bytes().all(|b| b.is_ascii_alphanumeric()) {
        let why = format!(
            "`{}` is no {of} id: give the whole id or at least {SHORTEST_PART} characters of its \
             beginning or end, as `gtrace {of}s` prints it",
            render::clean(&part)
        );
        return Err(Failure(Exit::Usage, why));
    }
    let fits = |id: &Id| {
        let text = id.to_string();
        text.starts_with(&part) || text.ends_with(&part)
    };
    let found: Vec<Id> = ids.into_iter().filter(fits).collect();
    match found.as_slice() {
        [] => Err(Failure(
            Exit::Problem,
            format!("no {of} has an id like {part}"),
        )),
        [one] => Ok(*one),
        many => {
            let shown: Vec<String> = many.iter().take(5).map(ToString::to_string).collect();
            let count = many.len();
            let why = format!(
                "{part} fits {count} {of}s, give more of it: {}",
                shown.join(", ")
            );
            Err(Failure(Exit::Usage, why))
        }
    }
}

/// Why there is no event of the id `text`: the two kinds of ids look alike, and that of an incident is named as one.
pub(super) fn no_event(why: Failure, text: &str, instance: &Instance) -> Failure {
    let Ok(id) = text.parse::<IncidentId>() else {
        return why;
    };
    let target = format!("/api/v1/incidents/{id}");
    match why {
        Failure(Exit::Problem, _) if has::<Incident>(instance, &target, |of| of.incident(id)) => {
            let why = format!(
                "{id} is an incident, no event: `gtrace incidents show {id}` has its events, `gtrace incidents ack {id}` \
                 acknowledges it"
            );
            Failure(Exit::Problem, why)
        }
        why => why,
    }
}

/// The same where there is no incident.
pub(super) fn no_incident(why: Failure, text: &str, instance: &Instance) -> Failure {
    let Ok(id) = text.parse::<EventId>() else {
        return why;
    };
    let target = format!("/api/v1/events/{id}");
    match why {
        Failure(Exit::Problem, _) if has::<Event>(instance, &target, |of| of.event(id)) => {
            is_event(id)
        }
        why => why,
    }
}

/// Why `id` is not that of an incident.
pub(super) fn is_event(id: EventId) -> Failure {
    let why = format!(
        "{id} is an event, no incident: `gtrace events show {id}` says which incident it belongs to"
    );
    Failure(Exit::Problem, why)
}

/// Whether the daemon has something at `target`, or its store as `stored` reads it.
fn has<T: DeserializeOwned>(
    instance: &Instance,
    target: &str,
    stored: impl FnOnce(&Archive) -> Result<Option<T>, ArchiveError>,
) -> bool {
    let found = instance.clone().quiet().ask(target, |path| {
        let archive = Archive::open(path).map_err(Failure::not_possible)?;
        let found = stored(&archive).map_err(Failure::not_possible)?;
        found.ok_or_else(|| Failure(Exit::Problem, String::new()))
    });
    found.is_ok()
}

#[cfg(test)]
mod tests {
    use gtrace_event::EventId;

    use super::*;

    #[test]
    fn a_part_of_an_id_stands_for_it_only_where_it_is_the_only_one() {
        let ids = ["01KJSZ3M7B0000000000ABCDEF", "01KJSZ3M7B0000000000ABCDEG"];
        let ids = ids.map(|id| id.parse::<EventId>().unwrap());
        let found = |part: &str| find("event", part, ids).map_err(|Failure(exit, _)| exit);
        assert_eq!(found("abcdef"), Ok(ids[0]));
        assert_eq!(found("01KJSZ3M7B"), Err(Exit::Usage));
        assert_eq!(found("bcdef"), Err(Exit::Usage));
        assert_eq!(found("000000"), Err(Exit::Problem));
    }
}
