section! {
    /// What an Xid line says. Source: the open kernel modules' `nv_report_error` callers.
    XidDetail {
        /// Xid code.
        xid: Option<u32>,
        /// NVLink 5 (Xid 144 to 150): bits 20 to 25 of the first status word.
        sub_code: Option<u32>,
        /// NVLink 5: reporting unit, verbatim (`RLW_SRC_TRACK`, `NETIR/LINK`).
        sub_unit: Option<String>,
        /// NVLink 5: `Fatal` or `Nonfatal`, verbatim.
        sub_severity: Option<String>,
        /// NVLink 5: name of the sub-code in the driver branch that wrote it.
        sub_name: Option<String>,
        /// NVLink 5: status words, hex.
        words: Vec<String>,
        /// Graphics processing cluster.
        gpc: Option<u32>,
        /// Texture processing cluster in the GPC.
        tpc: Option<u32>,
        /// Streaming multiprocessor in the TPC.
        sm: Option<u32>,
        /// Channel, hex.
        channel: Option<String>,
        /// Engine of an MMU fault, verbatim (`GRAPHICS`, `CE3`).
        engine: Option<String>,
        /// MMU client of a fault, verbatim (`GPCCLIENT_T1_3`).
        client: Option<String>,
        /// Faulting GPU virtual address, hex.
        fault_addr: Option<String>,
        /// Verbatim, for example `FAULT_PDE`.
        fault_type: Option<String>,
        /// Verbatim, for example `ACCESS_TYPE_VIRT_READ`.
        access_type: Option<String>,
        /// Xid 45: the Xid that came before.
        caused_by_xid: Option<u32>,
        /// Xid 119: seconds waited for the GSP's answer.
        gsp_timeout_s: Option<u32>,
        /// Xid 119: number of the RPC function.
        gsp_function: Option<u32>,
        /// Xid 119: name of the RPC function, verbatim.
        gsp_function_name: Option<String>,
        /// Driver's own GPU number, where the text has one (`GPU2 GSP`).
        gpu_index: Option<u32>,
        /// Xid 154: recovery action before, verbatim. A reading of NVML has the name that the driver gives it.
        recovery_from: Option<String>,
        /// The same now (`GPU Reset Required`).
        recovery_to: Option<String>,
        /// Xid 94, 95: `RST: Yes`.
        reset_required: Option<bool>,
        /// Xid 94, 95: `D-RST: Yes`.
        drain_reset_required: Option<bool>,
        /// `RmInitAdapter failed!`: the codes in brackets, verbatim.
        rm_init_code: Option<String>,
        /// API mismatch: version of the library.
        library_version: Option<String>,
        /// API mismatch: version of the kernel module.
        module_version: Option<String>,
    }
}
