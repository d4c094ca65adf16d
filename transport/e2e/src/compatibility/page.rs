//! docs/programs.md, and reading it again.

use std::fmt::Write as _;

use super::{LINKS, NOT_RUN, PROGRAMS, Row};

const HEAD: &str = "<!-- Written by `cargo xtask programs`; changes by hand are lost. -->

# Programs on a remote GPU

Which programs run unmodified on a remote GPU, each on the CPU emulator itself (`gtrace serve --softgpu`) and through it over
TCP and shared memory. `cargo xtask programs` fetches them, runs them and writes this page; `cargo xtask test --frameworks`
compares.

* **works**: it ends with 0, and prints the same as on the emulator itself. **stops**: it ends with an error, whose last line is
  below. **differs**: it prints something else.
* Kernels: `executed`, or `skipped` where they are machine code of a GPU, which the emulator does not execute. Then results are
  not looked at; what is copied, allocated, shared and asked for is.
* A fault is the emulator's where the program stops on the emulator itself too, and gtrace's own where it does so through a link
  only.
";

/// The page, and whether a fault in it is remoting's.
pub fn page(rows: &[Row], absent: &[(&str, String)]) -> String {
    let mut out = HEAD.to_owned();
    let links: Vec<_> = LINKS.iter().map(|via| via.name()).collect();
    let _ = writeln!(
        out,
        "\n| program | version | what | kernels | directly | {} |\n|---|---|---|---|---|{}",
        links.join(" | "),
        "---|".repeat(links.len())
    );
    for row in rows {
        let _ = writeln!(out, "{}", line(row));
    }
    let mut faults = rows.iter().filter(|row| row.cause().is_some()).peekable();
    if faults.peek().is_some() {
        out += "\n## Where they stop\n\n| program | whose | cause |\n|---|---|---|\n";
    }
    for row in faults {
        let whose = if row.is_of_remoting() {
            "gtrace"
        } else {
            "emulator"
        };
        let cause = row.cause().unwrap_or_default().replace('|', "\\|");
        let _ = writeln!(
            out,
            "| {} | {whose} | `{}` |",
            row.program.name,
            cause.replace('`', "'")
        );
    }
    out += "\n## Not run\n\n| program | why |\n|---|---|\n";
    for (name, why) in NOT_RUN {
        let _ = writeln!(out, "| {name} | {why} |");
    }
    for (name, why) in absent {
        let _ = writeln!(out, "| {name} | {why} |");
    }
    out
}

fn line(row: &Row) -> String {
    let program = row.program;
    let skipped = program.server.iter().any(|(_, value)| *value == "skip");
    let kernels = if skipped { "skipped" } else { "executed" };
    let cells: Vec<_> = row.remotely.iter().map(super::Ended::word).collect();
    format!(
        "| {} <!-- {} --> | {} | {} | {kernels} | {} | {} |",
        program.name,
        program.id,
        row.versions,
        program.does,
        row.directly.word(),
        cells.join(" | ")
    )
}

/// A page with these rows anew, of programs that work: how others stop stands further below.
pub fn with_rows(page: &str, rows: &[Row]) -> String {
    let works: Vec<_> = rows.iter().filter(|row| row.cause().is_none()).collect();
    let anew = |old: &str| {
        let row = works
            .iter()
            .find(|row| old.contains(&format!("<!-- {} -->", row.program.id)));
        row.map_or_else(|| old.to_owned(), |row| line(row))
    };
    page.lines().map(|old| anew(old) + "\n").collect()
}

/// The words of a program's row in a page: directly, and over each link.
pub fn recorded(page: &str, id: &str) -> Option<Vec<String>> {
    let mark = format!("<!-- {id} -->");
    let row = page.lines().find(|line| line.contains(&mark))?;
    let cells: Vec<_> = row.trim_matches('|').split('|').map(str::trim).collect();
    let first = cells.len().checked_sub(LINKS.len() + 1)?;
    Some(
        cells[first..]
            .iter()
            .map(|cell| (*cell).to_owned())
            .collect(),
    )
}

/// The words of a row that was run.
pub fn words(row: &Row) -> Vec<String> {
    let all = std::iter::once(&row.directly).chain(&row.remotely);
    all.map(|ended| ended.word().to_owned()).collect()
}

/// Programs of the table whose row a page lacks.
pub fn lacking(page: &str) -> Vec<&'static str> {
    let ids = PROGRAMS.iter().map(|program| program.id);
    ids.filter(|id| recorded(page, id).is_none()).collect()
}

#[cfg(test)]
mod tests {
    use super::super::Ended;
    use super::*;

    #[test]
    fn a_row_is_read_as_it_was_written() {
        let row = Row {
            program: &PROGRAMS[0],
            versions: "torch 2.15.0".to_owned(),
            directly: Ended::Works,
            remotely: vec![
                Ended::Works,
                Ended::Stops("exit status: 1: a | b".to_owned()),
            ],
        };
        let page = page(std::slice::from_ref(&row), &[("other", "why".to_owned())]);
        let id = row.program.id;
        assert_eq!(recorded(&page, id).unwrap(), ["works", "works", "stops"]);
        assert_eq!(recorded(&page, id).unwrap(), words(&row));
        assert!(
            page.contains("| gtrace | `exit status: 1: a \\| b` |"),
            "{page}"
        );
        assert!(lacking(&page).len() == PROGRAMS.len() - 1);
        let works = Row {
            remotely: vec![Ended::Works, Ended::Works],
            ..row.clone()
        };
        let anew = with_rows(&page, std::slice::from_ref(&works));
        assert_eq!(recorded(&anew, id).unwrap(), ["works", "works", "works"]);
        assert_eq!(anew.lines().count(), page.lines().count());
        assert_eq!(with_rows(&page, &[row]), page);
    }
}
