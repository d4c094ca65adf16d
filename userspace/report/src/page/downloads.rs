//! The files in the page, as links that work without script.

use gtrace_profile::text;
use maud::{Markup, html};

use crate::part::{Entry, MANIFEST, Manifest, Packed};
use crate::seal::sha256;

/// Stands where the base64 of the file `at` goes.
pub(super) fn placeholder(at: usize) -> String {
    format!("@@FILE-{at}@@")
}

/// The section. The manifest is file 0.
pub(super) fn section(manifest: &Manifest, packed: &[Packed], json: &[u8]) -> Markup {
    let hash = sha256(json);
    let content = html! {
        p {
            "Right in this page; nothing is fetched. "
            code { "gtrace report open FILE" } " writes them all, unpacked. Packed ones open with "
            code { "zstd -d" } " or " code { "gzip -d" } "."
        }
        div.wide {
            table {
                thead { tr { th { "File" } th { "What" } th.num { "Size" } th { "SHA-256 of the file, unpacked" } } }
                tbody {
                    (row(MANIFEST, "what is in this report, with sizes and hashes", (json.len() as u64, None), &hash, (0, "application/json")))
                    @for (at, part) in (1..).zip(packed) { (packed_row(at, part)) }
                }
            }
        }
        @if !manifest.left_out.is_empty() {
            h3 { "Left out" }
            p {
                "A page holds at most " (text::bytes(super::PAGE_MAX as u64))
                ". These files were larger than the room that was left; "
                code { "gtrace report --format bundle" } " has them."
            }
            ul { @for entry in &manifest.left_out { li { (left_out(entry)) } } }
        }
    };
    super::section("files", &content)
}

fn packed_row(at: usize, part: &Packed) -> Markup {
    let Entry {
        stored_as,
        about,
        bytes,
        stored_bytes,
        sha256,
        ..
    } = &part.entry;
    let stored = (stored_bytes != bytes).then_some(*stored_bytes);
    row(stored_as, about, (*bytes, stored), sha256, (at, part.mime))
}

fn row(
    name: &str,
    about: &str,
    size: (u64, Option<u64>),
    hash: &str,
    (at, mime): (usize, &str),
) -> Markup {
    let (bytes, stored) = size;
    html! {
        tr {
            td { a download=(name) href={ "data:" (mime) ";base64," (placeholder(at)) } { (name) } }
            td { (about) }
            td.num {
                (text::bytes(bytes))
                @if let Some(stored) = stored { br; span.muted { (text::bytes(stored)) " packed" } }
            }
            td.message { code { (hash) } }
        }
    }
}

fn left_out(entry: &Entry) -> Markup {
    html! {
        (entry.name) ", " (text::bytes(entry.bytes)) ", SHA-256 " code.message { (entry.sha256) }
    }
}
