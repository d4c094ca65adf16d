//! docs/health.md has a line for each rule, as the rule files have it.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used)]

use std::path::Path;

use gtrace_health::Rules;

/// Without the marks before the lines that a site takes over.
fn uncommented(text: &str) -> String {
    let lines = text.lines().filter_map(|line| line.strip_prefix("#: "));
    lines.map(|line| format!("{line}\n")).collect()
}

#[test]
fn the_examples_of_rules_of_a_site_are_understood() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let example =
        std::fs::read_to_string(root.join("packaging/health-rules.example.toml")).unwrap();
    let builtin = Rules::builtin().unwrap().rows();
    let as_it_is = Rules::with_site("example", &example).unwrap().rows();
    assert_eq!(
        as_it_is, builtin,
        "nothing of it holds before somebody chooses"
    );
    let taken = Rules::with_site("example", &uncommented(&example))
        .unwrap()
        .rows();
    let changed = taken.iter().filter(|row| !builtin.contains(row)).count();
    assert_eq!(changed, 4, "{taken:#?}");
    let page = std::fs::read_to_string(root.join("docs/health.md")).unwrap();
    let section = page.split("### Rules of the site").nth(1).unwrap();
    let block = section.split("```toml\n").nth(1).unwrap();
    let block = block.split("```").next().unwrap();
    Rules::with_site("docs/health.md", block).unwrap();
}

#[test]
fn the_table_of_the_documentation_has_each_rule_as_it_is() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/health.md");
    let page = std::fs::read_to_string(page).unwrap();
    let rows: Vec<String> = Rules::builtin()
        .unwrap()
        .rows()
        .into_iter()
        .map(|row| {
            format!(
                "| `{}` | {} | {} | {} | {} | {} |",
                row.name, row.part, row.state, row.action, row.clears, row.escalates
            )
        })
        .collect();
    let missing: Vec<&String> = rows
        .iter()
        .filter(|row| !page.contains(row.as_str()))
        .collect();
    assert!(
        missing.is_empty(),
        "not in docs/health.md:\n{}",
        missing
            .iter()
            .map(|r| r.as_str())
            .collect::<Vec<_>>()
            .join("\n")
    );
    let of_table = page
        .lines()
        .filter(|line| line.starts_with("| `") && line.matches(" | ").count() == 5);
    let unknown: Vec<&str> = of_table
        .filter(|line| !rows.iter().any(|row| row == line))
        .collect();
    assert!(
        unknown.is_empty(),
        "no rule says so:\n{}",
        unknown.join("\n")
    );
}
