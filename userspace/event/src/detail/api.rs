section! {
    /// One driver call.
    ApiDetail {
        /// ioctl request number, hex; `open`, `mmap` or `close` for these.
        ioctl: Option<String>,
        /// Name of the operation, where public.
        op: Option<String>,
        /// What the operation is about, hex: the control command of RM_CONTROL, the class of RM_ALLOC.
        code: Option<String>,
        /// Public name of `code`; `unreadable` where the parameters could not be read.
        code_name: Option<String>,
        /// NV_STATUS that the driver answered, hex; ioctl(2) itself may have returned 0.
        status: Option<String>,
        /// Public name of `status`.
        status_name: Option<String>,
        /// Name of the device file: `nvidia0`, `nvidiactl`, `nvidia-uvm`.
        device: Option<String>,
        /// Character device, major:minor.
        chardev: Option<String>,
        /// How long it took.
        latency_ns: Option<u64>,
        /// `false` for a call that had not returned yet.
        returned: Option<bool>,
        /// The threshold that it passed.
        threshold_ns: Option<u64>,
        /// Error number that ioctl(2) returned, positive.
        errno: Option<i32>,
    }
}
