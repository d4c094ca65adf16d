//! What every link promises, as one suite that runs on each kind of link.
//!
//! RDMA runs on a double of its queue pairs. With a device the same suite runs on that alone:
//! `GTRACE_TEST_RDMA=ADDRESS` names an address of this host that one has. The tests in virtual machines
//! do so.
//!
//! A link is a stream of bytes and a lane's session is not made anew: where the connection breaks, both
//! sides read what came, then an error, and never a byte behind a gap (`resumption`). Only RDMA has
//! something below it to go on by. An emulated network goes on where the link below it does, and its own
//! breaks are for good, as those of the network that it stands for.

mod death;
pub(crate) mod ends;
mod flow;
mod half_open;
mod ordering;
mod resumption;
pub(crate) mod traffic;
