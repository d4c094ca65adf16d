//! Everything that the probes drop or fail at, by name.

macro_rules! counters {
    ($(#[$of:meta])* $counter:ident: $($(#[$doc:meta])* $variant:ident = $name:literal,)*) => {
        $(#[$of])*
        #[repr(u32)]
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $counter {
            $($(#[$doc])* $variant,)*
        }

        impl $counter {
            /// Every counter, in the order of its index in the map.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// Number of counters.
            pub const COUNT: usize = Self::ALL.len();

            /// The name used in metrics.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }
        }
    };
}

counters! {
    /// A counter kept per CPU in the probes.
    Counter:
    /// Log records for which the event ring had no room.
    LogRingFull = "log_ring_full",
    /// AER, OOM, exit and module records for which the event ring had no room.
    EventRingFull = "event_ring_full",
    /// Slow calls for which the call ring had no room.
    CallRingFull = "call_ring_full",
    /// Log records whose text could not be read.
    LogReadFailed = "log_read_failed",
    /// Log records that were longer than the probe's buffer.
    LogCut = "log_cut",
    /// Fields of a tracepoint that could not be read.
    FieldReadFailed = "field_read_failed",
    /// ioctls whose descriptor could not be followed to a device.
    DeviceReadFailed = "device_read_failed",
    /// Calls counted under the overflow key, because the histogram tables were full.
    HistKeysFull = "hist_keys_full",
    /// Calls counted without their process, because the histogram table was full.
    HistKeysShared = "hist_keys_shared",
    /// Calls not timed, because the table of calls under way was full.
    CallsInFlightFull = "calls_in_flight_full",
    /// Processes not remembered as GPU users, because the table was full.
    GpuTasksFull = "gpu_tasks_full",
    /// Driver calls whose return the kernel did not show: its return probes ran out of instances.
    ReturnMissed = "return_missed",
    /// Driver calls whose parameters could not be read.
    ParametersUnreadable = "parameters_unreadable",
    /// Failures counted under no key, because the table was full.
    FailureKeysFull = "failure_keys_full",
    /// Open device files not remembered, because the table was full.
    OpenFilesFull = "open_files_full",
    /// Exits of processes with more open descriptors than the probe looks at.
    ExitFdsUnseen = "exit_fds_unseen",
}

counters! {
    /// Everything that the probes of CUDA calls drop or fail at.
    ApiCounter:
    /// Records for which the ring had no room.
    RingFull = "api_ring_full",
    /// Records sent.
    Sent = "api_records",
    /// Calls counted without their process, because the histogram table was full.
    HistKeysFull = "api_hist_keys_full",
    /// Calls neither timed nor counted, because the table of calls under way was full.
    StartsFull = "api_starts_full",
    /// Calls whose start was not found at their end: the function was called again by itself meanwhile.
    StartsUnseen = "api_starts_unseen",
    /// Failures counted under no code, because the table was full.
    FailureKeysFull = "api_failure_keys_full",
    /// Processes without a ledger, because the table was full.
    LedgersFull = "api_ledgers_full",
    /// Allocations not remembered, because the table was full.
    MemoryFull = "api_memory_full",
    /// Arguments or results in the process's memory that could not be read.
    Unreadable = "api_unreadable",
}
