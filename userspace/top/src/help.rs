//! What the keys do, over the view.

use ratatui::Frame;
use ratatui::layout::Direction::{self, Horizontal, Vertical};
use ratatui::layout::{Constraint, Flex, Layout, Rect};
use ratatui::widgets::{Block, Clear, Paragraph};

const TEXT: &str = "\
? h            this help
q  Ctrl-C      quit
Tab  S-Tab     next pane, previous pane
z              the pane alone, and back
arrows  j k    move     PgUp PgDn Home End
Enter          details of the event or process
Esc            close details; clear the filter
/              filter events, in Processes processes
s              what processes are sorted by
a              acknowledge the event, with a note
p              hold the view still, and go on

GPU  busy       MEM  memory in use
The small blocks are the last samples.
PSI: share of the last 10 s for which some
tasks waited for CPU, memory, I/O";

/// Draws it in the middle.
pub(super) fn draw(frame: &mut Frame<'_>, body: Rect) {
    let rows = u16::try_from(TEXT.lines().count()).unwrap_or(u16::MAX);
    let columns = TEXT.lines().map(|line| line.chars().count()).max();
    let columns = u16::try_from(columns.unwrap_or(0)).unwrap_or(u16::MAX);
    let middle = |direction: Direction, size: u16| {
        Layout::default()
            .constraints([Constraint::Max(size.saturating_add(2))])
            .direction(direction)
            .flex(Flex::Center)
    };
    let [across] = middle(Horizontal, columns).areas(body);
    let [area] = middle(Vertical, rows).areas(across);
    frame.render_widget(Clear, area);
    let block = Block::bordered().title(" Keys (? closes) ");
    frame.render_widget(Paragraph::new(TEXT).block(block), area);
}
