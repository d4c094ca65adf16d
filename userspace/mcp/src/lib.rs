//! A server of the [Model Context Protocol](https://modelcontextprotocol.io/specification/2026-07-28): what gtrace knows, as tools and
//! resources for language models. It reads only.
//!
//! [`Server::answer`] takes one message and gives the answer; [`serve`] does so for each line of a stream. Where the
//! facts come from is a [`Source`]. The protocol is small, and the official SDK (rmcp) brings an asynchronous runtime's
//! worth of features that a server on standard input does not need, so it is written here.
#![forbid(unsafe_code)]

mod bound;
mod explain;
mod lines;
mod message;
mod page;
mod resources;
mod server;
mod source;
#[cfg(feature = "testing")]
pub mod testing;
mod tools;

pub use lines::{LINE_MAX, serve};
pub use server::{PROTOCOL, Server};
pub use source::{Query, Refusal, Source};
