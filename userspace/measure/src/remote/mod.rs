//! What `gtrace bench remote` finds, link by link: how much it measures, the report, and its forms.

pub mod output;
mod plan;
pub mod recorded;
pub mod report;
pub mod text;

pub use plan::Extent;
pub use report::Report;
