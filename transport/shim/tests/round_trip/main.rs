//! The generated calls of the client and the generated dispatch of the server, one behind the other,
//! with functions of the tests in the driver's place.

#![allow(clippy::expect_used, clippy::undocumented_unsafe_blocks)]
#![allow(clippy::unwrap_used, non_snake_case, unsafe_code)]

mod arguments;
mod client;
mod entry;
mod exec;
mod hostile;
mod management;
mod server;
mod special;
