//! The agent of a fleet: ships the records of a host's store to a head, which it alone calls: no port is opened on the
//! host, and nothing that the head answers is executed. [`run`] does it; [`enroll`] gets what it needs for that.
#![forbid(unsafe_code)]

mod enroll;
mod frames;
mod link;
mod run;
mod source;

pub use enroll::{EnrollError, Enrolled, enroll};
pub use frames::{Measured, Read, Sampled, Sampler, Wanted};
pub use link::{HeadUrl, LinkError, UrlError};
pub use run::{Clock, Options, Progress, now_ns, run};
