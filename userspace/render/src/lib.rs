//! What people read on a terminal: events, states, and tables of calls. No I/O but the question whether
//! standard output is a terminal.

pub mod cuda_calls;
pub mod daemon_status;
pub mod driver_calls;
mod events;
mod health;
mod incidents;
mod markdown;

pub use events::{
    ColorChoice, EventWhole, Style, ack, ago, amendment, code_name, event, event_whole, gpu, line,
    pci_device, process,
};
pub use health::{health, health_line, maintenance, subject_health};
pub use incidents::{incident, incident_line};
pub use markdown::markdown;

pub use gtrace_api::text::clean;
pub use gtrace_api::{title, title_of};
pub use gtrace_profile::text::{bytes, duration};

/// The first rows of a table; `limit` 0 shows all.
fn first<T>(rows: &[T], limit: usize) -> &[T] {
    match limit {
        0 => rows,
        limit => &rows[..limit.min(rows.len())],
    }
}

/// How wide a column of a table is.
fn width<T>(rows: &[T], title: &str, column: impl Fn(&T) -> String) -> usize {
    let widths = rows.iter().map(|row| column(row).chars().count());
    widths.max().unwrap_or(0).max(title.len())
}

/// Says that a table has more rows than these.
fn more(text: &mut String, shown: usize, all: usize) {
    if shown < all {
        text.push_str(&format!("{} more rows: --limit 0 shows all\n", all - shown));
    }
}

/// The name of a source's state.
pub fn source_state(state: gtrace_api::SourceState) -> &'static str {
    use gtrace_api::SourceState;
    match state {
        SourceState::Failed => "FAILED",
        other => other.name(),
    }
}
