//! Taking what a trace is made of, while it happens: calls of a running process by uprobes, calls into the kernel's
//! driver, and what the daemon knows of that time.

mod daemon;
mod freezer;
mod held;
mod kept;
pub mod libcuda;
mod output;
mod running;
mod session;
mod target;
mod tracer;

pub use daemon::Daemon;
pub use freezer::Freezer;
pub use held::Held;
pub use kept::{DriverCalls, Kept};
pub use output::{Output, Shown};
pub use running::{Running, Seen};
pub use session::{Ended, Session};
pub use target::{NoTarget, Target};
pub use tracer::{Sink, Tracer, show};
