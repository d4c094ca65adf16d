//! Markdown for a terminal: headings, lists, tables and code as they read well there. For gtrace's own pages, which have no
//! more than that.

use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use crate::Style;

/// Columns of a page that is wrapped without a known width.
const USUAL: usize = 80;
/// Narrowest column of a table that text is wrapped in.
const NARROWEST: usize = 24;

const BOLD: &str = "1";
const TITLE: &str = "1;4";
const CODE: &str = "36";

/// A page of Markdown for a terminal. `link` gives what to write behind the text of a link, for its destination.
pub fn markdown(text: &str, style: &Style, link: &dyn Fn(&str) -> Option<String>) -> String {
    let mut page = Page {
        style,
        width: style.width.unwrap_or(USUAL),
        link,
        out: String::new(),
        line: Vec::new(),
        glued: true,
        strong: 0,
        lists: Vec::new(),
        bullet: None,
        code: None,
        table: None,
        destination: None,
    };
    for event in Parser::new_ext(text, Options::ENABLE_TABLES) {
        page.event(event);
    }
    page.flush();
    let end = page.out.trim_end().len();
    page.out.truncate(end);
    page.out.push('\n');
    page.out
}

/// A word, or a piece of code, which is never broken.
#[derive(Clone, Debug)]
struct Token {
    text: String,
    /// Codes of its colour and weight; empty for plain text.
    look: &'static str,
    /// It follows the one before without a space.
    glued: bool,
    /// A line ends before it.
    newline: bool,
}

type Cell = Vec<Token>;

struct Page<'a> {
    style: &'a Style,
    width: usize,
    link: &'a dyn Fn(&str) -> Option<String>,
    out: String,
    line: Vec<Token>,
    /// Whether the next word follows without a space.
    glued: bool,
    strong: usize,
    /// The next number of each list that is open; `None` for bullets.
    lists: Vec<Option<u64>>,
    /// What stands before the first line of an item.
    bullet: Option<String>,
    /// Text of the block of code that is open.
    code: Option<String>,
    table: Option<Vec<Vec<Cell>>>,
    destination: Option<String>,
}

impl Page<'_> {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) => match &mut self.code {
                Some(code) => code.push_str(&text),
                None => self.words(&text),
            },
            Event::Code(code) => {
                let text = match self.style.color {
                    true => code.into_string(),
                    false => format!("`{code}`"),
                };
                self.push(text, CODE);
                self.glued = true;
            }
            Event::SoftBreak => {
                // A command on a line of its own stays so.
                let only_code = !self.line.is_empty() && self.line.iter().all(|t| t.look == CODE);
                self.break_line(only_code && self.table.is_none());
            }
            Event::HardBreak => self.break_line(true),
            Event::Rule => self.out.push('\n'),
            // HTML and footnotes, which the pages do not have.
            Event::Html(text) | Event::InlineHtml(text) => self.words(&text),
            _ => {}
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Paragraph if self.bullet.is_none() => self.flush(),
            Tag::Heading { .. } => {
                self.flush();
                self.blank();
            }
            Tag::List(first) => {
                self.flush();
                if self.lists.is_empty() {
                    self.blank();
                }
                self.lists.push(first);
            }
            Tag::Item => {
                self.flush();
                let bullet = match self.lists.last_mut() {
                    Some(Some(number)) => {
                        *number += 1;
                        format!("{}. ", *number - 1)
                    }
                    _ => "* ".to_owned(),
                };
                self.bullet = Some(bullet);
            }
            Tag::CodeBlock(_) => {
                self.flush();
                self.code = Some(String::new());
            }
            Tag::Strong => self.strong += 1,
            Tag::Link { dest_url, .. } => self.destination = Some(dest_url.into_string()),
            Tag::Table(_) => {
                self.flush();
                self.blank();
                self.table = Some(Vec::new());
            }
            Tag::TableHead | Tag::TableRow => {
                if let Some(rows) = &mut self.table {
                    rows.push(Vec::new());
                }
            }
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph => {
                self.flush();
                if self.lists.is_empty() {
                    self.blank();
                }
            }
            TagEnd::Heading(level) => self.heading(level),
            TagEnd::Item => {
                self.flush();
                self.bullet = None;
            }
            TagEnd::List(_) => {
                self.flush();
                self.lists.pop();
                if self.lists.is_empty() {
                    self.blank();
                }
            }
            TagEnd::CodeBlock => {
                self.blank();
                let indent = " ".repeat(self.indent() + 4);
                for line in self.code.take().unwrap_or_default().lines() {
                    let line = self.style.paint(line, CODE);
                    self.out.push_str(format!("{indent}{line}").trim_end());
                    self.out.push('\n');
                }
                self.blank();
            }
            TagEnd::Strong => self.strong = self.strong.saturating_sub(1),
            TagEnd::Link => {
                let destination = self.destination.take().unwrap_or_default();
                if let Some(shown) = (self.link)(&destination) {
                    self.glued = false;
                    self.words(&format!("({shown})"));
                    self.glued = true;
                }
            }
            TagEnd::TableCell => {
                let cell = std::mem::take(&mut self.line);
                self.glued = true;
                let row = self.table.as_mut().and_then(|rows| rows.last_mut());
                if let Some(row) = row {
                    row.push(cell);
                }
            }
            TagEnd::Table => {
                if let Some(rows) = self.table.take() {
                    self.rows(&rows);
                }
                self.blank();
            }
            _ => {}
        }
    }

    /// Takes text apart into words.
    fn words(&mut self, text: &str) {
        let look = if self.strong > 0 { BOLD } else { "" };
        self.glued &= !text.starts_with(' ');
        for word in text.split(' ').filter(|word| !word.is_empty()) {
            self.push(word.to_owned(), look);
        }
        self.glued = !text.ends_with(' ') && !text.is_empty();
    }

    fn push(&mut self, text: String, look: &'static str) {
        self.line.push(Token {
            text,
            look,
            glued: self.glued,
            newline: false,
        });
        self.glued = false;
    }

    fn break_line(&mut self, newline: bool) {
        self.glued = false;
        if newline {
            self.line.push(Token {
                text: String::new(),
                look: "",
                glued: false,
                newline: true,
            });
        }
    }

    /// Columns before what stands in the open lists.
    fn indent(&self) -> usize {
        // `* ` and `1. ` stand in the last of them.
        self.lists.len() * 3
    }

    /// Ends a paragraph or the text of an item.
    fn flush(&mut self) {
        let line = std::mem::take(&mut self.line);
        self.glued = true;
        if line.is_empty() {
            return;
        }
        let indent = " ".repeat(self.indent());
        let first = match self.bullet.take() {
            Some(bullet) => {
                let before = self.indent().saturating_sub(bullet.len());
                format!("{}{bullet}", " ".repeat(before))
            }
            None => indent.clone(),
        };
        let lines = wrapped(&line, self.width.saturating_sub(indent.len()), self.style);
        for (at, line) in lines.iter().enumerate() {
            let lead = if at == 0 { &first } else { &indent };
            self.out.push_str(format!("{lead}{line}").trim_end());
            self.out.push('\n');
        }
    }

    fn heading(&mut self, level: HeadingLevel) {
        let words = std::mem::take(&mut self.line);
        self.glued = true;
        let plain = Style {
            color: false,
            ..self.style.clone()
        };
        let text = wrapped(&words, usize::MAX, &plain)
            .concat()
            .replace('`', "");
        let (look, line) = match level {
            HeadingLevel::H1 => (TITLE, '='),
            _ => (BOLD, '-'),
        };
        self.out.push_str(&self.style.paint(&text, look));
        self.out.push('\n');
        if !self.style.color {
            let length = text.chars().count().min(self.width);
            self.out.extend(std::iter::repeat_n(line, length));
            self.out.push('\n');
        }
        self.blank();
    }

    /// An empty line, unless there is one.
    fn blank(&mut self) {
        if !self.out.is_empty() && !self.out.ends_with("\n\n") {
            self.out.push('\n');
        }
    }

    /// A table: columns beside each other, of which the last is wrapped; where they are too wide, a block a row.
    fn rows(&mut self, rows: &[Vec<Cell>]) {
        let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
        let natural = |at: usize| {
            let cells = rows.iter().filter_map(|row| row.get(at));
            cells
                .map(|cell| length(cell, self.style))
                .max()
                .unwrap_or(0)
        };
        let Some(last) = columns.checked_sub(1) else {
            return;
        };
        let widths: Vec<usize> = (0..last).map(natural).collect();
        let before: usize = widths.iter().map(|width| width + 2).sum();
        let left = self.width.saturating_sub(before);
        if left < NARROWEST.min(natural(last)) {
            self.blocks(rows);
            return;
        }
        for (number, row) in rows.iter().enumerate() {
            let mut lead = String::new();
            for (cell, width) in row.iter().zip(&widths) {
                let text = wrapped(&head(cell, number == 0), usize::MAX, self.style).concat();
                let gap = width.saturating_sub(length(cell, self.style)) + 2;
                lead.push_str(&text);
                lead.push_str(&" ".repeat(gap));
            }
            let cell = row.get(last).cloned().unwrap_or_default();
            let lines = wrapped(&head(&cell, number == 0), left, self.style);
            for (at, line) in lines.iter().enumerate() {
                let lead = match at {
                    0 => lead.clone(),
                    _ => " ".repeat(before),
                };
                self.out.push_str(format!("{lead}{line}").trim_end());
                self.out.push('\n');
            }
        }
    }

    fn blocks(&mut self, rows: &[Vec<Cell>]) {
        let Some((names, rows)) = rows.split_first() else {
            return;
        };
        for row in rows {
            for (name, cell) in names.iter().zip(row) {
                let mut line = head(name, true);
                if let Some(token) = line.last_mut() {
                    token.text.push(':');
                }
                let mut value = cell.clone();
                if let Some(token) = value.first_mut() {
                    token.glued = false;
                }
                line.extend(value);
                for (at, line) in wrapped(&line, self.width.saturating_sub(2), self.style)
                    .iter()
                    .enumerate()
                {
                    let lead = if at == 0 { "" } else { "  " };
                    self.out.push_str(format!("{lead}{line}").trim_end());
                    self.out.push('\n');
                }
            }
            self.blank();
        }
    }
}

/// The cell, in bold where it is one of the head.
fn head(cell: &[Token], is_head: bool) -> Cell {
    let look = |token: &Token| Token {
        look: if is_head { BOLD } else { token.look },
        ..token.clone()
    };
    cell.iter().map(look).collect()
}

/// Columns that the tokens take on one line.
fn length(tokens: &[Token], style: &Style) -> usize {
    let plain = Style {
        color: false,
        ..style.clone()
    };
    let lines = wrapped(tokens, usize::MAX, &plain);
    lines
        .iter()
        .map(|line| line.chars().count())
        .max()
        .unwrap_or(0)
}

/// Lines of at most `width` columns, as far as no single token is longer.
fn wrapped(tokens: &[Token], width: usize, style: &Style) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    let mut used = 0;
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        if token.newline {
            lines.push(std::mem::take(&mut line));
            (used, at) = (0, at + 1);
            continue;
        }
        // What is glued to a token goes to the next line with it.
        let more = tokens[at + 1..]
            .iter()
            .take_while(|next| next.glued && !next.newline);
        let count = 1 + more.count();
        let group = &tokens[at..at + count];
        let long: usize = group.iter().map(|token| token.text.chars().count()).sum();
        if used > 0 && used + 1 + long > width {
            lines.push(std::mem::take(&mut line));
            used = 0;
        } else if used > 0 {
            line.push(' ');
            used += 1;
        }
        for token in group {
            match token.look {
                "" => line.push_str(&token.text),
                look => line.push_str(&style.paint(&token.text, look)),
            }
        }
        used += long;
        at += count;
    }
    if !line.is_empty() || lines.is_empty() {
        lines.push(line);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "# pcie: the link of a GPU\n\nThe host no longer reaches the GPU. All work on it is lost.\n\n\
        ## Is it this?\n\n* `gtrace events --kind xid,aer`\n  Which came first: errors of **the port** or the GPU.\n\
        * Heat: [thermal](thermal.md) is the cause.\n\n1. **Site:** Drain it.\n2. Restart.\n\n```sh\nlspci -s 3b:00.0 \
        # a comment that is longer than the page\n```\n\n| code | what it means |\n|---|---|\n| `79` | the GPU fell off \
        the bus and no longer answers |\n| `154` | recovery |\n";

    fn shown(width: usize, color: bool) -> String {
        let style = Style {
            color,
            width: Some(width),
            ..Style::plain()
        };
        let link = |to: &str| {
            to.strip_suffix(".md")
                .map(|page| format!("gtrace runbook {page}"))
        };
        markdown(PAGE, &style, &link)
    }

    #[test]
    fn a_page_reads_well_without_its_marks() {
        let want = "\
pcie: the link of a GPU
=======================

The host no longer reaches the GPU. All
work on it is lost.

Is it this?
-----------

 * `gtrace events --kind xid,aer`
   Which came first: errors of the port
   or the GPU.
 * Heat: thermal (gtrace runbook
   thermal) is the cause.

1. Site: Drain it.
2. Restart.

    lspci -s 3b:00.0 # a comment that is longer than the page

code   what it means
`79`   the GPU fell off the bus and no
       longer answers
`154`  recovery
";
        assert_eq!(shown(40, false), want);
    }

    #[test]
    fn colours_mark_headings_and_code_and_take_no_columns() {
        let text = shown(40, true);
        assert!(
            text.starts_with("\x1b[1;4mpcie: the link of a GPU\x1b[0m\n\n"),
            "{text:?}"
        );
        assert!(
            text.contains(" * \x1b[36mgtrace events --kind xid,aer\x1b[0m\n   Which"),
            "{text:?}"
        );
        assert!(text.contains("\x1b[1mSite:\x1b[0m Drain"), "{text:?}");
        let bare = text.replace("\x1b[1;4m", "").replace("\x1b[1m", "");
        let bare = bare.replace("\x1b[36m", "").replace("\x1b[0m", "");
        assert!(!bare.contains('\x1b') && !bare.contains("==="), "{bare}");
    }

    #[test]
    fn a_table_that_is_too_wide_is_a_block_a_row() {
        let text = "| a long first column of a table | second |\n|---|---|\n| one and two and three and four | five |\n";
        let style = Style {
            width: Some(34),
            ..Style::plain()
        };
        let shown = markdown(text, &style, &|_| None);
        let want =
            "a long first column of a table:\n  one and two and three and four\nsecond: five\n";
        assert_eq!(shown, want);
    }
}
