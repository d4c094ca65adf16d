//! Which cases a run takes: all of them, or the core set and, of the rest, the part that falls to the commit.

use gtrace_vm_tests::scenario::Scenario;

use super::cases::Case;
use crate::context::Context;
use crate::shell;

/// Parts of the cases outside the core set. Runs of commits with three different residues have run each case once.
const PARTS: usize = 3;

/// Which cases a run takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Selection {
    /// Every case, on every kernel.
    #[default]
    All,
    /// The core set on every kernel, that with NVIDIA's driver on one; of the other cases one of [`PARTS`] parts, each case on one kernel.
    Part(usize),
}

impl Selection {
    /// The part of the commit that is checked out; the first one where there is no git or no commit.
    pub(crate) fn of_commit(context: &Context) -> Self {
        let mut git = shell::clean("git");
        git.args(["rev-parse", "HEAD"]).current_dir(&context.root);
        Self::of_hash(shell::read(&mut git).unwrap_or_default().trim())
    }

    /// By the first 32 bits of a hash in hexadecimal.
    fn of_hash(hash: &str) -> Self {
        let number = hash
            .get(..8)
            .and_then(|hex| u32::from_str_radix(hex, 16).ok());
        Self::Part(number.unwrap_or(0) as usize)
    }

    /// Which of `kernels` kernels the core set's cases of NVIDIA's driver run on, if it is one.
    pub(super) fn kernel_of_driver(self, kernels: usize) -> Option<usize> {
        match self {
            Self::All => None,
            // For each kernel the driver is built for minutes: a run takes one.
            Self::Part(number) => Some(number % kernels),
        }
    }

    /// Whether the `index`th case is run on the `kernel`th of `kernels` kernels.
    fn takes(self, index: usize, case: &Case, kernel: usize, kernels: usize) -> bool {
        match self {
            Self::All => true,
            Self::Part(_) if case.core && case.scenario == Scenario::Real => {
                self.kernel_of_driver(kernels) == Some(kernel)
            }
            Self::Part(_) if case.core => true,
            Self::Part(number) => {
                let (part, turn) = (number % PARTS, number / PARTS);
                index % PARTS == part && (index / PARTS + turn) % kernels == kernel
            }
        }
    }

    /// Those of `cases` that are run on the `kernel`th of `kernels` kernels, in order.
    pub(super) fn of<'a>(self, cases: &[&'a Case], kernel: usize, kernels: usize) -> Vec<&'a Case> {
        let mut rotating = 0;
        let taken = cases.iter().filter(|case| {
            let index = rotating;
            rotating += usize::from(!case.core);
            self.takes(index, case, kernel, kernels)
        });
        taken.copied().collect()
    }

    /// What is said of a run that has `left` of all runs of a case on a kernel left out.
    pub(super) fn describe(self, left: usize) -> Option<String> {
        match self {
            Self::All => None,
            Self::Part(number) => Some(format!(
                "virtual machines ran the core set on each kernel, and part {} of {PARTS} of the other cases, each on \
                 one kernel; left for other commits: {left} (`cargo xtask test --all` runs everything)",
                number % PARTS + 1
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const KERNELS: usize = 2;

    fn cases() -> Vec<Case> {
        let case = |number: usize| Case {
            name: format!("topic_{number}"),
            scenario: Scenario::Driver,
            patience: Duration::from_secs(1),
            core: number.is_multiple_of(4),
            idle: false,
        };
        (0..73).map(case).collect()
    }

    /// How often each case runs in the runs of these numbers, by kernel.
    fn runs(numbers: std::ops::Range<usize>) -> Vec<(bool, [usize; KERNELS])> {
        let cases = cases();
        let all: Vec<_> = cases.iter().collect();
        let count = |case: &Case, kernel| {
            let taken = |number: &usize| {
                let run = Selection::Part(*number).of(&all, kernel, KERNELS);
                run.iter().any(|other| other.name == case.name)
            };
            numbers.clone().filter(taken).count()
        };
        let both = |case: &Case| (case.core, [0, 1].map(|kernel| count(case, kernel)));
        cases.iter().map(both).collect()
    }

    #[test]
    fn every_case_is_in_exactly_one_part_and_three_residues_run_all() {
        for start in [0, 1, 5] {
            for (core, [first, second]) in runs(start..start + PARTS) {
                match core {
                    true => assert_eq!((first, second), (PARTS, PARTS)),
                    false => assert_eq!(first + second, 1),
                }
            }
        }
    }

    #[test]
    fn twice_as_many_run_each_case_on_each_kernel() {
        for (core, kernels) in runs(0..PARTS * KERNELS) {
            assert!(core || kernels == [1, 1], "{kernels:?}");
        }
    }

    #[test]
    fn parts_are_of_one_size() {
        let cases = cases();
        let all: Vec<_> = cases.iter().collect();
        let core = all.iter().filter(|case| case.core).count();
        for number in 0..PARTS * KERNELS {
            let runs = (0..KERNELS).map(|kernel| Selection::Part(number).of(&all, kernel, KERNELS));
            let rotating = runs.map(|run| run.len() - core).sum::<usize>();
            assert_eq!(rotating, (all.len() - core) / PARTS);
        }
    }

    #[test]
    fn the_core_of_nvidias_driver_is_on_one_kernel_a_run() {
        let mut case = cases().remove(0);
        case.scenario = Scenario::Real;
        for number in 0..PARTS * KERNELS {
            let on = |kernel| Selection::Part(number).of(&[&case], kernel, KERNELS).len();
            let on = [0, 1].map(on);
            assert_eq!(on, if number % 2 == 0 { [1, 0] } else { [0, 1] });
            assert_eq!(Selection::All.of(&[&case], 1, KERNELS).len(), 1);
        }
    }

    #[test]
    fn the_part_is_of_the_hash() {
        let part = Selection::of_hash("0000000b8def0123456789");
        assert_eq!(part, Selection::Part(11));
        assert_eq!(Selection::of_hash(""), Selection::Part(0));
        assert!(part.describe(7).unwrap().contains("part 3 of 3"));
        assert_eq!(Selection::All.describe(0), None);
    }
}
