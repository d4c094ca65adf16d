use crate::Timestamp;

section! {
    /// How a GPU is divided, and what a vGPU may be used for.
    MigDetail {
        /// MIG layout: whether MIG mode is on.
        mig_enabled: Option<bool>,
        /// MIG layout: profiles of the instances now.
        mig_instances: Vec<String>,
        /// MIG layout: profiles of the instances before.
        mig_instances_before: Vec<String>,
        /// vGPU licence: the product.
        license_product: Option<String>,
        /// vGPU licence: when it ends or ended.
        license_expiry: Option<Timestamp>,
    }
}
