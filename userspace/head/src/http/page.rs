//! The page for people at `/`: files that `cargo xtask page` builds of userspace/page, compiled in. The daemon's page has the same parts.

use axum::Router;
use axum::body::Bytes;
use axum::http::header;
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;

use super::App;

/// What the page may do: load its own files and ask this head. Nothing inline, nothing from other hosts, in no frame.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
     base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const DOCUMENT: &[u8] = include_bytes!("../../../http/page/fleet.html");
const SCRIPT: &[u8] = include_bytes!("../../../http/page/fleet.js");
const STYLE: &[u8] = include_bytes!("../../../http/page/fleet.css");
/// The page of one host, which the daemon has too: here it asks through the head.
const HOST_DOCUMENT: &[u8] = include_bytes!("../../../http/page/index.html");
const HOST_SCRIPT: &[u8] = include_bytes!("../../../http/page/app.js");
const HOST_STYLE: &[u8] = include_bytes!("../../../http/page/app.css");
const ICON: &[u8] = include_bytes!("../../../http/page/icon.svg");

/// The files, which need no more than the right to read something.
pub(super) fn routes() -> Router<App> {
    let html = "text/html; charset=utf-8";
    let script = "text/javascript; charset=utf-8";
    let style = "text/css; charset=utf-8";
    let route = |kind, content| get(move || async move { file(kind, content) });
    Router::new()
        .route("/", route(html, DOCUMENT))
        .route("/page/fleet.js", route(script, SCRIPT))
        .route("/page/fleet.css", route(style, STYLE))
        .route("/page/icon.svg", route("image/svg+xml", ICON))
        .route("/hosts/{host}/", route(html, HOST_DOCUMENT))
        .route("/page/app.js", route(script, HOST_SCRIPT))
        .route("/page/app.css", route(style, HOST_STYLE))
}

fn file(kind: &'static str, content: &'static [u8]) -> Response {
    let headers = [
        (header::CONTENT_TYPE, kind),
        // Another version of gtrace has other files under the same names.
        (header::CACHE_CONTROL, "no-cache"),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
    ];
    (headers, Bytes::from_static(content)).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_document_has_nothing_inline_and_the_page_is_small() {
        let document = std::str::from_utf8(DOCUMENT).unwrap();
        assert!(document.contains("<script defer src=\"/page/fleet.js\"></script>"));
        assert_eq!(document.matches("<script").count(), 1);
        for forbidden in ["<style", " style=", " onload=", "http:", "https:"] {
            assert!(!document.contains(forbidden), "{forbidden}");
        }
        let size: usize = [DOCUMENT, SCRIPT, STYLE, ICON]
            .map(<[u8]>::len)
            .iter()
            .sum();
        assert!(size < 200 << 10, "{size} bytes");
    }
}
