//! Parameters of requests.

use axum::extract::{FromRequestParts, Query as Parsed};
use axum::http::request::Parts;
use serde::de::DeserializeOwned;

use super::problem::Problem;

/// Parameters. Where they are not understood the answer is JSON, as that of every other error.
pub(super) struct Query<T>(pub(super) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Query<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        match Parsed::try_from_uri(&parts.uri) {
            Ok(Parsed(parameters)) => Ok(Self(parameters)),
            Err(why) => Err(Problem::bad_request(
                why.body_text(),
                "docs/fleet.md lists the parameters",
            )),
        }
    }
}
