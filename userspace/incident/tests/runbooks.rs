//! Each class of failure has its page in docs/runbooks, all with the same headings, and the index names them all.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used)]

use std::path::{Path, PathBuf};

use gtrace_event::FailureClass;

const HEADINGS: [&str; 5] = [
    "## Is it this?",
    "## Do now",
    "## Find the cause",
    "## Afterwards",
    "## Drill",
];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/runbooks")
}

fn read(name: &str) -> String {
    let path = folder().join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn every_class_has_a_page_of_the_same_form() {
    for class in FailureClass::ALL {
        let name = class.name();
        let text = read(&format!("{name}.md"));
        let first = text.lines().next().unwrap();
        assert!(
            first.starts_with(&format!("# {name}: ")),
            "{name}.md begins with {first:?}"
        );
        let headings: Vec<&str> = text
            .lines()
            .filter(|line| line.starts_with("## "))
            .collect();
        assert_eq!(headings, HEADINGS, "{name}.md");
        let lines = text.lines().count();
        assert!(
            (30..=60).contains(&lines),
            "{name}.md has {lines} lines: a page is short"
        );
    }
}

#[test]
fn the_steps_to_do_now_say_whose_they_are() {
    for class in FailureClass::ALL {
        let text = read(&format!("{}.md", class.name()));
        let (_, steps) = text.split_once("## Do now").unwrap();
        let (steps, _) = steps.split_once("## Find the cause").unwrap();
        let steps: Vec<&str> = steps
            .lines()
            .filter(|line| line.starts_with(|first: char| first.is_ascii_digit()))
            .collect();
        assert!(steps.len() >= 3, "{class}: only {} steps", steps.len());
        for (number, step) in steps.iter().enumerate() {
            let start = format!("{}. **", number + 1);
            assert!(
                step.starts_with(&format!("{start}Site:** "))
                    || step.starts_with(&format!("{start}Vendor:** ")),
                "{class}: {step}"
            );
        }
    }
}

#[test]
fn the_index_names_every_page_and_no_page_is_of_no_class() {
    let index = read("README.md");
    for class in FailureClass::ALL {
        let name = class.name();
        assert!(
            index.contains(&format!("[{name}]({name}.md)")),
            "README.md does not name {name}"
        );
    }
    for entry in std::fs::read_dir(folder()).unwrap() {
        let file = entry.unwrap().file_name().into_string().unwrap();
        let name = file.strip_suffix(".md").unwrap_or(&file);
        assert!(
            name == "README" || name.parse::<FailureClass>().is_ok(),
            "{file} is of no class"
        );
    }
}
