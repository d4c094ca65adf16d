//! What agents and heads exchange through NATS JetStream: subjects, signatures, where an agent goes on.
//!
//! A stream keeps batches until a head has committed them; the store of the host keeps them anyway. A batch is one of a
//! *generation*: batches that follow each other without a gap. A head that finds records missing says so by a [`HeadPosition`] that names the
//! generation; the agent begins another one after what the head has. So what a stream discards is sent again.

mod resume;
mod signature;
mod subject;

pub use resume::{HeadPosition, Last, Resume, resume};
pub use signature::{Key, Signature};
pub use subject::{Kind, Subject, SubjectError, check_site};

/// Header with the number of the host, as its credential has it.
pub const HOST: &str = "Gtrace-Host";
/// Header with the [`Signature`].
pub const SIGNATURE: &str = "Gtrace-Seal";
/// Header with the generation of a batch.
pub const GENERATION: &str = "Gtrace-Round";
/// Header with the position of the last record of a batch.
pub const LAST: &str = "Gtrace-Last";
/// Header with method and path of a question.
pub const CALL: &str = "Gtrace-Call";
/// Header with 32 hex digits by which the answer to a question is known for its own.
pub const NONCE: &str = "Gtrace-Nonce";
/// Header with the status of an answer, one of HTTP.
pub const STATUS: &str = "Gtrace-Status";

/// Bytes of headers of a message, at most: so much less than the server's limit its payload has.
pub const HEADERS_MAX: usize = 4096;
