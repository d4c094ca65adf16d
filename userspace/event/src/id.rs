use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use ulid::Ulid;

/// Identifies an event for ever: a ULID (48 bits of Unix milliseconds, 80 random bits), so ids
/// sort by time.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventId(Ulid);

impl EventId {
    /// A new id for an event that happened `unix_ms` milliseconds after the Unix epoch.
    pub fn new(unix_ms: u64) -> Self {
        let random = Ulid::generate().random();
        Self(Ulid::from_parts(unix_ms, random))
    }

    /// The milliseconds since the Unix epoch that the id was made with.
    pub fn unix_ms(self) -> u64 {
        self.0.timestamp_ms()
    }
}

impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl fmt::Debug for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

/// A text that is no event id.
#[derive(Debug, thiserror::Error)]
#[error("`{0}` is no event id: an id is 26 letters and digits, as `gtrace events` prints it")]
pub struct EventIdError(pub String);

impl FromStr for EventId {
    type Err = EventIdError;

    fn from_str(s: &str) -> Result<Self, Self::Err> {
        Ulid::from_string(s)
            .map(Self)
            .map_err(|_| EventIdError(s.to_owned()))
    }
}

impl Serialize for EventId {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for EventId {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(d)?;
        text.parse().map_err(D::Error::custom)
    }
}

impl JsonSchema for EventId {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "EventId".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "string",
            "description": "ULID: 26 characters of Crockford base 32; ids sort by time",
            "pattern": "^[0-7][0-9A-HJKMNP-TV-Z]{25}$"
        })
    }
}
