//! Lines of text on the screen.

use ratatui::text::Line;

/// The beginning of a text.
pub(super) fn fit(text: &str, width: usize) -> String {
    text.chars().take(width).collect()
}

/// A line each.
pub(super) fn lines(text: Vec<String>) -> Vec<Line<'static>> {
    text.into_iter().map(Line::raw).collect()
}
