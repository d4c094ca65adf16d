//! Command lines that are wrong, and what is said of them.

use std::ffi::OsString;

use clap::{Command, CommandFactory as _, Parser as _};

use super::Cli;
use crate::cli::usage::text;

fn message(line: &str) -> String {
    let words = shlex::split(line).unwrap();
    let error = Cli::try_parse_from(&words).map(drop).unwrap_err();
    let words: Vec<OsString> = words.into_iter().skip(1).map(OsString::from).collect();
    text(&error, Cli::command(), &words)
}

/// Wrong command lines, each with what its answer has to say. Of the commands that are alike, the most similar one that is for
/// people is named.
const WRONG: &str = "\
gtrace evnts
    no command `evnts`
    did you mean `events`?
    `gtrace --help`
gtrace statu
    did you mean `status`?
gtrace serv
    did you mean `serve`?
gtrace report --incident x verify y
    `verify` cannot be used with --incident <ID>: leave one
gtrace baseline foo
    `gtrace baseline` has no command `foo`
    commands: save, check, show
gtrace incidents ack
    `gtrace incidents ack` needs
    <INCIDENT>  The incident's id
    `gtrace incidents ack --help`
gtrace inject xid --gpu 0000:3b:00.0
    `gtrace inject xid` needs
    <CODE>
gtrace report --until 5m
    `gtrace report` needs
    --since <TIME>  The time from this one on
gtrace profile --pid x
    --pid <PID> does not take `x`: give a whole number
gtrace incidents --limit 5000
    --limit <N> does not take `5000`: from 1 to 1000
gtrace events --limit -1
    takes no `-1`
    written --limit=-1
gtrace events --since foo
    --since <TIME> does not take `foo`: `foo` is not a time: write RFC 3339
gtrace top --once --sort foo
    `foo` is no value of --sort <COLUMN>; use one of api, latency
gtrace report --incident
    --incident <ID> needs a value
    at least 6 characters
gtrace health --npd --json
    --npd cannot be used with --json: leave one of them out
gtrace health --json --json
    --json is given twice
gtrace completions tcsh
    did you mean `zsh`? Use one of bash
gtrace token new x --rate 0
    --rate <N> does not take `0`: give a number from 1
gtrace token new 'a b'
    <NAME> does not take `a b`
    letters, digits and ._-@
gtrace serve --resume 25h
    does not take `25h`
    at most 24h
gtrace serve --max-clients 0
    --max-clients <N> does not take `0`: give a number from 1
gtrace capture --wait 5
    `gtrace capture` takes no `5`; leave it out
gtrace decode a b
    takes no `b`
    `zcat -f FILE... | gtrace decode`
gtrace run --port 1
    `gtrace run` takes no `--port`
gtrace incidents --note x
    `gtrace incidents` takes no `--note`; `gtrace incidents ack` does
gtrace head --listen x
    --listen <ADDRESS> does not take `x`: give IP:PORT
";

#[test]
fn each_wrong_command_line_is_answered_with_cause_and_remedy() {
    let (mut line, mut text) = ("", String::new());
    for next in WRONG.lines() {
        if let Some(part) = next.strip_prefix("    ") {
            assert!(text.contains(part), "{line}: {part:?} is not in\n{text}");
            continue;
        }
        (line, text) = (next, message(next));
        assert!(
            text.ends_with("lists what can be given\n"),
            "{line}\n{text}"
        );
        for residue in ["For more information", "error:", "target type", "in string"] {
            assert!(!text.contains(residue), "{line}\n{text}");
        }
    }
}

#[test]
fn no_option_shows_the_name_of_a_variable_for_its_value() {
    fn check(command: &Command, path: &str) {
        let with_value = |argument: &&clap::Arg| argument.get_action().takes_values();
        for argument in command.get_arguments().filter(with_value) {
            for name in argument.get_value_names().unwrap_or_default() {
                assert!(!name.contains('_'), "{path} {argument}");
            }
        }
        for sub in command.get_subcommands() {
            check(sub, &format!("{path} {}", sub.get_name()));
        }
    }
    let mut root = Cli::command();
    root.build();
    check(&root, "gtrace");
}
