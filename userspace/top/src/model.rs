//! What the view shows and how keys change it; knows no terminal.

use std::collections::VecDeque;

use gtrace_event::{Event, EventId};
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind};

use super::meters::Meters;
use super::processes::{Followed, Processes, Sort};
use super::update::{Readings, Update};
use gtrace_render as render;

/// Most events kept.
const MAX_EVENTS: usize = 1000;
/// Rows that PageUp and PageDown go.
const PAGE: usize = 10;

gtrace_event::shown_enum! {
    /// A part of the view.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub(super) enum Pane {
        #[default]
        Events = "Events",
        Sources = "Sources",
        Counters = "Counters",
        Gpus = "GPUs",
        Host = "Host",
        Processes = "Processes",
        Calls = "Driver calls",
    }
}

impl Pane {
    fn step(self, by: usize) -> Self {
        let at = Self::ALL.iter().position(|pane| *pane == self).unwrap_or(0);
        Self::ALL[(at + by) % Self::ALL.len()]
    }
}

/// What the user asks to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wish {
    /// Acknowledge an event.
    Ack {
        /// Which.
        id: EventId,
        /// What the user says to it.
        note: String,
    },
}

/// A line that is being typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Typing {
    /// The filter of the event list.
    Filter,
    /// That of the processes.
    ProcessFilter,
    /// The note of an acknowledgement.
    Note { id: EventId, text: String },
}

/// Everything that the view shows.
#[derive(Debug, Default)]
pub struct Model {
    /// Oldest first.
    events: VecDeque<Event>,
    pub(super) readings: Option<Box<Readings>>,
    /// Why there is nothing new, while the daemon does not answer.
    pub(super) down: Option<String>,
    pub(super) pane: Pane,
    /// The selected event; the newest if none is.
    selected: Option<EventId>,
    pub(super) details: bool,
    pub(super) help: bool,
    pub(super) filter: String,
    pub(super) typing: Option<Typing>,
    pub(super) processes: Processes,
    pub(super) meters: Meters,
    pub(super) sort: Sort,
    pub(super) process_filter: String,
    /// The selected process: number and start; the first if none is.
    process: Option<(u32, u64)>,
    /// Whether the pane in focus has the screen to itself.
    pub(super) zoomed: bool,
    /// First line shown of the pane in focus, the events aside.
    pub(super) scroll: usize,
    /// While the view stands still: what came since.
    pub(super) held: Option<Vec<Update>>,
    pub(super) note: Option<String>,
}

impl Model {
    /// With processes in this order, those that fit the filter.
    pub fn of(sort: Sort, filter: &str) -> Self {
        Self {
            sort,
            process_filter: filter.to_owned(),
            ..Self::default()
        }
    }

    /// Processes that fit the filter, in order.
    pub(super) fn shown_processes(&self) -> Vec<&Followed> {
        self.processes.shown(&self.process_filter, self.sort)
    }

    /// Row of the selected process among the shown ones.
    pub(super) fn process_row(&self, shown: &[&Followed]) -> usize {
        let of = |one: &&Followed| Some((one.now.pid, one.now.started)) == self.process;
        shown.iter().position(of).unwrap_or(0)
    }

    /// The process that details are shown of.
    pub(super) fn selected_process(&self) -> Option<&Followed> {
        let shown = self.shown_processes();
        shown.get(self.process_row(&shown)).copied()
    }

    fn go_processes(&mut self, to: impl Fn(usize) -> usize) {
        let shown = self.shown_processes();
        let row = to(self.process_row(&shown)).min(shown.len().saturating_sub(1));
        let one = shown.get(row).map(|one| (one.now.pid, one.now.started));
        self.process = one;
    }

    /// Takes what the daemon said.
    pub fn apply(&mut self, update: Update) {
        match (&mut self.held, update) {
            (_, Update::Note(note)) => self.note = Some(note),
            (Some(held), update @ Update::Event(_)) => {
                if held.len() == MAX_EVENTS {
                    held.remove(0);
                }
                held.push(update);
            }
            (Some(_), _) => {}
            (None, Update::Event(event)) => self.event(*event),
            (None, Update::Readings(readings)) => {
                self.processes.take(&readings.processes, readings.at);
                self.meters.take(&readings);
                self.readings = Some(readings);
                self.down = None;
            }
            (None, Update::Down(why)) => self.down = Some(why),
            (None, Update::Key(_) | Update::Resized | Update::Quit) => {}
        }
    }

    fn event(&mut self, event: Event) {
        if let Some(known) = self
            .events
            .iter_mut()
            .rev()
            .find(|known| known.id == event.id)
        {
            *known = event;
            return;
        }
        if self.events.len() == MAX_EVENTS {
            self.events.pop_front();
        }
        self.events.push_back(event);
    }

    /// Events that fit the filter, newest first.
    pub(super) fn shown(&self) -> Vec<&Event> {
        let words: Vec<String> = self
            .filter
            .split_whitespace()
            .map(str::to_ascii_lowercase)
            .collect();
        let fits = |event: &&Event| {
            if words.is_empty() {
                return true;
            }
            let text = render::line(event, &render::Style::plain()).to_ascii_lowercase();
            words.iter().all(|word| text.contains(word.as_str()))
        };
        self.events.iter().rev().filter(fits).collect()
    }

    /// Row of the selected event among the shown ones.
    pub(super) fn row(&self, shown: &[&Event]) -> usize {
        let row = shown
            .iter()
            .position(|event| Some(event.id) == self.selected);
        row.unwrap_or(0)
    }

    /// Whether keys are text.
    pub fn is_typing(&self) -> bool {
        self.typing.is_some()
    }

    /// Takes a key.
    pub fn key(&mut self, key: KeyEvent) -> Option<Wish> {
        if key.kind == KeyEventKind::Release {
            return None;
        }
        self.note = None;
        if self.typing.is_some() {
            return self.typed(key.code);
        }
        match key.code {
            KeyCode::Char('?' | 'h') => self.help = !self.help,
            KeyCode::Esc if self.help => self.help = false,
            KeyCode::Tab => self.focus(self.pane.step(1)),
            KeyCode::BackTab => self.focus(self.pane.step(Pane::ALL.len() - 1)),
            KeyCode::Up | KeyCode::Char('k') => self.go(|row| row.saturating_sub(1)),
            KeyCode::Down | KeyCode::Char('j') => self.go(|row| row + 1),
            KeyCode::PageUp => self.go(|row| row.saturating_sub(PAGE)),
            KeyCode::PageDown => self.go(|row| row + PAGE),
            KeyCode::Home => self.go(|_| 0),
            KeyCode::End => self.go(|_| MAX_EVENTS),
            KeyCode::Enter => self.details = !self.details,
            KeyCode::Esc => {
                self.details = false;
                match self.pane {
                    Pane::Processes => self.process_filter.clear(),
                    _ => self.filter.clear(),
                }
            }
            KeyCode::Char('/') if self.pane == Pane::Processes => {
                self.typing = Some(Typing::ProcessFilter);
            }
            KeyCode::Char('/') => {
                self.focus(Pane::Events);
                self.typing = Some(Typing::Filter);
            }
            KeyCode::Char('s') => {
                self.focus(Pane::Processes);
                self.sort = self.sort.next();
            }
            KeyCode::Char('z') => self.zoomed = !self.zoomed,
            KeyCode::Char('a') => self.begin_ack(),
            KeyCode::Char('p') => self.hold_or_go_on(),
            _ => {}
        }
        None
    }

    fn focus(&mut self, pane: Pane) {
        self.pane = pane;
        self.scroll = 0;
    }

    fn go(&mut self, to: impl Fn(usize) -> usize) {
        if self.pane == Pane::Processes {
            return self.go_processes(to);
        }
        if self.pane != Pane::Events {
            self.scroll = to(self.scroll);
            return;
        }
        let shown = self.shown();
        let row = to(self.row(&shown)).min(shown.len().saturating_sub(1));
        // The first row stays the newest event, whatever comes.
        self.selected = (row > 0)
            .then(|| shown.get(row).map(|event| event.id))
            .flatten();
    }

    /// The event that details are shown of.
    pub(super) fn selected(&self) -> Option<&Event> {
        let shown = self.shown();
        shown.get(self.row(&shown)).copied()
    }

    fn begin_ack(&mut self) {
        match self.selected().map(|event| event.id) {
            Some(id) => {
                self.typing = Some(Typing::Note {
                    id,
                    text: String::new(),
                })
            }
            None => self.note = Some("no event to acknowledge".to_owned()),
        }
    }

    fn hold_or_go_on(&mut self) {
        match self.held.take() {
            Some(held) => held.into_iter().for_each(|update| self.apply(update)),
            None => self.held = Some(Vec::new()),
        }
    }

    fn typed(&mut self, code: KeyCode) -> Option<Wish> {
        let text = match self.typing.as_mut()? {
            Typing::Filter => &mut self.filter,
            Typing::ProcessFilter => &mut self.process_filter,
            Typing::Note { text, .. } => text,
        };
        match code {
            KeyCode::Char(c) => text.push(c),
            KeyCode::Backspace => drop(text.pop()),
            KeyCode::Esc => self.leave_typing(),
            KeyCode::Enter => match self.typing.take()? {
                Typing::Note { id, text: note } => return Some(Wish::Ack { id, note }),
                Typing::Filter | Typing::ProcessFilter => {}
            },
            _ => {}
        }
        None
    }

    fn leave_typing(&mut self) {
        match self.typing.take() {
            Some(Typing::Filter) => self.filter.clear(),
            Some(Typing::ProcessFilter) => self.process_filter.clear(),
            _ => {}
        }
    }
}
