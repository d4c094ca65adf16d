//! What of a host's API a head may read for a person: what the host's own page shows. Nothing is changed by it.

use serde::{Deserialize, Serialize};

/// Largest answer, in bytes.
pub const READ_MAX: usize = 4 << 20;
/// Most of a host at a time.
pub const READS_MAX: usize = 8;
/// How a host's permission for it is called.
pub const PAGE: &str = "page";

/// Longest path with its query, in bytes.
const PATH_MAX: usize = 1024;
/// Routes that are read.
const ROUTES: [&str; 12] = [
    "/page/routes.json",
    "/api/v1/status",
    "/api/v1/health",
    "/api/v1/gpus",
    "/api/v1/events",
    "/api/v1/incidents",
    "/api/v1/cuda",
    "/api/v1/histograms",
    "/api/v1/processes",
    "/api/v1/remote",
    "/api/v1/samples",
    "/api/v1/usage",
];
/// Those of which one by its id is read too.
const WITH_ID: [&str; 2] = ["/api/v1/events/", "/api/v1/incidents/"];

/// What an agent is to read of its daemon.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostRead {
    /// Its number: the answer names it.
    pub id: u64,
    /// Path with its query, one that [`is_readable`].
    pub path: String,
}

/// Whether a path, with its query, is one of those that are read.
pub fn is_readable(path: &str) -> bool {
    let (route, query) = path.split_once('?').unwrap_or((path, ""));
    let is_id = |id: &str| {
        let harmless = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        // `stream` is no id, and its answer does not end.
        !id.is_empty() && id != "stream" && id.chars().all(harmless)
    };
    let known = ROUTES.contains(&route)
        || WITH_ID
            .iter()
            .any(|of| route.strip_prefix(of).is_some_and(is_id));
    let plain = query.bytes().all(|b| b.is_ascii_graphic() && b != b'#');
    known && plain && path.len() <= PATH_MAX
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_page_shows_is_read_and_nothing_else() {
        for path in [
            "/api/v1/status",
            "/page/routes.json",
            "/api/v1/events?limit=1000&until=2026-11-28T00%3A00%3A00Z",
            "/api/v1/events/01KJSZ3M7B",
            "/api/v1/incidents/01KJSZ3M7B-x",
        ] {
            assert!(is_readable(path), "{path}");
        }
        let long = format!("/api/v1/events?{}", "x".repeat(PATH_MAX));
        for path in [
            "",
            "/",
            "/metrics",
            "/api/v1/pause",
            "/api/v1/events/stream",
            "/api/v1/events/",
            "/api/v1/events/../pause",
            "/api/v1/events/a/b",
            "/api/v1/incidents/x/evidence/1",
            "/api/v1/status?a b",
            "/api/v1/status?a\r\nHost: x",
            "/api/v1/status#x",
            "http://127.0.0.1/api/v1/status",
            &long,
        ] {
            assert!(!is_readable(path), "{path}");
        }
    }
}
