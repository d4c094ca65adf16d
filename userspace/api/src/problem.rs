//! Answers that are errors.

use serde::{Deserialize, Serialize};

/// The JSON body of every answer that is an error.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bodies", derive(schemars::JsonSchema))]
pub struct ProblemBody {
    /// What could not be done.
    pub error: String,
    /// Why.
    pub cause: String,
    /// What to do about it.
    pub remedy: String,
}
