//! Functions of the client that run when a stream gets there.

use gtrace_protocol::members;

/// `cuLaunchHostFunc` and `cuStreamAddCallback`: when `stream` gets there the server reports `ticket`
/// to the lane that waits with [`super::HOST_NEXT`], and lets the stream go on at
/// [`super::HOST_DONE`], or when the client is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostFunction {
    /// Handle of the stream, or 0, 1, 2.
    pub stream: u64,
    /// Number of this call, of the client's choice.
    pub ticket: u64,
}

/// A stream has reached a host function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostReached {
    /// Which; or with [`HostReached::NEVER`] a handle of what was instantiated, whose launch failed with all that it calls.
    pub ticket: u64,
    /// Number of this time, of the server's choice: a node of a graph is reached at each launch, and
    /// in two that run at the same time. [`HostReached::NEVER`] for a function that could not be put into its stream.
    pub call: u64,
    /// CUresult for a callback of `cuStreamAddCallback`.
    pub status: u32,
}

impl HostReached {
    /// No stream will reach the function, and none waits for it.
    pub const NEVER: u64 = 0;
}

members!(HostFunction: stream, ticket);
members!(HostReached: ticket, call, status);

#[cfg(test)]
mod tests {
    use super::super::tests::comes_back;
    use super::*;

    #[test]
    fn host_functions_come_back() {
        let call = HostFunction {
            stream: 1,
            ticket: 2,
        };
        comes_back(&call, &mut Vec::new());
        let reached = HostReached {
            ticket: 2,
            call: 3,
            status: 700,
        };
        comes_back(&reached, &mut Vec::new());
    }
}
