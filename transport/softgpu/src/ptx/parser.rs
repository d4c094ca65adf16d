//! Tokens into the declarations of a module. Bodies are read by `body`.

use super::ast::{Function, Linkage, Variable};
use super::error::PtxError;
use super::lexer::{Kind, Token, tokens};

/// What a text declares, in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Declarations {
    pub(crate) version: (u32, u32),
    pub(crate) target: String,
    pub(crate) variables: Vec<Variable>,
    pub(crate) functions: Vec<Function>,
}

/// Reads a whole module.
pub(crate) fn parse(text: &str) -> Result<Declarations, PtxError> {
    let tokens = tokens(text)?;
    let mut parser = Parser {
        tokens: &tokens,
        at: 0,
    };
    let mut out = Declarations::default();
    while parser.peek() != Kind::End {
        parser.declaration(&mut out)?;
    }
    if out.version == (0, 0) {
        return Err(PtxError::syntax(
            1,
            "no .version directive: this is not PTX",
        ));
    }
    Ok(out)
}

pub(crate) struct Parser<'t, 'a> {
    tokens: &'t [Token<'a>],
    pub(crate) at: usize,
}

impl<'a> Parser<'_, 'a> {
    pub(crate) fn peek(&self) -> Kind<'a> {
        self.ahead(0)
    }

    pub(crate) fn ahead(&self, by: usize) -> Kind<'a> {
        self.tokens
            .get(self.at + by)
            .map_or(Kind::End, |token| token.kind)
    }

    /// What was read since the place `begin`.
    pub(crate) fn since(&self, begin: usize) -> impl Iterator<Item = Kind<'a>> {
        let read = self.tokens.get(begin..self.at).unwrap_or_default();
        read.iter().map(|token| token.kind)
    }

    pub(crate) fn line(&self) -> u32 {
        self.tokens
            .get(self.at)
            .or(self.tokens.last())
            .map_or(0, |token| token.line)
    }

    pub(crate) fn advance(&mut self) -> Kind<'a> {
        let kind = self.peek();
        self.at += 1;
        kind
    }

    pub(crate) fn wrong(&self, expected: &str) -> PtxError {
        let found = match self.peek() {
            Kind::Word(word) => format!("`{word}`"),
            Kind::Dot(word) => format!("`.{word}`"),
            Kind::Punct(c) => format!("`{c}`"),
            Kind::End => "the end of the text".to_owned(),
            _ => "a literal".to_owned(),
        };
        PtxError::syntax(self.line(), format!("{expected} expected, {found} found"))
    }

    pub(crate) fn accept(&mut self, c: char) -> bool {
        let found = self.peek() == Kind::Punct(c);
        self.at += usize::from(found);
        found
    }

    pub(crate) fn expect(&mut self, c: char) -> Result<(), PtxError> {
        if self.accept(c) {
            Ok(())
        } else {
            Err(self.wrong(&format!("`{c}`")))
        }
    }

    pub(crate) fn accept_dot(&mut self, word: &str) -> bool {
        let found = self.peek() == Kind::Dot(word);
        self.at += usize::from(found);
        found
    }

    pub(crate) fn word(&mut self, what: &str) -> Result<&'a str, PtxError> {
        match self.peek() {
            Kind::Word(word) => {
                self.at += 1;
                Ok(word)
            }
            _ => Err(self.wrong(what)),
        }
    }

    pub(crate) fn int(&mut self) -> Result<u64, PtxError> {
        match self.peek() {
            Kind::Int(value) => {
                self.at += 1;
                Ok(value)
            }
            _ => Err(self.wrong("an integer")),
        }
    }

    pub(crate) fn small(&mut self) -> Result<u32, PtxError> {
        let line = self.line();
        u32::try_from(self.int()?).map_err(|_| PtxError::syntax(line, "number too large"))
    }

    /// Skips the rest of a directive that stands on one line.
    pub(crate) fn skip_line(&mut self) {
        let line = self.line();
        while self.peek() != Kind::End && self.line() == line {
            self.at += 1;
        }
    }

    pub(crate) fn skip_to(&mut self, c: char) -> Result<(), PtxError> {
        while !self.accept(c) {
            if self.peek() == Kind::End {
                return Err(self.wrong(&format!("`{c}`")));
            }
            self.at += 1;
        }
        Ok(())
    }

    fn skip_braces(&mut self) -> Result<(), PtxError> {
        while self.peek() != Kind::Punct('{') {
            if self.advance() == Kind::End {
                return Err(self.wrong("`{`"));
            }
        }
        let mut depth = 0_usize;
        loop {
            match self.advance() {
                Kind::Punct('{') => depth += 1,
                Kind::Punct('}') => {
                    depth -= 1;
                    if depth == 0 {
                        return Ok(());
                    }
                }
                Kind::End => return Err(self.wrong("`}`")),
                _ => {}
            }
        }
    }

    fn declaration(&mut self, out: &mut Declarations) -> Result<(), PtxError> {
        let mut linkage = Linkage::Module;
        loop {
            let line = self.line();
            let Kind::Dot(word) = self.peek() else {
                // Compilers leave a semicolon behind a declaration of a function.
                if self.accept(';') {
                    return Ok(());
                }
                return Err(self.wrong("a directive"));
            };
            match word {
                "version" => {
                    self.at += 1;
                    out.version = match self.advance() {
                        Kind::F64(bits) => {
                            let value = f64::from_bits(bits);
                            (value as u32, (value * 10.0).round() as u32 % 10)
                        }
                        Kind::Int(major) => (major as u32, 0),
                        _ => return Err(PtxError::syntax(line, "a version expected")),
                    };
                    if !(3..=9).contains(&out.version.0) {
                        return Err(PtxError::Unsupported {
                            line,
                            instruction: ".version".to_owned(),
                            reason: format!("PTX {}.{}", out.version.0, out.version.1),
                        });
                    }
                }
                "target" => {
                    self.at += 1;
                    out.target = self.word("a target")?.to_owned();
                    while self.accept(',') {
                        self.word("a target")?;
                    }
                }
                "address_size" => {
                    self.at += 1;
                    if self.int()? != 64 {
                        return Err(PtxError::Unsupported {
                            line,
                            instruction: ".address_size".to_owned(),
                            reason: "addresses have 64 bits here".to_owned(),
                        });
                    }
                }
                "visible" | "weak" | "extern" | "common" => {
                    self.at += 1;
                    linkage = match word {
                        "visible" => Linkage::Visible,
                        "extern" => Linkage::Extern,
                        _ => Linkage::Weak,
                    };
                    continue;
                }
                "file" | "loc" => self.skip_line(),
                "pragma" | "alias" => {
                    if word == "alias" {
                        return Err(PtxError::Unsupported {
                            line,
                            instruction: ".alias".to_owned(),
                            reason: "aliases of functions".to_owned(),
                        });
                    }
                    self.skip_to(';')?;
                }
                "section" => self.skip_braces()?,
                "entry" | "func" => {
                    let function = self.function(linkage)?;
                    out.functions.push(function);
                }
                "global" | "const" | "shared" | "local" => {
                    self.variables(linkage, &mut out.variables)?;
                }
                _ => return Err(self.wrong("a directive of a module")),
            }
            return Ok(());
        }
    }
}
