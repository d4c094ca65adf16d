use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Action;

/// What an event means and what to do about it.
#[serde_with::skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Advice {
    /// What it means, in one or two sentences.
    pub meaning: Option<String>,
    /// What the vendor's public documentation advises, first step first.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub vendor: Vec<String>,
    /// What to do about it: page, ticket, log or drill, by the site's policy.
    pub action: Option<Action>,
    /// The site's own steps, first step first, then its note.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub site: Vec<String>,
    /// The rule that decided, as `xid:79` or `site:xid:79`, so that a reader can look it up.
    pub rule: Option<String>,
}
