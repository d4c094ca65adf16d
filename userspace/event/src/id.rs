use std::fmt;
use std::str::FromStr;

use ulid::Ulid;

/// A text that is no id.
#[derive(Debug, thiserror::Error)]
#[error("`{text}` is no {of} id: an id is 26 letters and digits, as `gtrace {of}s` prints it")]
pub struct IdError {
    /// What it should identify.
    of: &'static str,
    text: String,
}

macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $of:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Ulid);

        impl $name {
            /// A new id of what happened `unix_ms` milliseconds after the Unix epoch.
            pub fn new(unix_ms: u64) -> Self {
                let random = Ulid::generate().random();
                Self(Ulid::from_parts(unix_ms, random))
            }

            /// The milliseconds since the Unix epoch that the id was made with.
            pub fn unix_ms(self) -> u64 {
                self.0.timestamp_ms()
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.0, f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.0, f)
            }
        }

        impl FromStr for $name {
            type Err = IdError;

            fn from_str(s: &str) -> Result<Self, Self::Err> {
                Ulid::from_string(s).map(Self).map_err(|_| IdError {
                    of: $of,
                    text: s.to_owned(),
                })
            }
        }

        text_in_json!(
            $name,
            "ULID: 26 characters of Crockford base 32; ids sort by time",
            "^[0-7][0-9A-HJKMNP-TV-Z]{25}$"
        );
    };
}

id! {
    /// Identifies an event for ever: a ULID (48 bits of Unix milliseconds, 80 random bits), so ids
    /// sort by time.
    EventId, "event"
}

id! {
    /// Identifies an incident for ever; a ULID, as [`EventId`].
    IncidentId, "incident"
}

id! {
    /// Identifies a record of health for ever; a ULID, as [`EventId`].
    HealthId, "health record"
}
