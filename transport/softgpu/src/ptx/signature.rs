//! Heads of functions: names, parameters, directives before the body.

use super::ast::{Formal, Function, Linkage, Variable};
use super::error::PtxError;
use super::lexer::Kind;
use super::parser::Parser;
use super::types::{Space, Type};

impl Parser<'_, '_> {
    pub(crate) fn function(&mut self, linkage: Linkage) -> Result<Function, PtxError> {
        let line = self.line();
        let entry = self.accept_dot("entry");
        if !entry {
            self.at += 1;
        }
        self.attributes()?;
        let returns = if self.peek() == Kind::Punct('(') {
            self.formals()?
        } else {
            Vec::new()
        };
        let name = self.word("the name of a function")?.to_owned();
        let params = if self.peek() == Kind::Punct('(') {
            self.formals()?
        } else {
            Vec::new()
        };
        let mut function = Function {
            name,
            entry,
            linkage,
            returns,
            params,
            max_threads: None,
            required_threads: None,
            body: None,
            line,
        };
        self.performance(&mut function)?;
        if self.accept(';') {
            return Ok(function);
        }
        if self.peek() == Kind::Punct('{') {
            function.body = Some(self.body()?);
        }
        Ok(function)
    }

    fn attributes(&mut self) -> Result<(), PtxError> {
        while self.accept_dot("attribute") {
            self.skip_to(')')?;
        }
        Ok(())
    }

    /// `.maxntid`, `.reqntid` and other directives between the head and the body.
    fn performance(&mut self, function: &mut Function) -> Result<(), PtxError> {
        while let Kind::Dot(word) = self.peek() {
            match word {
                "maxntid" | "reqntid" => {
                    self.at += 1;
                    let mut shape = [1_u32; 3];
                    shape[0] = self.small()?;
                    for size in &mut shape[1..] {
                        if self.accept(',') {
                            *size = self.small()?;
                        }
                    }
                    let total = shape
                        .iter()
                        .fold(1_u32, |total, &size| total.saturating_mul(size));
                    function.max_threads = Some(total);
                    if word == "reqntid" {
                        function.required_threads = Some(shape);
                    }
                }
                "minnctapersm"
                | "maxnreg"
                | "maxnctapersm"
                | "abi_preserve"
                | "abi_preserve_control"
                | "maxclusterrank" => {
                    self.at += 1;
                    self.int()?;
                }
                "noreturn" | "unique" | "blocksareclusters" => self.at += 1,
                "pragma" => self.skip_to(';')?,
                "visible" | "weak" | "extern" | "func" | "entry" | "global" | "const"
                | "shared" | "section" | "file" => break,
                _ => {
                    return Err(PtxError::Unsupported {
                        line: self.line(),
                        instruction: format!(".{word}"),
                        reason: "directive of a function".to_owned(),
                    });
                }
            }
        }
        Ok(())
    }

    fn formals(&mut self) -> Result<Vec<Formal>, PtxError> {
        self.expect('(')?;
        let mut out = Vec::new();
        if self.accept(')') {
            return Ok(out);
        }
        loop {
            if self.accept_dot("reg") {
                let ty = self.register_type()?;
                let line = self.line();
                let name = self.word("a name")?.to_owned();
                let size = u64::from(ty.size());
                out.push(Formal {
                    variable: Variable {
                        name,
                        space: Space::Param,
                        align: size,
                        size,
                        init: Vec::new(),
                        reference: None,
                        linkage: Linkage::Module,
                        managed: false,
                        line,
                    },
                    register: Some(ty),
                });
            } else {
                let (space, ty, align, lanes) = self.variable_head()?;
                let variable = self.variable(space, ty, align, lanes, Linkage::Module)?;
                out.push(Formal {
                    variable,
                    register: None,
                });
            }
            if !self.accept(',') {
                break;
            }
        }
        self.expect(')')?;
        Ok(out)
    }

    pub(crate) fn register_type(&mut self) -> Result<Type, PtxError> {
        match self.peek() {
            Kind::Dot(word) => match Type::parse(word) {
                Some(ty) => {
                    self.at += 1;
                    Ok(ty)
                }
                None => Err(self.wrong("the type of a register")),
            },
            _ => Err(self.wrong("the type of a register")),
        }
    }
}
