//! Reads the closing lines of `cargo test` and `cargo nextest`.

use std::collections::BTreeMap;
use std::time::Duration;

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
    /// How long each test took that nextest ran, by `BINARY TEST`.
    pub(crate) times: Vec<(String, Duration)>,
    /// Tests that failed each time that nextest ran them, by `BINARY TEST`, with what the last run printed.
    pub(crate) failures: BTreeMap<String, String>,
    /// Tests that failed and passed when nextest ran them again, by `BINARY TEST`.
    pub(crate) flaky: Vec<String>,
}

/// Reads `output`; `None` where there is no closing line, so that a run that never came to its
/// end is not taken for one without failures.
pub(crate) fn parse(output: &str) -> Option<Summary> {
    let (mut of_libtest, mut of_nextest) = (None, None);
    let (mut skips, mut times) = (Vec::new(), Vec::new());
    let (mut failures, mut flaky) = (BTreeMap::new(), Vec::new());
    let mut may_skip = true;
    // The test whose output the lines are, if it failed.
    let mut failed = None;
    for line in output.lines() {
        let line = without_colour(line);
        if let Some(status) = Status::of(&line) {
            times.extend(passed(&line));
            failed = None;
            if status.word.starts_with("FLAKY ") {
                failures.remove(status.test);
                flaky.push(status.test.to_owned());
            } else if status.has_failed() && of_nextest.is_none() {
                failures.insert(status.test.to_owned(), String::new());
                failed = Some(status.test.to_owned());
            } else if status.word.ends_with("PASS") {
                failures.remove(status.test);
            }
        } else if line.starts_with(SEPARATOR) {
            failed = None;
        } else if let Some(output) = failed.as_ref().and_then(|test| failures.get_mut(test)) {
            output.push_str(&line);
            output.push('\n');
        }
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
    Some(Summary {
        ran,
        skips,
        times,
        failures,
        flaky,
    })
}

/// What nextest puts before its closing lines.
const SEPARATOR: &str = "────────";

/// The column at which the words of nextest's lines on a test end. What tests print begins further right or left.
const STATUS_WIDTH: usize = 12;

/// Nextest's line on a test: `        PASS [   0.010s] (  3/120) gtrace-e2e::programs vector_add`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Status<'a> {
    /// `PASS`, `SLOW`, `FAIL`, `TRY 1 FAIL`, `FLAKY 2/2`, `SIGABRT`, `TIMEOUT`.
    word: &'a str,
    /// `BINARY TEST`.
    test: &'a str,
}

impl<'a> Status<'a> {
    fn of(line: &'a str) -> Option<Self> {
        let (word, rest) = line.split_at_checked(STATUS_WIDTH)?;
        let (_, test) = rest.strip_prefix(" [")?.split_once("s]")?;
        let word = word.trim();
        let is_word = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || " /+-".contains(c);
        if word.is_empty() || !word.chars().all(is_word) {
            return None;
        }
        // The counter is printed by newer versions only.
        let test = test.trim();
        let test = match test.strip_prefix('(').and_then(|rest| rest.split_once(')')) {
            Some((_, test)) => test.trim(),
            None => test,
        };
        Some(Self { word, test })
    }

    fn has_failed(self) -> bool {
        !["PASS", "SLOW", "LEAK", "START", "FLAKY"]
            .iter()
            .any(|word| self.word.contains(word))
    }
}

/// Which lines of nextest's output a person needs: not what passed tests print.
#[derive(Debug, Default)]
pub(crate) struct Quiet {
    of_passed: bool,
}

impl Quiet {
    /// Whether `line`, the next one, need not be shown.
    pub(crate) fn hides(&mut self, line: &str) -> bool {
        let line = without_colour(line);
        let line = line.trim_end();
        if let Some(status) = Status::of(line) {
            self.of_passed = status.word.ends_with("PASS");
            return self.of_passed;
        }
        if line.starts_with(SEPARATOR) {
            self.of_passed = false;
        }
        self.of_passed
    }
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
    // Brackets hold kinds of the tests counted before them.
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

/// The test that passed at once, and how long it took.
fn passed(line: &str) -> Option<(String, Duration)> {
    let status = Status::of(line).filter(|status| status.word == "PASS")?;
    let (_, rest) = line.split_once('[')?;
    let (seconds, _) = rest.split_once("s]")?;
    let seconds = seconds.trim().parse().ok()?;
    Some((status.test.to_owned(), Duration::from_secs_f64(seconds)))
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
    #[test]
    fn times_of_passed_tests_are_read() {
        let output = "        PASS [   1.250s] (  3/120) gtrace-e2e::programs vector_add\n\
                      \x20       PASS [   0.005s] gtrace-decoder tests::x\n\
                      \x20        PASS [   0.001s] what a test prints\n\
                      \x20       SLOW [> 60.000s] gtrace-store big\n\
                      Summary [   1.3s] 2 tests run: 2 passed, 0 skipped\n";
        let times = parse(output).unwrap().times;
        let named = |name: &str, millis| (name.to_owned(), Duration::from_millis(millis));
        assert_eq!(
            times,
            [
                named("gtrace-e2e::programs vector_add", 1250),
                named("gtrace-decoder tests::x", 5)
            ]
        );
    }

    const FAILING: &str = "────────────
        PASS [   0.010s] (1/4) gtrace-store a::fine
  stdout ───
    thread 'main' panicked, as it should
  TRY 1 FAIL [   0.020s] (2/4) gtrace-store a::now_and_then
  stderr ───
    assertion failed: early
  TRY 2 PASS [   0.020s] (2/4) gtrace-store a::now_and_then
  stdout ───
    nothing
  TRY 1 FAIL [   0.030s] (3/4) gtrace-store a::always
  stderr ───
    assertion failed: the first time
  TRY 2 FAIL [   0.031s] (3/4) gtrace-store a::always
  stderr ───
    assertion failed: the second time
     SIGABRT [   0.000s] (4/4) gtrace-store a::ends
────────────
     Summary [   0.1s] 4 tests run: 2 passed (1 flaky), 2 failed, 0 skipped
   FLAKY 2/2 [   0.020s] (2/4) gtrace-store a::now_and_then
  TRY 2 FAIL [   0.031s] (3/4) gtrace-store a::always
     SIGABRT [   0.000s] (4/4) gtrace-store a::ends
error: test run failed
";

    #[test]
    fn failures_have_what_they_printed_and_what_passes_again_is_flaky() {
        let summary = parse(FAILING).unwrap();
        assert_eq!(Some(summary.ran), ran(2, 2, 0));
        assert_eq!(summary.flaky, ["gtrace-store a::now_and_then"]);
        assert_eq!(
            summary.failures.keys().collect::<Vec<_>>(),
            ["gtrace-store a::always", "gtrace-store a::ends"]
        );
        let printed = &summary.failures["gtrace-store a::always"];
        assert!(printed.contains("the second time"), "{printed}");
        assert!(!printed.contains("the first time"), "{printed}");
    }

    #[test]
    fn a_test_that_hangs_is_flaky_where_it_ends_when_run_again() {
        let hangs = |second: &str, last: &str, numbers: &str| {
            format!(
                " TERMINATING [>900.000s] (1/1) gtrace-store a::hangs
   TRY 1 TMT [ 900.010s] (1/1) gtrace-store a::hangs
  stdout ───
    waiting
{second} [ 900.010s] (1/1) gtrace-store a::hangs
────────────
     Summary [ 901.0s] 1 test run: {numbers}, 0 skipped
{last} [ 900.010s] (1/1) gtrace-store a::hangs
"
            )
        };
        let once = hangs("  TRY 2 PASS", "   FLAKY 2/2", "1 passed (1 flaky)");
        let once = parse(&once).unwrap();
        assert_eq!(Some(once.ran), ran(1, 0, 0));
        assert_eq!((once.flaky.len(), once.failures.len()), (1, 0));
        let twice = hangs("   TRY 2 TMT", "   TRY 2 TMT", "0 passed, 1 timed out");
        let twice = parse(&twice).unwrap();
        assert_eq!(Some(twice.ran), ran(0, 1, 0));
        assert!(twice.flaky.is_empty() && twice.failures.contains_key("gtrace-store a::hangs"));
    }

    #[test]
    fn what_passed_tests_print_is_not_shown() {
        let mut quiet = Quiet::default();
        let shown: Vec<_> = FAILING.lines().filter(|line| !quiet.hides(line)).collect();
        assert!(shown.iter().any(|line| line.contains("early")));
        assert!(shown.iter().any(|line| line.contains("Summary")));
        assert!(!shown.iter().any(|line| line.contains("as it should")));
        assert!(!shown.iter().any(|line| line.contains("nothing")));
    }
}
