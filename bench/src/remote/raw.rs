//! The limits beside the figures of `remote`, as `gtrace_measure::raw` measures them.

use gtrace_measure::raw::{self, Copies, Kind};

use super::BULK;

/// Microseconds, medians.
#[derive(Clone, Debug)]
pub(crate) struct Limits {
    /// A request and its reply over TCP, both sides spinning.
    pub(crate) tcp_exchange: f64,
    /// A number there and one back over two cache lines, both sides spinning.
    pub(crate) memory_exchange: f64,
    /// 16 MiB over TCP until the receiver says that it has them: sleeping or spinning, whichever is quicker.
    pub(crate) tcp_stream: f64,
    /// The same where the receiver, as the CPU emulator for a GPU must, copies what came to another place: nothing
    /// over TCP to the device can be quicker.
    pub(crate) tcp_stream_copied_out: f64,
    /// The same where the sender copies first: the limit to the host.
    pub(crate) tcp_stream_copied_in: f64,
    /// 16 MiB within memory.
    pub(crate) copy: f64,
    /// 16 MiB that one thread copies into a ring and another out of it, both spinning: the limit over shared
    /// memory with a CPU emulator whose copies are the CPU's.
    pub(crate) copy_twice: f64,
    /// Congestion control of the TCP connections.
    pub(crate) congestion: String,
}

impl Limits {
    /// Measures with `count` exchanges and as many streams as a thousandth of that.
    pub(crate) fn measure(count: usize) -> anyhow::Result<Self> {
        let runs = (count / 1000).max(3);
        let tcp = |copies| raw::stream_us(Kind::Tcp, BULK, runs, copies);
        Ok(Self {
            tcp_exchange: raw::exchange_us(Kind::Tcp, count)?,
            memory_exchange: raw::exchange_us(Kind::Memory, count)?,
            tcp_stream: tcp(Copies::None)?,
            tcp_stream_copied_out: tcp(Copies::Out)?,
            tcp_stream_copied_in: tcp(Copies::In)?,
            copy: raw::copy_us(BULK, runs),
            copy_twice: raw::copy_twice_us(BULK, runs),
            congestion: raw::congestion()?,
        })
    }
}
