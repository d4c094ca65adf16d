//! The pane of processes.

use gtrace_api::{Coverage, CudaCalls, CudaReport, CudaState};
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Modifier, Style};
use ratatui::text::Line;
use ratatui::widgets::{Block, Clear, List, ListItem, ListState, Paragraph};

use super::lines::{fit, lines};
use super::model::{Model, Pane};
use super::process_lines;
use gtrace_render::{bytes, clean, duration};

pub(super) fn process_title(model: &Model) -> String {
    let mut title = format!(" Processes by {}", model.sort.name());
    if !model.process_filter.is_empty() {
        title.push_str(&format!(" with `{}`", clean(&model.process_filter)));
    }
    let state = model.readings.as_ref().map(|readings| readings.cuda.state);
    match state {
        Some(CudaState::Off) => {
            title.push_str(", CUDA calls are not counted: gtrace run --cuda-api")
        }
        Some(CudaState::Failed) => title.push_str(", CUDA CALLS ARE NOT COUNTED"),
        Some(CudaState::Paused) => title.push_str(", CUDA calls are paused"),
        Some(CudaState::Active) | None => {}
    }
    let shown = model.shown_processes();
    let coverage = shown
        .iter()
        .filter_map(|one| Some(one.last().api?.coverage));
    if let Some(legend) = process_lines::legend(coverage.max().unwrap_or_default()) {
        title.push_str(&format!(", {legend}"));
    }
    title + " "
}

pub(super) fn draw_processes(frame: &mut Frame<'_>, model: &Model, area: Rect, block: Block<'_>) {
    let shown = model.shown_processes();
    if shown.is_empty() {
        let text = match model.readings {
            None => "waiting for the daemon",
            Some(_) => "no process uses a GPU",
        };
        frame.render_widget(Paragraph::new(text).block(block), area);
        return;
    }
    let inner = block.inner(area);
    frame.render_widget(block, area);
    let [head, rows] = Layout::vertical([Constraint::Length(1), Constraint::Min(0)]).areas(inner);
    let bold = Style::new().add_modifier(Modifier::BOLD);
    frame.render_widget(Line::styled(process_lines::HEAD, bold), head);
    let items: Vec<ListItem<'_>> = shown
        .iter()
        .map(|one| ListItem::new(process_lines::line(one)))
        .collect();
    let mut state = ListState::default();
    if model.pane == Pane::Processes {
        state.select(Some(model.process_row(&shown)));
    }
    let selected = Style::new().add_modifier(Modifier::REVERSED);
    let list = List::new(items).highlight_style(selected);
    frame.render_stateful_widget(list, rows, &mut state);
}

/// The functions that a process calls, those first that take most time.
fn functions(cuda: &CudaReport, pid: u32) -> Vec<String> {
    let mut rows: Vec<_> = cuda
        .calls
        .iter()
        .filter(|row| row.pid == Some(pid))
        .collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.total_ns));
    let mut lines = Vec::new();
    if !rows.is_empty() {
        lines.push(String::new());
        lines.push(format!(
            "{:<32} {:>6} {:>10} {:>7} {:>7} {:>7} {:>7} {:>9}",
            "FUNCTION", "TIMED", "CALLS", "ERR", "p50", "p99", "MAX", "BYTES"
        ));
    }
    let timed = |row: &CudaCalls| {
        let mut functions = cuda.cost.functions.iter();
        match functions.find(|cost| cost.function == row.function) {
            Some(cost) if cost.detached => "unseen".to_owned(),
            Some(cost) if cost.time_every > 1 => format!("1/{}", cost.time_every),
            _ => "all".to_owned(),
        }
    };
    lines.extend(rows.into_iter().map(|row| {
        let bound = match row.coverage {
            Coverage::All => Coverage::All,
            Coverage::Sampled | Coverage::Partial => Coverage::Partial,
        };
        let lower = |value: &str| process_lines::at_least(bound, value);
        let time = |ns: u64| process_lines::estimated(row.coverage, &duration(ns));
        format!(
            "{:<32} {:>6} {:>10} {:>7} {:>7} {:>7} {:>7} {:>9}",
            fit(&clean(&row.function), 32),
            timed(row),
            process_lines::at_least(row.coverage, &row.calls.to_string()),
            lower(&row.errors.to_string()),
            time(row.p50_ns),
            time(row.p99_ns),
            lower(&duration(row.max_ns)),
            lower(&bytes(row.bytes)),
        )
    }));
    lines
}

pub(super) fn draw_process_details(frame: &mut Frame<'_>, model: &Model, body: Rect) {
    let Some(process) = model.selected_process() else {
        return;
    };
    let inner = usize::from(body.width.saturating_sub(2));
    let mut text = process_lines::details(process, inner);
    if let Some(readings) = &model.readings {
        text.extend(functions(&readings.cuda, process.now.pid));
    }
    let block = Block::bordered().title(" Process (enter closes) ");
    let rows = Layout::vertical([Constraint::Min(3), Constraint::Percentage(65)]);
    let [_, area] = rows.areas(body);
    frame.render_widget(Clear, area);
    frame.render_widget(Paragraph::new(lines(text)).block(block), area);
}
