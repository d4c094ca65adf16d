//! Ids as people type them.

use std::fmt;

use super::shared::{Exit, Failure};
use crate::render;

/// Shortest part of an id that may stand for it.
const SHORTEST_PART: usize = 6;

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
