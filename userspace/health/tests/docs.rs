//! docs/health.md has a line for each rule, as the rule files have it.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used)]

use std::path::Path;

use gtrace_health::Rules;

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
