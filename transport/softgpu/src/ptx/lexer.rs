//! PTX text into tokens. PTX ISA 8.x, section 4 "Syntax".

use super::error::PtxError;

/// A token; text is borrowed from the module.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kind<'a> {
    /// Identifier: opcode, register, symbol, label.
    Word(&'a str),
    /// `.word`: directive, type, modifier; without the dot.
    Dot(&'a str),
    /// Integer literal.
    Int(u64),
    /// `0f3F800000`: bits of an f32.
    F32(u32),
    /// `0d...` or a decimal fraction: bits of an f64.
    F64(u64),
    /// String literal without its quotes.
    Text(&'a str),
    /// One character of punctuation.
    Punct(char),
    /// End of the text.
    End,
}

/// A token and the line it stands on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token<'a> {
    pub(crate) kind: Kind<'a>,
    pub(crate) line: u32,
}

/// All tokens, comments left out, `End` last.
pub(crate) fn tokens(text: &str) -> Result<Vec<Token<'_>>, PtxError> {
    let mut lexer = Lexer {
        text,
        at: 0,
        line: 1,
    };
    let mut out = Vec::with_capacity(text.len() / 4);
    loop {
        lexer.skip_blank()?;
        let line = lexer.line;
        let kind = lexer.next()?;
        out.push(Token { kind, line });
        if kind == Kind::End {
            return Ok(out);
        }
    }
}

struct Lexer<'a> {
    text: &'a str,
    at: usize,
    line: u32,
}

fn starts_word(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'$' | b'%')
}

fn continues_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$')
}

impl<'a> Lexer<'a> {
    fn byte(&self, ahead: usize) -> u8 {
        self.text
            .as_bytes()
            .get(self.at + ahead)
            .copied()
            .unwrap_or(0)
    }

    fn error(&self, message: impl Into<String>) -> PtxError {
        PtxError::syntax(self.line, message)
    }

    fn slice(&self, from: usize) -> &'a str {
        self.text.get(from..self.at).unwrap_or_default()
    }

    fn skip_blank(&mut self) -> Result<(), PtxError> {
        while self.at < self.text.len() {
            match (self.byte(0), self.byte(1)) {
                (b'\n', _) => {
                    self.line += 1;
                    self.at += 1;
                }
                (b'/', b'/') => {
                    while self.at < self.text.len() && self.byte(0) != b'\n' {
                        self.at += 1;
                    }
                }
                (b'/', b'*') => {
                    let rest = self.text.get(self.at..).unwrap_or_default();
                    let Some(end) = rest.find("*/") else {
                        return Err(self.error("comment without an end"));
                    };
                    self.line += rest[..end].matches('\n').count() as u32;
                    self.at += end + 2;
                }
                // A driver hands over text with its final zero byte.
                (b' ' | b'\t' | b'\r' | b'\x0c' | 0, _) => self.at += 1,
                _ => break,
            }
        }
        Ok(())
    }

    fn next(&mut self) -> Result<Kind<'a>, PtxError> {
        if self.at >= self.text.len() {
            return Ok(Kind::End);
        }
        let byte = self.byte(0);
        match byte {
            b'"' => self.text_literal(),
            b'0'..=b'9' => self.number(),
            b'.' if continues_word(self.byte(1)) => {
                self.at += 1;
                let from = self.at;
                // `.shared::cta`, `.L1::evict_last` are one word.
                loop {
                    if continues_word(self.byte(0)) {
                        self.at += 1;
                    } else if self.byte(0) == b':' && self.byte(1) == b':' {
                        self.at += 2;
                    } else {
                        break;
                    }
                }
                Ok(Kind::Dot(self.slice(from)))
            }
            _ if starts_word(byte) => {
                let from = self.at;
                self.at += 1;
                while continues_word(self.byte(0)) {
                    self.at += 1;
                }
                Ok(Kind::Word(self.slice(from)))
            }
            _ if byte.is_ascii_graphic() => {
                self.at += 1;
                Ok(Kind::Punct(char::from(byte)))
            }
            _ => Err(self.error(format!("unexpected byte {byte:#04x}"))),
        }
    }

    fn text_literal(&mut self) -> Result<Kind<'a>, PtxError> {
        self.at += 1;
        let from = self.at;
        while self.at < self.text.len() {
            match self.byte(0) {
                b'"' => {
                    let text = self.slice(from);
                    self.at += 1;
                    return Ok(Kind::Text(text));
                }
                b'\\' => self.at += 2,
                b'\n' => break,
                _ => self.at += 1,
            }
        }
        Err(self.error("string without an end"))
    }

    fn number(&mut self) -> Result<Kind<'a>, PtxError> {
        let from = self.at;
        match (self.byte(0), self.byte(1)) {
            (b'0', b'f' | b'F') => return self.bits(8, |bits| Kind::F32(bits as u32)),
            (b'0', b'd' | b'D') => return self.bits(16, Kind::F64),
            (b'0', b'x' | b'X') => {
                self.at += 2;
                return self.radix(16);
            }
            (b'0', b'b' | b'B') => {
                self.at += 2;
                return self.radix(2);
            }
            _ => {}
        }
        while self.byte(0).is_ascii_digit() {
            self.at += 1;
        }
        let fraction = self.byte(0) == b'.' && self.byte(1).is_ascii_digit();
        let exponent = matches!(self.byte(0), b'e' | b'E');
        if fraction || exponent {
            while self.byte(0).is_ascii_digit()
                || self.byte(0) == b'.'
                || matches!(self.byte(0), b'e' | b'E')
                || (matches!(self.byte(0), b'+' | b'-')
                    && self.at > from
                    && matches!(self.text.as_bytes()[self.at - 1], b'e' | b'E'))
            {
                self.at += 1;
            }
            let text = self.slice(from);
            let value: f64 = text
                .parse()
                .map_err(|_| self.error(format!("`{text}` is no number")))?;
            return Ok(Kind::F64(value.to_bits()));
        }
        self.at = from;
        let octal = self.byte(0) == b'0' && self.byte(1).is_ascii_digit();
        self.radix(if octal { 8 } else { 10 })
    }

    fn radix(&mut self, radix: u32) -> Result<Kind<'a>, PtxError> {
        let from = self.at;
        while char::from(self.byte(0)).is_digit(radix) {
            self.at += 1;
        }
        let digits = self.slice(from);
        let value = u64::from_str_radix(digits, radix)
            .map_err(|_| self.error(format!("`{digits}` is no integer of 64 bits")))?;
        if matches!(self.byte(0), b'U' | b'u') {
            self.at += 1;
        }
        if continues_word(self.byte(0)) {
            return Err(self.error("letters behind a number"));
        }
        Ok(Kind::Int(value))
    }

    fn bits(
        &mut self,
        digits: usize,
        kind: impl Fn(u64) -> Kind<'a>,
    ) -> Result<Kind<'a>, PtxError> {
        self.at += 2;
        let from = self.at;
        while self.byte(0).is_ascii_hexdigit() {
            self.at += 1;
        }
        let text = self.slice(from);
        if text.len() != digits {
            return Err(self.error(format!(
                "a floating-point literal has {digits} digits, not {}",
                text.len()
            )));
        }
        u64::from_str_radix(text, 16)
            .map(kind)
            .map_err(|_| self.error(format!("`{text}` is no hexadecimal number")))
    }
}
