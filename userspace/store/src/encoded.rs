use gtrace_event::RecordRef;

use crate::columns::Columns;

/// A record as the store keeps it.
#[derive(Clone, Debug)]
pub struct Encoded {
    pub(crate) body: String,
    pub(crate) columns: Columns<'static>,
}

impl Encoded {
    /// Encodes `record`.
    ///
    /// # Errors
    /// If it cannot be written as JSON, which is a bug.
    pub fn new(record: RecordRef<'_>) -> Result<Self, serde_json::Error> {
        Ok(Self {
            body: serde_json::to_string(&record)?,
            columns: Columns::of(record),
        })
    }
}
