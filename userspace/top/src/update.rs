//! What the view learns.

use std::time::Instant;

use gtrace_api::{CallStats, CudaReport, ProcessUse, Status};
use gtrace_devices::GpuInfo;
use gtrace_event::Event;
use ratatui::crossterm::event::KeyEvent;

use super::counters::Counters;
use super::host::HostReading;

/// An update for the view.
#[derive(Debug)]
pub enum Update {
    /// A new or changed event.
    Event(Box<Event>),
    /// Everything else, read anew.
    Readings(Box<Readings>),
    /// The daemon does not answer.
    Down(String),
    /// A line for the user.
    Note(String),
    /// A key.
    Key(KeyEvent),
    /// The terminal has another size.
    Resized,
    /// A signal asks to end.
    Quit,
}

/// What is read once a second.
#[derive(Clone, Debug)]
pub struct Readings {
    /// The daemon's state.
    pub status: Status,
    /// Every GPU.
    pub gpus: Vec<GpuInfo>,
    /// Driver calls.
    pub calls: Vec<CallStats>,
    /// Counters of `/metrics`.
    pub counters: Counters,
    /// Processes that use a GPU.
    pub processes: Vec<ProcessUse>,
    /// CUDA calls.
    pub cuda: CudaReport,
    /// The host that this runs on.
    pub host: HostReading,
    /// When the processes were read.
    pub at: Instant,
}
