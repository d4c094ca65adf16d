//! Reads the closing lines of `cargo test` and `cargo nextest`.

/// What the closing lines of one run add up to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ran {
    /// Tests that passed.
    pub(crate) passed: u64,
    /// Tests that failed, ran out of time or could not be started.
    pub(crate) failed: u64,
    /// Tests marked `#[ignore]`, and those that were not selected.
    pub(crate) left_out: u64,
}

impl Ran {
    /// Tests that there are, run or not.
    pub(crate) fn all(self) -> u64 {
        self.passed + self.failed + self.left_out
    }
}

/// What one run printed, read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Summary {
    /// The closing lines, added up.
    pub(crate) ran: Ran,
    /// Why tests that count as passed left out what they test: their lines `SKIPPED: reason`
    /// or `skipped: reason`, the first of each test.
    pub(crate) skips: Vec<String>,
}

/// Reads `output`; `None` where there is no closing line, so that a run that never came to its
/// end is not taken for one without failures.
pub(crate) fn parse(output: &str) -> Option<Summary> {
    let (mut of_libtest, mut of_nextest) = (None, None);
    let mut skips = Vec::new();
    let mut may_skip = true;
    for line in output.lines() {
        let line = without_colour(line);
        let line = line.trim();
        if let Some(ran) = libtest(line) {
            add(&mut of_libtest, ran);
        } else if let Some(ran) = nextest(line) {
            add(&mut of_nextest, ran);
        } else if line.starts_with("---- ") || line.starts_with("running ") {
            may_skip = true;
        } else if let Some(reason) = skip_reason(line)
            && may_skip
        {
            skips.push(reason.to_owned());
            may_skip = false;
        }
    }
    // nextest shows the output of each test's process, whose closing line is no sum.
    let ran = of_nextest.or(of_libtest)?;
    Some(Summary { ran, skips })
}

fn skip_reason(line: &str) -> Option<&str> {
    line.strip_prefix("SKIPPED: ")
        .or_else(|| line.strip_prefix("skipped: "))
}

fn add(sum: &mut Option<Ran>, ran: Ran) {
    let sum = sum.get_or_insert_default();
    sum.passed += ran.passed;
    sum.failed += ran.failed;
    sum.left_out += ran.left_out;
}

/// `test result: ok. 5 passed; 0 failed; 1 ignored; 0 measured; 2 filtered out; finished in …`.
fn libtest(line: &str) -> Option<Ran> {
    let rest = line.strip_prefix("test result: ")?;
    let (_, numbers) = rest.split_once(". ")?;
    Some(count(numbers.split(';')))
}

/// `Summary [   0.3s] 10 tests run: 8 passed (1 slow), 1 failed, 1 timed out, 2 skipped`.
fn nextest(line: &str) -> Option<Ran> {
    let rest = line.strip_prefix("Summary [")?;
    let (_, numbers) = rest.split_once(" run: ")?;
    // What stands in brackets are kinds of the tests counted before them.
    let mut depth = 0_u32;
    let numbers: String = numbers
        .chars()
        .filter(|c| {
            if *c == '(' {
                depth += 1;
            }
            let outside = depth == 0;
            if *c == ')' {
                depth = depth.saturating_sub(1);
            }
            outside
        })
        .collect();
    Some(count(numbers.split(',')))
}

fn count<'a>(parts: impl Iterator<Item = &'a str>) -> Ran {
    let mut ran = Ran::default();
    for part in parts {
        let Some((number, what)) = part.trim().split_once(' ') else {
            continue;
        };
        let Ok(number) = number.parse::<u64>() else {
            continue;
        };
        match what.trim() {
            "passed" => ran.passed += number,
            "ignored" | "filtered out" | "skipped" => ran.left_out += number,
            "failed" | "timed out" | "exec failed" => ran.failed += number,
            _ => {}
        }
    }
    ran
}

/// `line` without the escape sequences that set colours.
pub(crate) fn without_colour(line: &str) -> String {
    let mut plain = String::with_capacity(line.len());
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        if c == '\x1b' {
            chars.by_ref().find(char::is_ascii_alphabetic);
        } else {
            plain.push(c);
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ran(passed: u64, failed: u64, left_out: u64) -> Option<Ran> {
        Some(Ran {
            passed,
            failed,
            left_out,
        })
    }

    fn counts(output: &str) -> Option<Ran> {
        parse(output).map(|summary| summary.ran)
    }

    #[test]
    fn what_nextest_shows_of_a_test_is_not_counted_twice() {
        let output = "running 1 test\ntest result: FAILED. 0 passed; 1 failed; 0 ignored\n\
                      Summary [   0.1s] 2 tests run: 1 passed, 1 failed, 0 skipped\n";
        assert_eq!(counts(output), ran(1, 1, 0));
    }

    #[test]
    fn a_test_that_says_so_was_skipped_once() {
        let output = "    running 1 test\n    SKIPPED: mounting needs root\n    SKIPPED: again\n\
                      \x20   running 1 test\n    skipped: becoming another user needs root\n\
                      Summary [   0.1s] 3 tests run: 3 passed, 0 skipped\n";
        let skips = parse(output).unwrap().skips;
        assert_eq!(
            skips,
            ["mounting needs root", "becoming another user needs root"]
        );
    }

    #[test]
    fn adds_up_the_binaries_of_cargo_test() {
        let output = "running 3 tests\n\
            test result: ok. 2 passed; 0 failed; 1 ignored; 0 measured; 4 filtered out; finished in 0.00s\n\
            test result: FAILED. 1 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 1.20s\n";
        assert_eq!(counts(output), ran(3, 2, 5));
    }

    #[test]
    fn reads_nextest_with_every_kind_of_failure() {
        let output = "────────────\n     Summary [   0.010s] 12 tests run: 8 passed (1 slow, 1 \
                      flaky), 2 failed, 1 timed out, 1 exec failed, 3 skipped\n";
        assert_eq!(counts(output), ran(8, 4, 3));
        let one = "     Summary [   0.010s] 1 test run: 1 passed, 0 skipped";
        assert_eq!(counts(one), ran(1, 0, 0));
    }

    #[test]
    fn colours_do_not_hide_the_numbers() {
        let output = "\x1b[32;1m     Summary\x1b[0m [   0.3s] \x1b[1m3\x1b[0m tests run: \
                      \x1b[1m3\x1b[0m \x1b[32;1mpassed\x1b[0m, \x1b[1m0\x1b[0m \x1b[33;1mskipped\x1b[0m";
        assert_eq!(counts(output), ran(3, 0, 0));
    }

    #[test]
    fn nextest_that_was_stopped_early_counts_what_it_ran() {
        let output = "Summary [   1.0s] 4/9 tests run: 3 passed, 1 failed, 0 skipped";
        assert_eq!(counts(output), ran(3, 1, 0));
    }

    #[test]
    fn a_run_that_did_not_compile_has_no_summary() {
        assert_eq!(parse("error: could not compile `gtrace`\n"), None);
    }
}
