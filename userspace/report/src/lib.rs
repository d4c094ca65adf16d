//! One file that explains an incident to a person and can be attached to a postmortem: a page of HTML that needs no
//! network and no script, or a bundle of the same parts.
//!
//! [`Material`] is what somebody gathered; [`Report::html`] and [`Report::bundle`] make the file, [`verify()`] checks one,
//! [`sign`] signs it. Nothing here does I/O. `docs/reports.md` describes the file so that a third party can check it.

#![forbid(unsafe_code)]

mod bundle;
mod chain;
mod files;
mod lane;
mod material;
mod page;
mod part;
mod postmortem;
mod redact;
mod seal;
mod shift;
pub mod sign;
mod trace;
mod verify;
mod words;

pub use chain::Summary;
pub use material::{
    Call, CallLayer, ChainRecord, ChainSegment, Fact, LatencyRow, LogRecord, Loss, Material,
    Series, SnapshotPart, Window, missing,
};
pub use page::PAGE_MAX;
pub use part::{Entry, MANIFEST, Manifest};
pub use verify::{Finding, Verified, verify};

/// A report could not be made.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// A part could not be packed.
    #[error("a part of the report cannot be written: {0}")]
    Io(#[from] std::io::Error),
    /// A value has no form in JSON, which is a bug.
    #[error("a part of the report has no form in JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// The histograms have no form in a log.
    #[error("the latency histograms cannot be written: {0}")]
    Histograms(#[from] gtrace_profile::hlog::WriteError),
}

/// A report that is to be written.
#[derive(Debug)]
pub struct Report {
    material: Material,
    redacted: bool,
}

impl Report {
    /// Of this material, with all its names.
    pub fn new(material: Material) -> Self {
        Self {
            material,
            redacted: false,
        }
    }

    /// Of this material, with pseudonyms for names of people and places; also the pseudonyms by original.
    ///
    /// # Errors
    ///
    /// [`ReportError::Json`].
    pub fn redacted(
        material: &Material,
    ) -> Result<(Self, std::collections::BTreeMap<String, String>), ReportError> {
        let redact::Redacted {
            material,
            pseudonyms,
        } = redact::redact(material)?;
        let redacted = true;
        Ok((Self { material, redacted }, pseudonyms))
    }

    /// Name of the file, without its ending.
    pub fn file_stem(&self) -> String {
        self.material.file_stem()
    }

    /// The postmortem in it: filled in as far as the evidence goes, Markdown.
    pub fn postmortem(&self) -> String {
        postmortem::write(&self.material)
    }

    /// The page, at most [`PAGE_MAX`] bytes: parts that it has no room for are named in it and left out.
    pub fn html(&self) -> Result<Vec<u8>, ReportError> {
        page::write(&self.material, self.redacted)
    }

    /// The bundle: every part in a `.tar.zst`.
    pub fn bundle(&self) -> Result<Vec<u8>, ReportError> {
        bundle::write(&self.material, self.redacted)
    }
}
