//! The bodies of functions: statements and operands.

use super::ast::{Base, Instruction, Linkage, Operand, Statement};
use super::error::PtxError;
use super::lexer::Kind;
use super::parser::Parser;

/// Deeper nesting of braces or operands than any compiler writes.
const MAX_DEPTH: u32 = 64;

impl Parser<'_, '_> {
    /// From the opening brace to the closing one.
    pub(crate) fn body(&mut self) -> Result<Vec<Statement>, PtxError> {
        self.expect('{')?;
        let mut out = Vec::new();
        let mut depth = 1_u32;
        while depth > 0 {
            let line = self.line();
            match self.peek() {
                Kind::Punct('{') => {
                    self.advance();
                    depth += 1;
                    if depth > MAX_DEPTH {
                        return Err(self.wrong("fewer nested braces"));
                    }
                    out.push(Statement::Open);
                }
                Kind::Punct('}') => {
                    self.advance();
                    depth -= 1;
                    if depth > 0 {
                        out.push(Statement::Close);
                    }
                }
                Kind::Punct(';') => {
                    self.advance();
                }
                Kind::Dot(word) => self.directive(word, &mut out)?,
                Kind::Word(name) if self.ahead(1) == Kind::Punct(':') => {
                    self.advance();
                    self.advance();
                    if self.accept_dot("branchtargets") {
                        let labels = self.names()?;
                        out.push(Statement::Targets {
                            name: name.to_owned(),
                            labels,
                        });
                    } else if self.accept_dot("callprototype") || self.accept_dot("calltargets") {
                        self.skip_to(';')?;
                    } else {
                        out.push(Statement::Label {
                            name: name.to_owned(),
                            line,
                        });
                    }
                }
                Kind::Word(_) | Kind::Punct('@') => {
                    out.push(Statement::Instruction(self.instruction()?));
                }
                _ => return Err(self.wrong("a statement")),
            }
        }
        Ok(out)
    }

    fn names(&mut self) -> Result<Vec<String>, PtxError> {
        let mut out = Vec::new();
        loop {
            out.push(self.word("a label")?.to_owned());
            if !self.accept(',') {
                break;
            }
        }
        self.expect(';')?;
        Ok(out)
    }

    fn directive(&mut self, word: &str, out: &mut Vec<Statement>) -> Result<(), PtxError> {
        match word {
            "loc" | "file" => self.skip_line(),
            "pragma" => self.skip_to(';')?,
            "reg" => {
                self.advance();
                let ty = self.register_type()?;
                loop {
                    let name = self.word("the name of a register")?.to_owned();
                    let count = if self.accept('<') {
                        let count = self.small()?;
                        self.expect('>')?;
                        Some(count)
                    } else {
                        None
                    };
                    out.push(Statement::Register { name, count, ty });
                    if !self.accept(',') {
                        break;
                    }
                }
                self.expect(';')?;
            }
            "local" | "shared" | "param" | "const" | "global" => {
                let mut variables = Vec::new();
                self.variables(Linkage::Module, &mut variables)?;
                out.extend(variables.into_iter().map(Statement::Variable));
            }
            "extern" => {
                self.advance();
                let mut variables = Vec::new();
                self.variables(Linkage::Extern, &mut variables)?;
                out.extend(variables.into_iter().map(Statement::Variable));
            }
            _ => return Err(self.wrong("a directive of a function")),
        }
        Ok(())
    }

    fn instruction(&mut self) -> Result<Instruction, PtxError> {
        let line = self.line();
        let guard = if self.accept('@') {
            let negated = self.accept('!');
            Some((self.word("a predicate")?.to_owned(), negated))
        } else {
            None
        };
        let opcode = self.word("an instruction")?.to_owned();
        let mut modifiers = Vec::new();
        while let Kind::Dot(word) = self.peek() {
            modifiers.push(word.to_owned());
            self.advance();
        }
        let mut operands = Vec::new();
        if !self.accept(';') {
            loop {
                operands.push(self.operand(0)?);
                if !self.accept(',') {
                    break;
                }
            }
            self.expect(';')?;
        }
        Ok(Instruction {
            line,
            guard,
            opcode,
            modifiers,
            operands,
        })
    }

    fn operand(&mut self, depth: u32) -> Result<Operand, PtxError> {
        if depth > 4 {
            return Err(self.wrong("a flatter operand"));
        }
        match self.peek() {
            Kind::Punct('[') => {
                self.advance();
                self.memory(depth)
            }
            Kind::Punct('{') => {
                self.advance();
                Ok(Operand::Vector(self.operands('}', depth)?))
            }
            Kind::Punct('(') => {
                self.advance();
                Ok(Operand::List(self.operands(')', depth)?))
            }
            Kind::Punct('!') => {
                self.advance();
                Ok(Operand::Not(self.word("a predicate")?.to_owned()))
            }
            Kind::Word(name) => {
                self.advance();
                if let Kind::Dot(part) = self.peek() {
                    self.advance();
                    return Ok(Operand::Name(format!("{name}.{part}")));
                }
                if self.accept('|') {
                    let second = self.word("a predicate")?;
                    return Ok(Operand::Pair(name.to_owned(), second.to_owned()));
                }
                let addend = self.addend()?;
                Ok(if addend == 0 {
                    Operand::Name(name.to_owned())
                } else {
                    Operand::Sum(name.to_owned(), addend)
                })
            }
            _ => self.literal(),
        }
    }

    fn literal(&mut self) -> Result<Operand, PtxError> {
        let negative = self.accept('-');
        let literal = match self.peek() {
            Kind::Int(value) => Operand::Int(if negative {
                value.wrapping_neg()
            } else {
                value
            }),
            Kind::F32(bits) => Operand::F32(bits ^ (u32::from(negative) << 31)),
            Kind::F64(bits) => Operand::F64(bits ^ (u64::from(negative) << 63)),
            _ => return Err(self.wrong("an operand")),
        };
        self.advance();
        Ok(literal)
    }

    fn operands(&mut self, close: char, depth: u32) -> Result<Vec<Operand>, PtxError> {
        let mut out = Vec::new();
        if self.accept(close) {
            return Ok(out);
        }
        loop {
            out.push(self.operand(depth + 1)?);
            if !self.accept(',') {
                break;
            }
        }
        self.expect(close)?;
        Ok(out)
    }

    fn memory(&mut self, depth: u32) -> Result<Operand, PtxError> {
        let (base, offset) = match self.peek() {
            Kind::Word(name) => {
                self.advance();
                (Base::Name(name.to_owned()), self.addend()?)
            }
            Kind::Int(value) => {
                self.advance();
                (Base::Absolute, value as i64)
            }
            _ => return Err(self.wrong("an address")),
        };
        if offset == 0 && self.accept(',') {
            let coordinates = match self.operand(depth + 1)? {
                Operand::Vector(coordinates) => coordinates,
                single => vec![single],
            };
            self.expect(']')?;
            return Ok(Operand::Texture { base, coordinates });
        }
        self.expect(']')?;
        Ok(Operand::Memory { base, offset })
    }
}
