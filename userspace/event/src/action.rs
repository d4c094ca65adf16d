use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

crate::named_enum! {
    /// What the site wants done about an event.
    #[derive(
        Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
        JsonSchema,
    )]
    pub enum Action {
        /// Keep the record; alert nobody.
        Log = "log",
        /// To be checked in working hours.
        Ticket = "ticket",
        /// To be checked now.
        Page = "page",
        /// It was injected: follow the steps as an exercise, touch no device, alert nobody.
        Drill = "drill",
    }
}
