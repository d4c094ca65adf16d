//! Supervision of the daemon's threads: a heartbeat, panics caught, restart with back-off.
//!
//! Every thread of `gtrace run` is a task of one [`Registry`]. A task that panics, returns an error,
//! or gives no heartbeat for longer than it may is reported as [`Loss`] and started again with
//! exponential back-off. A thread that hangs is revoked first: its next [`beat`] or [`sending`] ends
//! it, so that it can never publish again beside the one that replaced it. While eight threads of a task
//! hang, as on a network file system, no other is started.
//!
//! | task | panics or fails | hangs |
//! |---|---|---|
//! | drain | new thread; the rings and what is in them stay | new thread on the same rings |
//! | housekeeping | new thread | new thread |
//! | kmsg | new thread, after the last record that was read | the same |
//! | devices | new thread; known devices are found anew | the same |
//! | host | new thread; what was known of earlier readings is gone | the same |
//! | rules | new thread; the rules that hold stand | the same |
//! | cgroups | new thread | the same |
//! | runtimes | new thread | new thread; each request has a deadline |
//! | plugins | new thread, which runs each plugin at once; what one found last stands | the same |
//! | cuda | new thread and new probes | the same |
//! | history | new thread, which goes on behind what is on disk; samples wait meanwhile, then are dropped and counted | the same |
//! | alertmanager | new thread, which sends every open incident again | the same |
//! | otlp | new thread; events that wait are kept | the same |
//! | http | new thread on the same sockets; open connections end | the same |
//! | print | new thread | the same; whoever reads the output may stop reading, and that is no hang |
//! | fleet | new thread, which asks the head what it has | the same; frames of profiling sessions that were not sent are a gap |
//! | control, checks | new thread | the same |
//! | core | the process ends with 1: the state of live events is lost, and a new process takes it up from the store | health turns red, the systemd watchdog is not fed |
//! | store | the process ends with 1: only a new process opens the store knowing what is in it | the same as core; records wait in memory |

mod backoff;
mod fault;
pub mod names;
mod pulse;
mod registry;
mod timer;

pub use self::backoff::Backoff;
pub use self::pulse::{
    Pulse, beat, first_pulse, is_revoked, lock_or_fail, lock_within, period_start, rest, sending,
};
pub use self::registry::{Body, Loss, Outage, Registry, Task};
pub use self::timer::Timer;
