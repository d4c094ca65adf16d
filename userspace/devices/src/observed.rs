use gtrace_event::{Occurrence, WitnessName};

/// Something that was found, and who saw it.
#[derive(Clone, Debug, PartialEq)]
pub struct Observed {
    /// The source.
    pub witness: WitnessName,
    /// What happened.
    pub occurrence: Occurrence,
    /// How often: the rise of the counter that showed it, else 1. Never 0.
    pub count: u64,
}

impl Observed {
    /// `witness` saw `occurrence` so often; at least once.
    pub fn new(witness: WitnessName, occurrence: Occurrence, count: u64) -> Self {
        Self {
            witness,
            occurrence,
            count: count.max(1),
        }
    }
}
