section! {
    /// A reading that became an event.
    SampleDetail {
        /// Name of the reading, as in /metrics.
        metric: Option<String>,
        /// The reading.
        value: Option<f64>,
        /// The reading before.
        previous: Option<f64>,
        /// The limit that it passed.
        limit: Option<f64>,
        /// Clock event reasons, in NVML's words.
        reasons: Vec<String>,
        /// PCIe link speed now, verbatim from sysfs.
        speed: Option<String>,
        /// Highest PCIe link speed of the device.
        max_speed: Option<String>,
        /// PCIe lanes in use.
        width: Option<u32>,
        /// PCIe lanes the device has.
        max_width: Option<u32>,
    }
}
