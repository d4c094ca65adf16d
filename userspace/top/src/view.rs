use gtrace_api::{CallStats, SourceState, SourceStatus};
use gtrace_devices::GpuInfo;
use gtrace_event::{Event, Severity, Timestamp};
use jiff::tz::TimeZone;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::Line;
use ratatui::widgets::{Block, Clear, List, ListItem, ListState, Paragraph};

use super::counters::Counters;
use super::help;
use super::lines::{fit, lines};
use super::meters;
use super::model::{Model, Pane, Typing};
use super::process_view::{draw_process_details, draw_processes, process_title};
use gtrace_render::{self as render, bytes, clean, duration};

/// Below this size of the body only GPUs, host, events and one pane more are shown.
const WIDE: (u16, u16) = (100, 30);
/// Below this one only one pane.
const SMALL: (u16, u16) = (70, 16);

/// Draws everything.
pub fn draw(frame: &mut Frame<'_>, model: &mut Model, now: Timestamp, zone: &TimeZone) {
    let rows = Layout::vertical([
        Constraint::Length(1),
        Constraint::Min(1),
        Constraint::Length(1),
    ]);
    let [head, body, foot] = rows.areas(frame.area());
    frame.render_widget(headline(model), head);
    frame.render_widget(footline(model), foot);
    let text = render::Style {
        zone: zone.clone(),
        ..render::Style::plain()
    };
    for (pane, area) in places(model, body) {
        draw_pane(frame, model, pane, area, &text);
    }
    if model.details {
        draw_details(frame, model, body, &text, now);
    }
    if model.help {
        help::draw(frame, body);
    }
}

/// Which panes are shown, and where.
fn places(model: &Model, body: Rect) -> Vec<(Pane, Rect)> {
    if model.zoomed || body.width < SMALL.0 || body.height < SMALL.1 {
        return vec![(model.pane, body)];
    }
    let gpus = model.readings.as_ref().map_or(0, |r| r.gpus.len());
    let gpus = u16::try_from(gpus).unwrap_or(u16::MAX);
    if body.width < WIDE.0 || body.height < WIDE.1 {
        let meters = gpus
            .saturating_mul(2)
            .clamp(4, body.height / 3)
            .saturating_add(2);
        let rows = [
            Constraint::Length(meters),
            Constraint::Fill(1),
            Constraint::Fill(1),
        ];
        let [meters, middle, events] = Layout::vertical(rows).areas(body);
        let wide = if gpus == 0 { 30 } else { 60 };
        let columns = [Constraint::Percentage(wide), Constraint::Fill(1)];
        let [gpus, host] = Layout::horizontal(columns).areas(meters);
        // What has no place of its own takes that of the processes while it is in focus.
        let middle_pane = match model.pane {
            pane @ (Pane::Counters | Pane::Sources | Pane::Calls) => pane,
            _ => Pane::Processes,
        };
        return vec![
            (Pane::Gpus, gpus),
            (Pane::Host, host),
            (middle_pane, middle),
            (Pane::Events, events),
        ];
    }
    let meters = gpus.saturating_mul(2).clamp(7, body.height / 3);
    let rows = [
        Constraint::Length(meters.saturating_add(2)),
        Constraint::Fill(4),
        Constraint::Fill(3),
        Constraint::Fill(3),
    ];
    let [meters, upper, middle, lower] = Layout::vertical(rows).areas(body);
    let columns = [Constraint::Percentage(64), Constraint::Fill(1)];
    let [gpus, host] = Layout::horizontal(columns).areas(meters);
    let [events, sources] = Layout::horizontal(columns).areas(upper);
    let [calls, counters] = Layout::horizontal(columns).areas(lower);
    vec![
        (Pane::Gpus, gpus),
        (Pane::Host, host),
        (Pane::Events, events),
        (Pane::Sources, sources),
        (Pane::Processes, middle),
        (Pane::Calls, calls),
        (Pane::Counters, counters),
    ]
}

fn headline(model: &Model) -> Line<'static> {
    let mut text = " gtrace top".to_owned();
    // What needs somebody comes first: the line may be cut.
    if model.down.is_some() {
        text.push_str("  NO DAEMON, values are old");
    }
    if let Some(readings) = &model.readings {
        let status = &readings.status;
        if status.paused {
            text.push_str("  PAUSED");
        }
        if status.store_problem.is_some() {
            text.push_str("  STORE PROBLEM");
        }
        text.push_str(&format!(
            "  {}  gtrace {}",
            clean(&status.host),
            clean(&status.version)
        ));
        let open = status.events.iter().filter(|(_, n)| **n > 0);
        let open: Vec<String> = open
            .map(|(name, n)| format!("{n} {}", clean(name)))
            .collect();
        let none = if open.is_empty() {
            "nothing open"
        } else {
            "open:"
        };
        text.push_str(&format!("  {none} {}", open.join(", ")));
        let apart = status.open_apart();
        if !apart.is_empty() {
            text.push_str(&format!("  (besides: {})", clean(&apart.join(", "))));
        }
        if let Some(problem) = &status.store_problem {
            text.push_str(&format!("  {}", clean(problem)));
        }
    }
    if let Some(why) = &model.down {
        let stale = format!("{text}  {}", clean(why));
        return Line::styled(stale, Style::new().fg(Color::White).bg(Color::Red));
    }
    Line::styled(text, Style::new().add_modifier(Modifier::REVERSED))
}

fn footline(model: &Model) -> Line<'static> {
    let text = match (&model.typing, &model.note, &model.held) {
        (Some(Typing::Filter), ..) => format!(
            " filter: {}_  (Enter keeps, Esc clears)",
            clean(&model.filter)
        ),
        (Some(Typing::ProcessFilter), ..) => format!(
            " processes with: {}_  (Enter keeps, Esc clears)",
            clean(&model.process_filter)
        ),
        (Some(Typing::Note { id, text }), ..) => {
            format!(
                " acknowledge {id}, note: {}_  (Enter sends, Esc leaves)",
                clean(text)
            )
        }
        (None, Some(note), _) => format!(" {}", clean(note)),
        (None, None, Some(held)) => {
            format!(" PAUSED, {} changes wait; p goes on", held.len())
        }
        (None, None, None) => {
            " ? help  q quit  tab pane  z zoom  enter details  / filter  s sort  a ack".to_owned()
        }
    };
    Line::raw(text)
}

fn draw_pane(
    frame: &mut Frame<'_>,
    model: &mut Model,
    pane: Pane,
    area: Rect,
    text: &render::Style,
) {
    let focused = model.pane == pane;
    let style = if focused {
        Style::new().fg(Color::Cyan)
    } else {
        Style::new()
    };
    let mut title = format!(" {} ", pane.name());
    if pane == Pane::Events && !model.filter.is_empty() {
        title = format!(" Events with `{}` ", clean(&model.filter));
    }
    if pane == Pane::Processes {
        title = process_title(model);
    }
    let block = Block::bordered().title(title).border_style(style);
    if pane == Pane::Events {
        draw_events(frame, model, area, block, text);
        return;
    }
    if pane == Pane::Processes {
        draw_processes(frame, model, area, block);
        return;
    }
    let inner = block.inner(area);
    let (width, height) = (usize::from(inner.width), usize::from(inner.height));
    let lines: Vec<Line<'_>> = match (&model.readings, pane) {
        (None, _) => vec![Line::raw("waiting for the daemon")],
        (Some(r), Pane::Counters) => lines(counter_lines(&r.counters)),
        (Some(r), Pane::Sources) => source_lines(&r.status.sources),
        (Some(r), Pane::Gpus) => model.meters.gpu_lines(&r.gpus, width, height),
        (Some(r), Pane::Host) => model.meters.host_lines(r, width),
        (Some(r), _) => lines(call_lines(&r.calls)),
    };
    let mut scroll = 0;
    if focused {
        let room = usize::from(area.height.saturating_sub(2));
        model.scroll = model.scroll.min(lines.len().saturating_sub(room));
        scroll = u16::try_from(model.scroll).unwrap_or(u16::MAX);
    }
    frame.render_widget(Paragraph::new(lines).block(block).scroll((scroll, 0)), area);
}

fn draw_events(
    frame: &mut Frame<'_>,
    model: &Model,
    area: Rect,
    block: Block<'_>,
    text: &render::Style,
) {
    let shown = model.shown();
    let items: Vec<ListItem<'_>> = shown
        .iter()
        .map(|event| {
            let acked = if event.acks.is_empty() { " " } else { "✓" };
            let line = format!("{acked} {}", render::line(event, text));
            ListItem::new(line).style(severity_style(event))
        })
        .collect();
    let mut state = ListState::default();
    if !shown.is_empty() {
        state.select(Some(model.row(&shown)));
    }
    let selected = Style::new().add_modifier(Modifier::REVERSED);
    frame.render_stateful_widget(
        List::new(items).block(block).highlight_style(selected),
        area,
        &mut state,
    );
}

fn severity_style(event: &Event) -> Style {
    match event.severity {
        Severity::Info => Style::new(),
        Severity::Warning => Style::new().fg(Color::Yellow),
        Severity::Critical => Style::new().fg(Color::Red),
        Severity::Fatal => Style::new().fg(Color::Red).add_modifier(Modifier::BOLD),
    }
}

fn draw_details(
    frame: &mut Frame<'_>,
    model: &Model,
    body: Rect,
    text: &render::Style,
    now: Timestamp,
) {
    if model.pane == Pane::Processes {
        return draw_process_details(frame, model, body);
    }
    let Some(event) = model.selected() else {
        return;
    };
    let inner = usize::from(body.width.saturating_sub(2));
    let style = render::Style {
        width: Some(inner),
        ..text.clone()
    };
    let block = Block::bordered().title(" Details (enter closes) ");
    let details = Paragraph::new(render::event(event, &style, now)).block(block);
    let rows = Layout::vertical([Constraint::Min(3), Constraint::Percentage(55)]);
    let [_, area] = rows.areas(body);
    frame.render_widget(Clear, area);
    frame.render_widget(details, area);
}

fn source_lines(sources: &[SourceStatus]) -> Vec<Line<'static>> {
    let mut lines = Vec::new();
    for source in sources {
        let style = match source.state {
            SourceState::Active => Style::new().fg(Color::Green),
            SourceState::Degraded => Style::new().fg(Color::Yellow),
            SourceState::Failed => Style::new().fg(Color::Red),
            SourceState::Absent | SourceState::Off => Style::new().fg(Color::DarkGray),
        };
        let (name, state) = (clean(&source.name), render::source_state(source.state));
        lines.push(Line::styled(
            format!("{name:<26} {state:<8} {:>9}", source.records),
            style,
        ));
        if source.lost > 0 {
            let lost = format!("  LOST {} records", source.lost);
            lines.push(Line::styled(lost, Style::new().fg(Color::Red)));
        }
        let unwell = matches!(source.state, SourceState::Degraded | SourceState::Failed);
        if let (true, Some(reason)) = (unwell, &source.reason) {
            lines.push(Line::raw(format!("  {}", clean(reason))));
        }
    }
    lines
}

/// What marks a count of drills, forged lines and lines that nobody confirmed.
fn apart(provenance: &str) -> String {
    match provenance {
        "" | "kernel" => String::new(),
        other => format!(" {}", clean(other)),
    }
}

/// Events by kind, Xids by device and losses.
pub(super) fn counter_lines(counters: &Counters) -> Vec<String> {
    let mut lines = Vec::new();
    for ((kind, provenance), count) in counters.sums("events", ["kind", "provenance"]) {
        let label = format!("{}{}", clean(&kind), apart(&provenance));
        lines.push(format!("{label:<26} {count:>10}"));
    }
    for (family, name) in [("xid", "Xid"), ("sxid", "SXid")] {
        for sample in counters.largest(family) {
            let device = clean(sample.label("gpu"));
            let label = format!("{name} {} {device}", clean(sample.label("xid")));
            let label = label + &apart(sample.label("provenance"));
            lines.push(format!("{label:<26} {:>10}", sample.value));
        }
    }
    for sample in counters
        .largest("lost")
        .into_iter()
        .filter(|sample| sample.value > 0.0)
    {
        let label = format!(
            "LOST {} {}",
            clean(sample.label("source")),
            clean(sample.label("what"))
        );
        lines.push(format!("{label:<26} {:>10}", sample.value));
    }
    if lines.is_empty() {
        lines.push("nothing counted yet".to_owned());
    }
    lines
}

/// Each GPU with its newest sample.
pub(super) fn gpu_lines(gpus: &[GpuInfo]) -> Vec<String> {
    if gpus.is_empty() {
        return vec!["no GPU seen".to_owned()];
    }
    let mut lines = Vec::new();
    for gpu in gpus {
        let name = gpu.name.as_deref().map(clean).unwrap_or_default();
        let index = gpu.index.map(|i| format!("{i}: ")).unwrap_or_default();
        let asleep = if gpu.suspended { "  asleep" } else { "" };
        lines.push(format!("{index}{}  {name}{asleep}", gpu.pci));
        let Some(sample) = &gpu.sample else {
            let why = gpu
                .nvml_error
                .as_deref()
                .map_or_else(|| "no sample".to_owned(), clean);
            lines.push(format!("   {why}"));
            continue;
        };
        let mut parts = Vec::new();
        parts.extend(sample.utilization.gpu.map(|u| format!("{u:>3} %")));
        if let (Some(used), Some(total)) = (sample.memory.used, sample.memory.total) {
            parts.push(format!("{} of {}", bytes(used), bytes(total)));
        }
        parts.extend(sample.temperature.gpu.map(|t| format!("{t} °C")));
        parts.extend(sample.power.draw_w.map(|w| format!("{w:.0} W")));
        parts.extend(sample.clocks.sm.map(|mhz| format!("{mhz} MHz")));
        parts.extend(meters::division(sample));
        parts.extend(meters::license(sample).map(str::to_owned));
        lines.push(format!("   {}", parts.join("  ")));
        let instances = meters::instance_lines(sample).into_iter();
        lines.extend(instances.map(|text| format!("   {text}")));
    }
    lines
}

/// Driver calls, those first that took the most time.
pub(super) fn call_lines(calls: &[CallStats]) -> Vec<String> {
    if calls.is_empty() {
        return vec!["no driver calls seen".to_owned()];
    }
    let mut sorted: Vec<&CallStats> = calls.iter().collect();
    sorted.sort_by_key(|call| std::cmp::Reverse(call.total_ns));
    let mut lines = vec![format!(
        "{:<14} {:<22} {:>8} {:>4} {:>6} {:>6} {:>6} {:>6}",
        "PROCESS", "CALL", "COUNT", "ERR", "p50", "p90", "p99", "MAX"
    )];
    lines.extend(sorted.into_iter().map(|call| {
        let process = fit(&format!("{} {}", call.pid, clean(&call.comm)), 14);
        let op = fit(&clean(&call.label()), 22);
        format!(
            "{process:<14} {op:<22} {:>8} {:>4} {:>6} {:>6} {:>6} {:>6}",
            call.count,
            call.errors + call.failures,
            duration(call.p50_ns),
            duration(call.p90_ns),
            duration(call.p99_ns),
            duration(call.max_ns),
        )
    }));
    lines
}

#[cfg(test)]
#[path = "view_tests.rs"]
mod tests;
