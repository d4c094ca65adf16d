//! The agent of a fleet: ships the records of a host's store to a head, which it alone calls: no port is opened on the
//! host. What a head may ask is a closed list, of which the host permits what it wants; no code comes from it. [`run`] does it; [`enroll`] gets what it needs for that.
#![forbid(unsafe_code)]

mod actor;
mod enroll;
mod frames;
mod head_url;
mod http;
mod nats;
mod progress;
mod run;
mod source;
mod state_size;
mod transport;

pub use actor::Actor;
pub use enroll::{EnrollError, Enrolled, enroll};
pub use frames::{Measured, Read, Sampled, Sampler, Wanted};
pub use head_url::HttpUrl;
pub use head_url::{HeadUrl, UrlError};
pub use nats::NatsAccess;
pub use progress::Progress;
pub use run::{Clock, Options, now_ns, run};
pub use transport::LinkError;
