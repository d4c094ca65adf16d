//! A site's own checks. [`folder::find`] says which executables are plugins, [`run::run`] runs one within its limits, [`output::parse`]
//! reads what it said, and [`launch::exec`] is what happens in the new process before the plugin. docs/plugins.md is the contract.

pub mod folder;
pub mod launch;
pub mod output;
pub mod program;
pub mod run;

pub use folder::{FolderError, Found, Plugin, find};
pub use output::{Check, Output, parse};
pub use program::{Left, Limits, program};
pub use run::{Cgroup, Ended, Run, run};
