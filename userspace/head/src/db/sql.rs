//! What the two databases have in common: statements with numbered parameters, transactions, tables of days.

use std::fmt;

/// A value of a column or a parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    Null,
    Int(i64),
    Text(String),
    Bytes(Vec<u8>),
}

impl Value {
    /// The number; 0 for anything else.
    pub(crate) fn int(&self) -> i64 {
        match self {
            Self::Int(n) => *n,
            _ => 0,
        }
    }

    /// The number, if there is one.
    pub(crate) fn opt_int(&self) -> Option<i64> {
        match self {
            Self::Int(n) => Some(*n),
            _ => None,
        }
    }

    /// The text; an empty one for anything else.
    pub(crate) fn text(&self) -> &str {
        match self {
            Self::Text(text) => text,
            _ => "",
        }
    }

    /// The text, if there is one.
    pub(crate) fn opt_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The bytes; none for anything else.
    pub(crate) fn bytes(&self) -> &[u8] {
        match self {
            Self::Bytes(bytes) => bytes,
            _ => &[],
        }
    }
}

impl From<i64> for Value {
    fn from(n: i64) -> Self {
        Self::Int(n)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<&[u8]> for Value {
    fn from(bytes: &[u8]) -> Self {
        Self::Bytes(bytes.to_vec())
    }
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

/// Why the database did not do something.
#[derive(Debug, thiserror::Error)]
pub enum DbError {
    /// It cannot be opened or reached.
    #[error("cannot open the fleet's database {place}: {why}")]
    Open {
        /// Which.
        place: String,
        /// Why not, and what to do.
        why: String,
    },
    /// A statement failed.
    #[error("the fleet's database: {0}")]
    Statement(String),
    /// It was written by a newer head.
    #[error(
        "the fleet's database has version {found} of its layout, this head knows {known}: run the newer gtrace"
    )]
    Newer {
        /// Version of the database.
        found: i64,
        /// Version of this program.
        known: i64,
    },
    /// What is kept cannot be read.
    #[error("the fleet's database has {0}, which this head did not write")]
    Corrupt(String),
}

impl From<serde_json::Error> for DbError {
    fn from(error: serde_json::Error) -> Self {
        Self::Statement(error.to_string())
    }
}

/// One connection to a database. Parameters are `$1`, `$2` and so on, in the order in which they occur first: SQLite
/// numbers them so, PostgreSQL by their names. What fails is a [`DbError::Statement`].
pub(crate) trait Sql: Send {
    /// Executes a statement; how many rows it changed.
    fn execute(&mut self, sql: &str, parameters: &[Value]) -> Result<u64, DbError>;

    /// Gives each row to `row`, which says whether to go on.
    fn query(
        &mut self,
        sql: &str,
        parameters: &[Value],
        row: &mut dyn FnMut(Vec<Value>) -> bool,
    ) -> Result<(), DbError>;

    /// Executes several statements without parameters.
    fn batch(&mut self, sql: &str) -> Result<(), DbError>;

    /// Appends rows to a table as fast as the database can.
    fn append(
        &mut self,
        table: &str,
        columns: &[(&str, Kind)],
        rows: &mut dyn Iterator<Item = Vec<Value>>,
    ) -> Result<(), DbError>;

    /// Has the other heads of the database know of a text when the transaction is committed. What is a file has one head.
    fn announce(&mut self, _text: &str) -> Result<(), DbError> {
        Ok(())
    }

    /// Whether what is written goes where the next start reads it.
    ///
    /// # Errors
    /// [`DbError::Statement`]: a file is no longer at its place.
    fn check_place(&self) -> Result<(), DbError> {
        Ok(())
    }

    /// Statements that make the table `name` for the records of `day` (days since 1970-01-01).
    fn day_table(&self, name: &str, day: i64) -> String;

    /// What the database calls a column of bytes.
    fn bytes_type(&self) -> &'static str;

    /// All rows of a query.
    fn rows(&mut self, sql: &str, parameters: &[Value]) -> Result<Vec<Vec<Value>>, DbError> {
        let mut rows = Vec::new();
        self.query(sql, parameters, &mut |row| {
            rows.push(row);
            true
        })?;
        Ok(rows)
    }

    /// The number that a query is for, in the first column of its first row; 0 without it.
    fn number(&mut self, sql: &str, parameters: &[Value]) -> Result<i64, DbError> {
        let rows = self.rows(sql, parameters)?;
        Ok(rows.first().map_or(0, |row| row[0].int()))
    }
}

/// The type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// BIGINT.
    Int,
    /// TEXT.
    Text,
    /// BLOB, BYTEA.
    Bytes,
}

/// Where the fleet's database is.
#[derive(Clone, PartialEq, Eq)]
pub enum Place {
    /// A file of the embedded database.
    File(std::path::PathBuf),
    /// A PostgreSQL server, by its URL.
    Postgres(String),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => path.display().fmt(f),
            // The URL may have a password in it.
            Self::Postgres(url) => {
                let host = url.rsplit_once('@').map_or_else(
                    || url.split_once("://").map_or("", |(_, rest)| rest),
                    |(_, host)| host,
                );
                write!(f, "postgresql://{}", host.split('?').next().unwrap_or(host))
            }
        }
    }
}

impl fmt::Debug for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::str::FromStr for Place {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let is_url = ["postgres://", "postgresql://"]
            .iter()
            .any(|scheme| text.starts_with(scheme));
        Ok(match is_url {
            true => Self::Postgres(text.to_owned()),
            false => Self::File(text.into()),
        })
    }
}
