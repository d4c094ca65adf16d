//! The page: one file of HTML that needs no network and no script. Every text from outside is escaped by maud.

mod charts;
mod downloads;
mod latency;
mod summary;
mod tables;
mod timeline;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest as _, Sha256};

use crate::part::{self, MANIFEST, Packed, Part};
use crate::seal::{PAGE, Sealed};
use crate::{Material, ReportError, words};

/// A page is at most so long, bytes.
pub const PAGE_MAX: usize = 5 << 20;
/// What the end of the page takes beside the parts: manifest, links, seal.
const END: usize = 64 << 10;

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("script.js");

/// Makes the page.
pub(crate) fn write(material: &Material, redacted: bool) -> Result<Vec<u8>, ReportError> {
    let beginning = beginning(material, redacted).into_string();
    let mut manifest = part::manifest(material, redacted);
    let mut room = PAGE_MAX.saturating_sub(beginning.len() + END);
    let mut packed: Vec<Packed> = Vec::new();
    for part in part::each(material, Part::pack)? {
        let length = part.bytes.len().div_ceil(3) * 4;
        if length <= room {
            room -= length;
            manifest.parts.push(part.entry.clone());
            packed.push(part);
        } else {
            manifest.left_out.push(part.entry);
        }
    }
    let json = manifest.json()?;
    let links = downloads::section(&manifest, &packed, &json).into_string();
    let mut sealed = Sealed::default();
    let mut page = beginning;
    let mut rest = links.as_str();
    let manifest = (MANIFEST, json.as_slice());
    let stored = packed
        .iter()
        .map(|part| (part.entry.stored_as.as_str(), part.bytes.as_slice()));
    for (at, (name, bytes)) in std::iter::once(manifest).chain(stored).enumerate() {
        // The placeholder comes from `downloads`, whose texts are all of this crate.
        if let Some((before, after)) = rest.split_once(&downloads::placeholder(at)) {
            page.push_str(before);
            sealed.push(PAGE, std::mem::take(&mut page).as_bytes());
            sealed.push(name, BASE64_STANDARD.encode(bytes).as_bytes());
            rest = after;
        }
    }
    page.push_str(rest);
    page.push_str(&end(material).into_string());
    sealed.push(PAGE, page.as_bytes());
    Ok(sealed.html())
}

/// What the page may load: nothing, besides the one style and the one script that it has in it.
fn policy() -> String {
    let hash = |text: &str| BASE64_STANDARD.encode(Sha256::digest(text.as_bytes()));
    format!(
        "default-src 'none'; style-src 'sha256-{}'; script-src 'sha256-{}'; base-uri 'none'; form-action 'none'",
        hash(STYLE),
        hash(SCRIPT)
    )
}

/// Sections, in their order: where they are, what they are called.
const SECTIONS: [(&str, &str); 12] = [
    ("do", "What to do now"),
    ("timeline", "Timeline"),
    ("cause", "Cause chain"),
    ("latency", "Latency"),
    ("charts", "Samples"),
    ("calls", "Slow and failed calls"),
    ("processes", "Processes, containers, stacks"),
    ("events", "Events"),
    ("log", "Kernel log"),
    ("versions", "Host and versions"),
    ("gaps", "Losses and gaps"),
    ("files", "Files"),
];

/// Everything before the links to the files. The document is not closed here.
fn beginning(material: &Material, redacted: bool) -> Markup {
    html! {
        (DOCTYPE)
        (PreEscaped("<html lang=\"en\">"))
        head {
            meta charset="utf-8";
            meta http-equiv="Content-Security-Policy" content=(policy());
            meta name="viewport" content="width=device-width,initial-scale=1";
            meta name="generator" content=(material.generator);
            meta name="referrer" content="no-referrer";
            title { (words::title(material)) " — " (material.host) }
            style { (PreEscaped(STYLE)) }
        }
        (PreEscaped("<body>"))
        a.skip href="#do" { "Skip to what to do now" }
        (summary::header(material, redacted))
        (PreEscaped("<main>"))
        nav.contents aria-label="Contents" {
            ul { @for (id, title) in SECTIONS { li { a href={ "#" (id) } { (title) } } } }
        }
        (summary::what_to_do(material))
        (timeline::section(material))
        (summary::causes(material))
        (latency::section(material))
        (charts::section(material))
        (tables::calls(material))
        (tables::snapshot(material))
        (tables::events(material))
        (tables::kernel_log(material))
        (tables::versions(material))
        (tables::gaps(material))
    }
}

fn end(material: &Material) -> Markup {
    html! {
        (PreEscaped("</main>"))
        footer {
            p {
                "Made by " (material.generator) " at " (words::utc(material.made)) " UTC. All times are UTC. \
                 This file loads nothing from a network. Its last lines are a seal that covers every byte: "
                code { "gtrace report verify FILE" } "."
            }
        }
        script { (PreEscaped(SCRIPT)) }
        (PreEscaped("</body></html>\n"))
    }
}

/// A section with its heading.
fn section(id: &str, content: &Markup) -> Markup {
    let title = SECTIONS
        .iter()
        .find(|(of, _)| *of == id)
        .map_or("", |(_, title)| title);
    html! {
        section id=(id) aria-labelledby={ (id) "-title" } {
            h2 id={ (id) "-title" } { (title) }
            (content)
        }
    }
}

/// That a part is not there, and why.
fn not_recorded(material: &Material, what: &str) -> Markup {
    let why = material
        .why_missing(what)
        .unwrap_or("nothing of this kind was seen in this time");
    html! { p.muted { "Not recorded: " (why) "." } }
}
