//! `libcuda.so.1` of a traced program: every call of the driver is timed, counted and passed on to the
//! driver's own library.
//!
//! Nothing is printed to standard output, nothing here ends the process, and without `gtrace trace`
//! listening calls are passed on and that is all.

mod call;
mod fork;
mod generated;
mod gpu;
mod hooks;
mod lock;
mod report;
mod server;
mod session;
mod target;
mod threads;
mod untouched;
mod version;
