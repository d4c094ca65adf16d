//! Clusters of blocks. The interpreter runs blocks by themselves, so a cluster of more than one is
//! taken only where launches are skipped; then they are checked as on compute capability 9.0.

use crate::abi::{Answer, In};
use crate::error::{INVALID_CLUSTER_SIZE, INVALID_VALUE, NOT_SUPPORTED, fail_if};
use crate::module::Tuning;
use crate::state::shared;
use crate::types::LaunchConfig;

/// `CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION`.
const DIMENSION: u32 = 4;
/// Most blocks of a cluster on every device that has clusters, and on this one for functions that
/// permit it (CUDA C++ Programming Guide, Thread Block Clusters).
const PORTABLE_MAX: u32 = 8;
const MAX: u32 = 16;

/// Whether launches with clusters are accepted.
pub(crate) fn offered() -> bool {
    shared().is_some_and(|state| state.config.skip_launches)
}

/// Blocks of the largest cluster of a function.
pub(crate) fn most(tuning: &Tuning) -> u32 {
    match (offered(), tuning.takes_any_cluster()) {
        (false, _) => 1,
        (true, false) => PORTABLE_MAX,
        (true, true) => MAX,
    }
}

/// Blocks of a cluster of a launch, which the function has to permit.
///
/// # Errors
/// `CUDA_ERROR_INVALID_CLUSTER_SIZE` for more than a cluster can have and for a grid that is not made
/// of whole clusters, `CUDA_ERROR_NOT_SUPPORTED` where clusters are not offered.
pub(crate) fn blocks(config: &LaunchConfig, tuning: &Tuning) -> Answer<u32> {
    let sides = sides(config)?;
    let blocks = sides
        .iter()
        .fold(1u32, |all, side| all.saturating_mul(*side));
    if blocks == 1 {
        return Ok(1);
    }
    fail_if(!offered(), NOT_SUPPORTED)?;
    let whole = config
        .grid
        .iter()
        .zip(&sides)
        .all(|(grid, side)| grid % side == 0);
    fail_if(blocks > most(tuning) || !whole, INVALID_CLUSTER_SIZE)?;
    Ok(blocks)
}

fn sides(config: &LaunchConfig) -> Answer<[u32; 3]> {
    let mut sides = [1; 3];
    let attributes: In<_> = config.attributes;
    for index in 0..config.attribute_count as usize {
        let attribute = attributes.at(index)?;
        if attribute.id == DIMENSION {
            let (xy, z) = (attribute.value[0], attribute.value[1] as u32);
            sides = [xy as u32, (xy >> 32) as u32, z];
        }
    }
    match sides.contains(&0) {
        true => Err(INVALID_VALUE),
        false => Ok(sides),
    }
}
