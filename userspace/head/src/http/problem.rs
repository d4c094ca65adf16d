//! Answers that are errors.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use gtrace_api::ProblemBody;

use crate::intake::NotTaken;
use crate::readers::Unread;

#[derive(Clone, Debug)]
pub(super) struct Problem(pub(super) StatusCode, ProblemBody);

impl Problem {
    pub(super) fn new(status: StatusCode, error: &str, cause: impl ToString, remedy: &str) -> Self {
        let body = ProblemBody {
            error: error.to_owned(),
            cause: cause.to_string(),
            remedy: remedy.to_owned(),
        };
        Self(status, body)
    }

    pub(super) fn cause(&self) -> &str {
        &self.1.cause
    }

    pub(super) fn unavailable(error: &str, cause: impl ToString) -> Self {
        let remedy = "see the head's log; agents try again by themselves";
        Self::new(StatusCode::SERVICE_UNAVAILABLE, error, cause, remedy)
    }

    /// What was handed over and not taken.
    pub(super) fn not_taken(error: &str, why: NotTaken) -> Self {
        match why {
            NotTaken::Bad { cause, remedy } => Self::bad_request(cause, remedy),
            NotTaken::Unavailable(cause) => Self::unavailable(error, cause),
        }
    }

    pub(super) fn bad_request(cause: impl ToString, remedy: &str) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "bad request", cause, remedy)
    }

    pub(super) fn unauthorized(cause: &str) -> Self {
        let remedy = "enroll the host with `gtrace agent enroll` and a new join token";
        Self::new(StatusCode::UNAUTHORIZED, "not let in", cause, remedy)
    }

    pub(super) fn forbidden(error: &str, cause: impl ToString, remedy: &str) -> Self {
        Self::new(StatusCode::FORBIDDEN, error, cause, remedy)
    }

    pub(super) fn conflict(error: &str, cause: impl ToString, remedy: &str) -> Self {
        Self::new(StatusCode::CONFLICT, error, cause, remedy)
    }

    pub(super) fn too_many(error: &str, cause: impl ToString, remedy: &str) -> Self {
        Self::new(StatusCode::TOO_MANY_REQUESTS, error, cause, remedy)
    }

    pub(super) fn not_found(cause: impl ToString, remedy: &str) -> Self {
        Self::new(StatusCode::NOT_FOUND, "not found", cause, remedy)
    }

    pub(super) fn no_host(name: &str) -> Self {
        let cause = format!("no host `{name}` is in the fleet");
        Self::not_found(cause, "`gtrace fleet hosts` lists them")
    }
}

impl From<Unread> for Problem {
    fn from(Unread(cause): Unread) -> Self {
        Self::unavailable("cannot read the fleet's database", cause)
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        (self.0, Json(self.1)).into_response()
    }
}
