//! What heads of one database say to each other: which records they took, and what is to be read of a host whose agent asks another head
//! for work.

use gtrace_event::Timestamp;
use serde::{Deserialize, Serialize};

use super::sql::{DbError, Sql};
use super::{Database, nanos};

/// Records of so many hosts are announced together: a text of PostgreSQL's is at most 8,000 bytes.
const ANNOUNCED: usize = 100;
/// An answer that nobody has fetched goes after so long: its head has ended.
const KEPT_NS: i64 = 60_000_000_000;

/// What heads of one database say to each other.
#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum Note {
    /// Records were taken.
    Took(Announced),
    /// A host is to be read, by the head that its agent asks.
    Wanted {
        /// For whom.
        wanted: ReadOf,
        /// What: [`gtrace_fleet::is_readable`].
        path: String,
    },
    /// The answer is in the database.
    Given {
        /// To what.
        given: ReadOf,
    },
}

/// What a head has taken in one transaction, for the other heads of the database.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Announced {
    pub(crate) head: String,
    /// Day of the table.
    pub(crate) day: i64,
    pub(crate) took: Vec<Took>,
}

/// Records of a host, from one number to another.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Took {
    pub(crate) host: i64,
    pub(crate) first: i64,
    pub(crate) last: i64,
}

/// A question for a host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ReadOf {
    /// The head whose question it is.
    pub(crate) head: String,
    pub(crate) host: i64,
    /// The head's number of it.
    pub(crate) id: u64,
}

impl ReadOf {
    fn key(&self) -> [super::sql::Value; 3] {
        [
            self.head.as_str().into(),
            self.host.into(),
            self.id.cast_signed().into(),
        ]
    }
}

fn say(sql: &mut dyn Sql, note: &Note) -> Result<(), DbError> {
    sql.announce(&serde_json::to_string(note)?)
}

/// Says which records were taken.
pub(super) fn announce(
    sql: &mut dyn Sql,
    head: &str,
    day: i64,
    took: &[Took],
) -> Result<(), DbError> {
    took.chunks(ANNOUNCED).try_for_each(|took| {
        let announced = Announced {
            head: head.to_owned(),
            day,
            took: took.to_vec(),
        };
        say(sql, &Note::Took(announced))
    })
}

impl Database {
    /// Asks the other heads of the database.
    pub(crate) fn want_read(&mut self, wanted: ReadOf, path: String) -> Result<(), DbError> {
        say(self.sql.as_mut(), &Note::Wanted { wanted, path })
    }

    /// Leaves an answer, a status and a body, for the head that asked.
    pub(crate) fn give_read(
        &mut self,
        given: ReadOf,
        answer: (u16, &[u8]),
        now: Timestamp,
    ) -> Result<(), DbError> {
        self.transaction(|sql| {
            let [head, host, id] = given.key();
            sql.execute(
                "DELETE FROM read_answers WHERE made_ns < $1",
                &[nanos(now).saturating_sub(KEPT_NS).into()],
            )?;
            sql.execute(
                "INSERT INTO read_answers(head, host, id, status, body, made_ns) VALUES ($1, $2, $3, $4, $5, $6) \
                 ON CONFLICT (head, host, id) DO NOTHING",
                &[
                    head,
                    host,
                    id,
                    i64::from(answer.0).into(),
                    answer.1.into(),
                    nanos(now).into(),
                ],
            )?;
            say(sql, &Note::Given { given })
        })
    }

    /// Fetches an answer, which is not kept.
    pub(crate) fn take_read(&mut self, of: &ReadOf) -> Result<Option<(u16, Vec<u8>)>, DbError> {
        let rows = self.sql.rows(
            "DELETE FROM read_answers WHERE head = $1 AND host = $2 AND id = $3 RETURNING status, body",
            &of.key(),
        )?;
        let answer = |row: &Vec<super::sql::Value>| {
            let status = u16::try_from(row[0].int()).ok()?;
            Some((status, row[1].bytes().to_vec()))
        };
        Ok(rows.first().and_then(answer))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::testing::with_hosts;

    #[test]
    fn an_answer_is_fetched_once_by_the_head_that_asked_and_goes_where_that_has_ended() {
        let (_dir, mut db) = with_hosts(&[]);
        let of = |head: &str, id| ReadOf {
            head: head.to_owned(),
            host: 7,
            id,
        };
        let at = |s| Timestamp::from_second(s).unwrap();
        db.give_read(of("a", 1), (200, b"x"), at(100)).unwrap();
        db.give_read(of("a", 1), (200, b"twice"), at(101)).unwrap();
        assert_eq!(db.take_read(&of("b", 1)).unwrap(), None);
        assert_eq!(
            db.take_read(&of("a", 1)).unwrap(),
            Some((200, b"x".to_vec()))
        );
        assert_eq!(db.take_read(&of("a", 1)).unwrap(), None);
        db.give_read(of("a", 2), (404, b""), at(110)).unwrap();
        db.give_read(of("a", u64::MAX), (404, b""), at(171))
            .unwrap();
        assert_eq!(db.take_read(&of("a", 2)).unwrap(), None);
        assert_eq!(
            db.take_read(&of("a", u64::MAX)).unwrap(),
            Some((404, Vec::new()))
        );
    }

    #[test]
    fn each_note_is_read_as_what_it_is() {
        let of = ReadOf {
            head: "a".to_owned(),
            host: 7,
            id: 3,
        };
        let read = |note: &Note| {
            let text = serde_json::to_string(note).unwrap();
            serde_json::from_str::<Note>(&text).unwrap()
        };
        let wanted = Note::Wanted {
            wanted: of.clone(),
            path: "/api/v1/status".to_owned(),
        };
        assert!(matches!(read(&wanted), Note::Wanted { wanted, .. } if wanted == of));
        let given = Note::Given { given: of.clone() };
        assert!(matches!(read(&given), Note::Given { given } if given == of));
        let took = Note::Took(Announced {
            head: "a".to_owned(),
            day: 1,
            took: Vec::new(),
        });
        assert!(matches!(read(&took), Note::Took(took) if took.day == 1));
    }
}
