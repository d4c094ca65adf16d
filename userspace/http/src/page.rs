//! The page for people at `/`: files that `cargo xtask page` builds of userspace/page, compiled in.

use axum::body::Bytes;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, get};

use super::AppState;

/// What the page may do: load its own files and ask this daemon. Nothing inline, nothing from other hosts, in no frame.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
     base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

pub(super) const INDEX: &[u8] = include_bytes!("../page/index.html");
pub(super) const SCRIPT: &[u8] = include_bytes!("../page/app.js");
pub(super) const STYLE: &[u8] = include_bytes!("../page/app.css");
pub(super) const ICON: &[u8] = include_bytes!("../page/icon.svg");

/// A file of the page.
pub(super) fn asset(kind: &'static str, content: &'static [u8]) -> MethodRouter<AppState> {
    get(move || async move { file(kind, Bytes::from_static(content)) })
}

/// Paths of all routes: the page asks for none that the daemon lacks.
pub(super) async fn routes(State(state): State<AppState>) -> Response {
    file("application/json", Bytes::clone(state.paths))
}

fn file(kind: &'static str, content: Bytes) -> Response {
    let headers = [
        (header::CONTENT_TYPE, kind),
        // Another version of gtrace has other files under the same names.
        (header::CACHE_CONTROL, "no-cache"),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
    ];
    (headers, content).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_document_has_no_script_and_no_style_of_its_own_and_names_no_other_host() {
        let document = std::str::from_utf8(INDEX).unwrap();
        assert!(document.contains("<script defer src=\"/page/app.js\"></script>"));
        assert_eq!(document.matches("<script").count(), 1);
        for forbidden in [
            "<style",
            " style=",
            " onload=",
            " onclick=",
            "http:",
            "https:",
        ] {
            assert!(!document.contains(forbidden), "{forbidden}");
        }
        // The names of XML's namespaces are no addresses.
        let style = std::str::from_utf8(STYLE).unwrap();
        assert!(!style.contains("http") && !style.contains("@import"));
        assert!(std::str::from_utf8(ICON).unwrap().matches("http").count() == 1);
    }

    #[test]
    fn the_policy_allows_nothing_inline_and_nothing_from_elsewhere() {
        for part in POLICY.split("; ") {
            let (_, sources) = part.split_once(' ').unwrap();
            assert!(["'none'", "'self'"].contains(&sources), "{part}");
        }
        assert!(POLICY.starts_with("default-src 'none'"));
    }

    #[test]
    fn the_page_is_small() {
        let size: usize = [INDEX, SCRIPT, STYLE, ICON].map(<[u8]>::len).iter().sum();
        // It has to be at most 300 KiB compressed, and is less as it is.
        assert!(size < 300 << 10, "{size} bytes");
    }
}
