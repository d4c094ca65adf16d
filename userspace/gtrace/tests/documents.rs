//! Every command line in README and docs is one that this gtrace takes.
#![allow(missing_docs, clippy::unwrap_used)]

use std::fs;
use std::path::{Path, PathBuf};

use clap::CommandFactory as _;
use clap::error::{ContextKind, ContextValue, ErrorKind};

/// A command line, without `gtrace`.
struct Found {
    place: String,
    line: String,
    /// Of a block that a reader copies; else a mention within a sentence, which may be cut short.
    whole: bool,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn pages() -> Vec<PathBuf> {
    let root = root();
    let mut pages = vec![
        root.join("README.md"),
        root.join("packaging/README.md"),
        root.join("packaging/kubernetes/README.md"),
        root.join("packaging/slurm/README.md"),
        root.join("CONTRIBUTING.md"),
        root.join("SECURITY.md"),
        root.join("ARCHITECTURE.md"),
        root.join("CHANGELOG.md"),
    ];
    for folder in ["docs", "docs/events"] {
        let entries = fs::read_dir(root.join(folder)).unwrap();
        let paths = entries.map(|entry| entry.unwrap().path());
        pages.extend(paths.filter(|path| path.extension().is_some_and(|e| e == "md")));
    }
    pages.sort();
    pages
}

/// What a shell would run of a line: without prompt, sudo and variables.
fn command_of(line: &str) -> Option<&str> {
    let mut rest = line.trim();
    if let Some((prompt, command)) = rest.split_once("$ ")
        && !prompt.contains(' ')
    {
        rest = command;
    }
    rest = rest.strip_prefix("sudo ").unwrap_or(rest);
    while let Some((word, after)) = rest.split_once(' ')
        && word.contains('=')
        && word.starts_with(|c: char| c.is_ascii_uppercase())
    {
        rest = after;
    }
    rest.strip_prefix("gtrace ")
}

/// Command lines of a page.
fn command_lines(name: &str, text: &str) -> Vec<Found> {
    let mut found = Vec::new();
    let mut in_block = false;
    let mut sentences = String::new();
    let mut joined = String::new();
    for (number, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            in_block = !in_block;
            sentences.push('\n');
            continue;
        }
        if !in_block {
            // A mention can go on in the next line.
            sentences.push_str(line);
            sentences.push(if line.trim().is_empty() { '\n' } else { ' ' });
            if line.starts_with('|') {
                sentences.push('\n');
            }
            continue;
        }
        joined.push_str(line.trim_end_matches('\\'));
        if line.ends_with('\\') {
            continue;
        }
        found.extend(command_of(&joined).map(|command| Found {
            place: format!("{name}:{}", number + 1),
            line: command.to_owned(),
            whole: true,
        }));
        joined.clear();
    }
    for paragraph in sentences.lines() {
        // The parts of odd number are code.
        for code in paragraph.split('`').skip(1).step_by(2) {
            found.extend(command_of(code).map(|command| Found {
                place: name.to_owned(),
                line: command.to_owned(),
                whole: false,
            }));
        }
    }
    found
}

/// The table of commands in README names them without `gtrace`.
fn table_of_commands(text: &str) -> Vec<Found> {
    let (_, section) = text.split_once("\n## Commands\n").unwrap();
    let (section, _) = section.split_once("\n## ").unwrap();
    let rows = section.lines().filter_map(|line| line.strip_prefix("| `"));
    rows.map(|row| Found {
        place: "README.md, table of commands".to_owned(),
        line: row.split('`').next().unwrap().to_owned(),
        whole: false,
    })
    .collect()
}

/// Words up to the first that is the shell's, with values for placeholders.
fn words(line: &str) -> Vec<String> {
    let split = shlex::split(line).unwrap_or_else(|| panic!("quotes do not match: {line}"));
    let is_shells = |word: &String| {
        matches!(
            word.as_str(),
            "|" | "&" | ";" | "&&" | "||" | "ARGS" | "..." | "…"
        ) || word.starts_with(['>', '<', '#'])
            || word.starts_with("2>")
    };
    let value = |word: String| match word.as_str() {
        "N" | "PID" | "CODE" => "1".to_owned(),
        "PCI" => "0000:3b:00.0".to_owned(),
        _ => word,
    };
    let words = split.into_iter().take_while(|word| !is_shells(word));
    words.map(value).collect()
}

/// Why this gtrace refuses a command line.
fn refused(found: &Found) -> Option<String> {
    let words = ["gtrace".to_owned()].into_iter().chain(words(&found.line));
    let error = gtrace::cli::Cli::command()
        .try_get_matches_from(words)
        .err()?;
    let is_cut_short = match error.kind() {
        ErrorKind::MissingRequiredArgument
        | ErrorKind::MissingSubcommand
        | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
        | ErrorKind::TooFewValues
        | ErrorKind::WrongNumberOfValues => true,
        ErrorKind::InvalidValue => {
            matches!(error.get(ContextKind::InvalidValue), Some(ContextValue::String(v)) if v.is_empty())
        }
        _ => false,
    };
    let is_fine = match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => true,
        _ => is_cut_short && !found.whole,
    };
    (!is_fine).then(|| format!("{}: gtrace {}\n  {error}", found.place, found.line))
}

#[test]
fn every_command_line_of_readme_and_docs_is_taken() {
    let mut found = Vec::new();
    for page in pages() {
        let text = fs::read_to_string(&page).unwrap();
        let name = page.strip_prefix(root()).unwrap().display().to_string();
        if name == "README.md" {
            found.extend(table_of_commands(&text));
        }
        found.extend(command_lines(&name, &text));
    }
    assert!(found.len() > 150, "only {} are found", found.len());
    assert!(found.iter().filter(|found| found.whole).count() > 40);
    let refused: Vec<String> = found.iter().filter_map(refused).collect();
    assert!(refused.is_empty(), "{}", refused.join("\n"));
}

#[test]
fn a_command_line_that_does_not_exist_is_noticed() {
    let of = |text: &str| -> Vec<bool> {
        let lines = command_lines("x", text);
        lines.iter().map(|line| refused(line).is_some()).collect()
    };
    assert_eq!(of("Run `gtrace pause --driver` first.\n"), [true]);
    assert_eq!(
        of("Run `gtrace\npause` or `gtrace pauze`.\n"),
        [false, true]
    );
    assert_eq!(
        of("`gtrace exec --remote` and `gtrace ack`\n"),
        [false, false]
    );
    let block =
        "```console\n$ sudo gtrace ack\nhost$ X=1 gtrace trace \\\n  --pid 7 -o f # why\n```\n";
    assert_eq!(of(block), [true, false]);
}

#[test]
fn help_of_a_command_has_more_than_its_line_in_the_list() {
    let mut all = gtrace::cli::Cli::command();
    let list = all.render_help().to_string();
    for (name, line, more) in [
        (
            "decode",
            "Explain a saved kernel log",
            "Exit status: 0 nothing found",
        ),
        ("top", "Live view of GPUs, the host", "`?` lists the keys"),
        (
            "profile",
            "Latency percentiles of CUDA",
            "measured by uprobes",
        ),
        (
            "trace",
            "Record the CUDA calls",
            "Exit status of `gtrace trace -- PROGRAM`",
        ),
        ("pause", "Detach every probe", "--config"),
    ] {
        assert!(list.contains(line), "{name}: {list}");
        let command = all.find_subcommand_mut(name).unwrap();
        let help = command.render_long_help().to_string();
        assert!(help.starts_with(line) && help.contains(more), "{help}");
    }
}
