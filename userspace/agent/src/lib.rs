//! The agent of a fleet: ships the records of a host's store to a head, which it alone calls: no port is opened on the
//! host. What a head may ask is a closed list, of which the host permits what it wants; no code comes from it. [`run`] does it; [`enroll`] gets what it needs for that.
#![forbid(unsafe_code)]

mod actor;
mod enroll;
mod frames;
mod link;
mod run;
mod source;

pub use actor::Actor;
pub use enroll::{EnrollError, Enrolled, enroll};
pub use frames::{Measured, Read, Sampled, Sampler, Wanted};
pub use link::{HeadUrl, LinkError, UrlError};
pub use run::{Clock, Options, Progress, now_ns, run};
