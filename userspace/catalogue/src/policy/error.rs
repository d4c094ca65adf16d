/// Why a site's policy was refused. The policy that was in force stays in force.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("site policy, {place}: {cause}; {remedy}", place = self.place())]
pub struct PolicyError {
    /// Line of the file, counted from 1; `None` where the whole file is at fault.
    pub line: Option<usize>,
    /// What stands there, shortened: the key and its value, or the rule's heading.
    pub text: String,
    /// What is wrong with it.
    pub cause: String,
    /// What to write instead.
    pub remedy: String,
}

impl PolicyError {
    /// An error about the byte range that starts at `offset` in `toml`.
    pub(crate) fn at(
        toml: &str,
        offset: Option<usize>,
        cause: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        let offset = offset.map(|o| o.min(toml.len()));
        let before = offset.and_then(|o| toml.as_bytes().get(..o));
        let line = before.map(|b| b.iter().filter(|c| **c == b'\n').count() + 1);
        let text = line.and_then(|n| toml.lines().nth(n - 1)).unwrap_or("");
        Self {
            line,
            text: text.trim().chars().take(80).collect(),
            cause: cause.into(),
            remedy: remedy.into(),
        }
    }

    fn place(&self) -> String {
        match (self.line, self.text.is_empty()) {
            (Some(line), false) => format!("line {line}, `{}`", self.text),
            (Some(line), true) => format!("line {line}"),
            (None, _) => "the whole file".to_owned(),
        }
    }
}
