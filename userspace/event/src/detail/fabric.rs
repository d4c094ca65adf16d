section! {
    /// What the text says of NVLink and NVSwitch.
    FabricDetail {
        /// SXid code.
        sxid: Option<u32>,
        /// Switch number (`nvidia-nvswitch0`).
        nvswitch: Option<u32>,
        /// NVLink number; -1 where the driver says so (not tied to one link).
        link: Option<i64>,
        /// SXid: `Fatal` or `Non-fatal`, verbatim.
        scope: Option<String>,
        /// SXid: words of the `Data {..}` line, hex.
        data: Vec<String>,
    }
}
