//! The live view of `gtrace top`: what it knows ([`Model`]), how keys and updates change it, and how it is drawn. It
//! knows neither daemon nor terminal; it reads the host's /proc.

mod ascii;
mod counters;
mod help;
mod host;
mod lines;
mod meters;
mod model;
mod process_lines;
mod process_view;
mod processes;
mod snapshot;
mod update;
mod view;

pub use ascii::{shows_utf8, to_ascii};
pub use counters::{Counters, Sample};
pub use host::HostReading;
pub use model::{Model, Wish};
pub use processes::Sort;
pub use snapshot::{chosen, snapshot};
pub use update::{Readings, Update};
pub use view::draw;
