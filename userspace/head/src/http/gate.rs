//! What people may do: all through the Unix socket, read on a TCP address of loopback.

use std::net::IpAddr;

use axum::extract::Request;
use axum::http::{Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};

use super::problem::Problem;

/// How a request came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// The Unix socket: whom its file mode lets in administers.
    Unix,
    /// TCP: people read, and agents have credentials.
    Tcp,
}

/// Lets people in.
pub(super) async fn people(request: Request, next: Next) -> Response {
    let way = request.extensions().get::<Way>().copied();
    if way == Some(Way::Unix) {
        return next.run(request).await;
    }
    // A page of another site that a browser shows may send requests to loopback, under its own name.
    let host = request
        .headers()
        .get(header::HOST)
        .and_then(|host| host.to_str().ok())
        .or_else(|| request.uri().authority().map(|a| a.as_str()));
    if !host.is_some_and(is_loopback) {
        let cause = "the header Host does not name this machine's loopback";
        let remedy = "use 127.0.0.1 or localhost";
        return Problem::new(StatusCode::FORBIDDEN, "not let in", cause, remedy).into_response();
    }
    if request.method() != Method::GET {
        let remedy = "use the head's Unix socket (--socket)";
        return Problem::new(
            StatusCode::FORBIDDEN,
            "not allowed",
            "TCP only reads",
            remedy,
        )
        .into_response();
    }
    next.run(request).await
}

fn is_loopback(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or(rest),
        None => host.rsplit_once(':').map_or(host, |(name, _)| name),
    };
    name.eq_ignore_ascii_case("localhost")
        || name
            .parse::<IpAddr>()
            .is_ok_and(|address| address.is_loopback())
}
