section! {
    /// How a process that used a GPU ended.
    ProcessExitDetail {
        /// Exit status, 0 to 255, where it ended by itself.
        exit_code: Option<u32>,
        /// Signal that ended it.
        signal: Option<u32>,
        /// Whether the kernel says that a core was dumped.
        core_dumped: Option<bool>,
    }
}
