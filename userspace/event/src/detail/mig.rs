use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Timestamp;

/// How a GPU is divided, and what a vGPU may be used for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MigDetail {
    /// MIG layout: whether MIG mode is on.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub mig_enabled: Option<bool>,
    /// MIG layout: profiles of the instances now.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub mig_instances: Vec<String>,
    /// MIG layout: profiles of the instances before.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub mig_instances_before: Vec<String>,
    /// vGPU licence: the product.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub license_product: Option<String>,
    /// vGPU licence: when it ends or ended.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub license_expiry: Option<Timestamp>,
}

fill_fields!(MigDetail {
    mig_enabled,
    mig_instances,
    mig_instances_before,
    license_product,
    license_expiry
});
