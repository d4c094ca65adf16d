//! What is wrong with a command line, and what to write instead.

use std::error::Error as _;
use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;

use clap::Command;
use clap::error::{ContextKind, ContextValue, Error, ErrorKind};

/// Longest list of values that is printed, characters: beyond it the help has them.
const LISTED: usize = 600;

/// What the standard library says of a text that is no number or address, and what that means to who typed it.
const PLAINER: &[(&str, &str)] = &[
    (
        "invalid digit found in string",
        "give a whole number, such as 42",
    ),
    (
        "cannot parse integer from empty string",
        "give a whole number, such as 42",
    ),
    (
        "number too large to fit in target type",
        "the number is too large",
    ),
    (
        "number too small to fit in target type",
        "the number is too small",
    ),
    (
        "number would be zero for non-zero type",
        "give a number from 1",
    ),
    ("invalid float literal", "give a number, such as 0.5"),
    (
        "cannot parse float from empty string",
        "give a number, such as 0.5",
    ),
    (
        "invalid socket address syntax",
        "give IP:PORT, such as 127.0.0.1:7473 or [::1]:7473",
    ),
];

/// Cause and remedy of `error`, which `root` found in `words`, the command line without the program's name. For standard error.
pub(super) fn text(error: &Error, mut root: Command, words: &[OsString]) -> String {
    root.build();
    let (command, path) = command_of(&root, words);
    let named = |kind| error.get(kind).map(ToString::to_string).unwrap_or_default();
    let argument = named(ContextKind::InvalidArg);
    let value = named(ContextKind::InvalidValue);
    let mut out = match error.kind() {
        ErrorKind::MissingRequiredArgument => missing(error, command, &path),
        ErrorKind::UnknownArgument => unknown(error, command, &path, words, &argument),
        ErrorKind::InvalidSubcommand => {
            let word = named(ContextKind::InvalidSubcommand);
            let names: Vec<&str> = command
                .get_subcommands()
                .filter(|sub| !sub.is_hide_set())
                .map(Command::get_name)
                .collect();
            // Commands by which gtrace starts itself are among those that are alike.
            let meant = suggestion(error, ContextKind::SuggestedSubcommand, |name| {
                names.contains(&name)
            });
            format!(
                "`{path}` has no command `{word}`{}\ncommands: {}\n",
                meant.unwrap_or_default(),
                names.join(", ")
            )
        }
        ErrorKind::InvalidValue if value.is_empty() => {
            format!("{argument} needs a value\n{}", about(command, &argument))
        }
        ErrorKind::InvalidValue => {
            let meant = suggestion(error, ContextKind::SuggestedValue, |_| true);
            let choose = match meant {
                Some(_) => " Use",
                None => "; use",
            };
            let meant = meant.unwrap_or_default();
            let one_of = match error.get(ContextKind::ValidValue) {
                Some(ContextValue::Strings(values)) if !values.is_empty() => {
                    format!("{choose} one of {}", values.join(", "))
                }
                _ => String::new(),
            };
            format!(
                "`{value}` is no value of {argument}{meant}{}\n",
                shortened(&one_of)
            )
        }
        ErrorKind::ValueValidation => {
            let cause = error.source().map(|cause| plainer(&cause.to_string()));
            format!(
                "{argument} does not take `{value}`: {}\n",
                cause.unwrap_or_else(|| "it is not understood".to_owned())
            )
        }
        ErrorKind::ArgumentConflict => {
            let others = match error.get(ContextKind::PriorArg) {
                Some(ContextValue::Strings(others)) => others.join(", "),
                Some(other) => other.to_string(),
                None => "what else is given".to_owned(),
            };
            // A subcommand is no argument.
            let argument = match argument.is_empty() {
                true => format!("`{}`", named(ContextKind::InvalidSubcommand)),
                false => argument,
            };
            match others == argument {
                true => format!("{argument} is given twice; give it once\n"),
                false => {
                    format!("{argument} cannot be used with {others}: leave one of them out\n")
                }
            }
        }
        _ => {
            let whole = error.render().to_string();
            let text = whole.strip_prefix("error: ").unwrap_or(&whole);
            // clap's own last line does not say of which command.
            let text = text.split("\n\nFor more information").next();
            format!("{}\n", text.unwrap_or_default().trim_end())
        }
    };
    let _ = writeln!(out, "`{path} --help` lists what can be given");
    out
}

/// The command that the words name, and what to type for it.
fn command_of<'a>(root: &'a Command, words: &[OsString]) -> (&'a Command, String) {
    let mut command = root;
    let mut path = root.get_name().to_owned();
    for word in words.iter().take_while(|word| word.as_os_str() != "--") {
        if let Some(sub) = command.find_subcommand(word) {
            command = sub;
            path = format!("{path} {}", sub.get_name());
        }
    }
    (command, path)
}

/// What of the help of an argument, as clap writes it (`--gpu <GPU>`, `<FILE>`), says in one line.
fn about(command: &Command, argument: &str) -> String {
    let found = command
        .get_arguments()
        .find(|known| known.to_string() == argument);
    match found.and_then(|known| known.get_help()) {
        Some(help) => format!("  {argument}  {help}\n"),
        None => format!("  {argument}\n"),
    }
}

fn missing(error: &Error, command: &Command, path: &str) -> String {
    let Some(ContextValue::Strings(arguments)) = error.get(ContextKind::InvalidArg) else {
        return format!("`{path}` needs more\n");
    };
    let mut out = format!("`{path}` needs\n");
    for argument in arguments {
        out.push_str(&about(command, argument));
    }
    out
}

/// An argument that the command does not have.
fn unknown(
    error: &Error,
    command: &Command,
    path: &str,
    words: &[OsString],
    argument: &str,
) -> String {
    let mut out = format!("`{path}` takes no `{argument}`");
    if let Some(sub) = having(command, argument) {
        let _ = write!(out, "; `{path} {sub}` does: write it after `{sub}`");
    } else if let Some(meant) = suggestion(error, ContextKind::SuggestedArg, |_| true) {
        out.push_str(&meant);
    } else if let Some(option) = option_before(command, words, argument) {
        // `--limit -1`: clap takes the number for an option.
        let _ = write!(
            out,
            "; a value that begins with - is written {option}={argument}"
        );
    } else if argument.starts_with('-') {
        let _ = write!(
            out,
            "; leave it out, or put `--` before a program's own options"
        );
    } else {
        out.push_str("; leave it out, or quote a value with spaces");
    }
    out.push('\n');
    if !argument.starts_with('-') {
        for known in command.get_positionals() {
            out.push_str(&about(command, &known.to_string()));
        }
    }
    out
}

/// The option with a value that stands before `argument`.
fn option_before(command: &Command, words: &[OsString], argument: &str) -> Option<String> {
    let begins = |word: &OsStr| word.to_str().is_some_and(|word| word.starts_with(argument));
    let at = words.iter().position(|word| begins(word))?;
    let before = words.get(at.checked_sub(1)?)?.to_str()?;
    let name = before.strip_prefix("--")?;
    let option = command
        .get_arguments()
        .find(|known| known.get_long() == Some(name))?;
    (option.get_action().takes_values() && argument.starts_with('-')).then(|| before.to_owned())
}

/// The first subcommand that has the option.
fn having<'a>(command: &'a Command, argument: &str) -> Option<&'a str> {
    let name = argument.strip_prefix("--")?;
    let has = |sub: &&Command| {
        let mut arguments = sub.get_arguments();
        !sub.is_hide_set() && arguments.any(|known| known.get_long() == Some(name))
    };
    command.get_subcommands().find(has).map(Command::get_name)
}

/// What was probably meant, of what `fits`.
fn suggestion(error: &Error, kind: ContextKind, fits: impl Fn(&str) -> bool) -> Option<String> {
    let meant = match error.get(kind)? {
        ContextValue::String(one) => Some(one).filter(|one| fits(one))?,
        // The most similar comes last.
        ContextValue::Strings(several) => several.iter().rev().find(|one| fits(one))?,
        _ => return None,
    };
    Some(format!("; did you mean `{meant}`?"))
}

fn plainer(cause: &str) -> String {
    // `5000 is not in 1..=1000`, as clap says of a number.
    if let Some((_, range)) = cause.split_once(" is not in ") {
        let mut ends = range.splitn(2, "..");
        return match (ends.next(), ends.next()) {
            (Some(""), Some(end)) => format!("at most {}", end.trim_start_matches('=')),
            (Some(begin), Some("")) => format!("at least {begin}"),
            (Some(begin), Some(end)) => {
                format!("from {begin} to {}", end.trim_start_matches('='))
            }
            _ => cause.to_owned(),
        };
    }
    let known = PLAINER.iter().find(|(original, _)| *original == cause);
    known.map_or_else(|| cause.to_owned(), |(_, plain)| (*plain).to_owned())
}

fn shortened(text: &str) -> &str {
    match text.len() > LISTED {
        true => "",
        false => text,
    }
}
