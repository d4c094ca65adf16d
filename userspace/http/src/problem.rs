use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use gtrace_api::ProblemBody;

/// An answer that is an error: a status code and its [`ProblemBody`].
#[derive(Clone, Debug)]
pub(crate) struct Problem {
    pub(crate) status: StatusCode,
    pub(crate) body: ProblemBody,
}

impl Problem {
    pub(crate) fn new(
        status: StatusCode,
        error: impl Into<String>,
        cause: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        let body = ProblemBody {
            error: error.into(),
            cause: cause.into(),
            remedy: remedy.into(),
        };
        Self { status, body }
    }

    pub(crate) fn not_found(
        error: impl Into<String>,
        cause: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self::new(StatusCode::NOT_FOUND, error, cause, remedy)
    }

    pub(crate) fn bad_request(cause: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "bad request", cause, remedy)
    }

    pub(crate) fn unavailable(
        error: impl Into<String>,
        cause: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, error, cause, remedy)
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        (self.status, Json(self.body)).into_response()
    }
}
