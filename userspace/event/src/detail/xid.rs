use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What an Xid line says. Source: the open kernel modules' `nv_report_error` callers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct XidDetail {
    /// Xid code.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub xid: Option<u32>,
    /// NVLink 5 (Xid 144 to 150): bits 20 to 25 of the first status word.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub sub_code: Option<u32>,
    /// NVLink 5: reporting unit, verbatim (`RLW_SRC_TRACK`, `NETIR/LINK`).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub sub_unit: Option<String>,
    /// NVLink 5: `Fatal` or `Nonfatal`, verbatim.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub sub_severity: Option<String>,
    /// NVLink 5: name of the sub-code in the driver branch that wrote it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub sub_name: Option<String>,
    /// NVLink 5: status words, hex.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub words: Vec<String>,
    /// Graphics processing cluster.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub gpc: Option<u32>,
    /// Texture processing cluster in the GPC.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub tpc: Option<u32>,
    /// Streaming multiprocessor in the TPC.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub sm: Option<u32>,
    /// Channel, hex.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub channel: Option<String>,
    /// Engine of an MMU fault, verbatim (`GRAPHICS`, `CE3`).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub engine: Option<String>,
    /// MMU client of a fault, verbatim (`GPCCLIENT_T1_3`).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub client: Option<String>,
    /// Faulting GPU virtual address, hex.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub fault_addr: Option<String>,
    /// Verbatim, for example `FAULT_PDE`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub fault_type: Option<String>,
    /// Verbatim, for example `ACCESS_TYPE_VIRT_READ`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub access_type: Option<String>,
    /// Xid 45: the Xid that came before.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub caused_by_xid: Option<u32>,
    /// Xid 119: seconds waited for the GSP's answer.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub gsp_timeout_s: Option<u32>,
    /// Xid 119: number of the RPC function.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub gsp_function: Option<u32>,
    /// Xid 119: name of the RPC function, verbatim.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub gsp_function_name: Option<String>,
    /// Driver's own GPU number, where the text has one (`GPU2 GSP`).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub gpu_index: Option<u32>,
    /// Xid 154: recovery action before, verbatim. A reading of NVML has the name that the driver gives it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub recovery_from: Option<String>,
    /// The same now (`GPU Reset Required`).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub recovery_to: Option<String>,
    /// Xid 94, 95: `RST: Yes`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reset_required: Option<bool>,
    /// Xid 94, 95: `D-RST: Yes`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub drain_reset_required: Option<bool>,
    /// `RmInitAdapter failed!`: the codes in brackets, verbatim.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub rm_init_code: Option<String>,
    /// API mismatch: version of the library.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub library_version: Option<String>,
    /// API mismatch: version of the kernel module.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub module_version: Option<String>,
}

fill_fields!(XidDetail {
    xid,
    sub_code,
    sub_unit,
    sub_severity,
    sub_name,
    words,
    gpc,
    tpc,
    sm,
    channel,
    engine,
    client,
    fault_addr,
    fault_type,
    access_type,
    caused_by_xid,
    gsp_timeout_s,
    gsp_function,
    gsp_function_name,
    gpu_index,
    recovery_from,
    recovery_to,
    reset_required,
    drain_reset_required,
    rm_init_code,
    library_version,
    module_version
});
