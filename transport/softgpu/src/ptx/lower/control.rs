//! Jumps, calls, barriers, the end.

use std::sync::Arc;

use super::super::ast::Operand;
use super::super::error::PtxError;
use super::super::program::{BarrierKind, CallSite, NONE, Op, Passed, Program, Target};
use super::super::types::{Class, Type};
use super::Lower;
use super::scope::Declared;

impl Lower<'_> {
    pub(super) fn control(&mut self) -> Result<bool, PtxError> {
        match self.instruction.opcode.as_str() {
            "bra" => {
                self.modifiers.take("uni");
                let label = self.label(0)?;
                self.jump(vec![label], |_| Op::Jump(0), [0; 5]);
            }
            "brx" => {
                self.modifiers.take("idx");
                self.modifiers.take("uni");
                let a = self.source(0, Type::U32)?;
                let name = self.label(1)?;
                let labels = self
                    .scopes
                    .targets(&name)
                    .ok_or_else(|| self.undeclared(&name))?;
                self.jump(
                    labels,
                    |count| Op::Table(vec![0; count].into_boxed_slice()),
                    [0, a, 0, 0, 0],
                );
            }
            "call" => {
                self.modifiers.take("uni");
                self.call()?;
            }
            "ret" => {
                self.modifiers.take("uni");
                self.emit(Op::Return, [0; 5]);
            }
            "exit" => self.emit(Op::Exit, [0; 5]),
            "trap" | "brkpt" => self.emit(Op::Trap, [0; 5]),
            "nanosleep" => {
                self.modifiers.ty();
                self.emit(Op::Pause, [0; 5]);
            }
            "bar" | "barrier" => return self.barrier(),
            // Without clusters and dependent launches there is nobody to notify or to wait for.
            "griddepcontrol" => {
                self.modifiers.any(&["wait", "launch_dependents"]);
            }
            "pmevent" => self.modifiers.0.clear(),
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn label(&self, at: usize) -> Result<String, PtxError> {
        match self.operand(at)? {
            Operand::Name(name) => Ok(name.clone()),
            _ => Err(self.unsupported("a target that is no label")),
        }
    }

    fn jump(&mut self, labels: Vec<String>, op: impl Fn(usize) -> Op, o: [u32; 5]) {
        let at = self.code.instructions.len();
        let scope = self.scopes.current();
        self.emit(op(labels.len()), o);
        for label in labels {
            self.fixups.push((at, label, scope));
        }
    }

    /// Puts the numbers of the instructions where labels were.
    pub(super) fn resolve_jumps(&mut self) -> Result<(), PtxError> {
        let mut next: std::collections::HashMap<usize, usize> = std::collections::HashMap::new();
        for (at, label, scope) in std::mem::take(&mut self.fixups) {
            let Some(inst) = self.code.instructions.get_mut(at) else {
                continue;
            };
            let pc = self
                .scopes
                .label(scope, &label)
                .and_then(|scope| self.label_pcs.get(&(scope, label.clone())))
                .ok_or_else(|| PtxError::Undeclared {
                    line: inst.line,
                    symbol: label.clone(),
                })?;
            match &mut inst.kind {
                Op::Jump(target) => *target = *pc,
                Op::Table(targets) => {
                    let entry = next.entry(at).or_insert(0);
                    if let Some(target) = targets.get_mut(*entry) {
                        *target = *pc;
                    }
                    *entry += 1;
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn call(&mut self) -> Result<(), PtxError> {
        let mut operands = self.instruction.operands.iter();
        let mut next = operands.next();
        let mut returns = Vec::new();
        if let Some(Operand::List(list)) = next {
            for operand in list {
                returns.push(self.passed(operand, true)?);
            }
            next = operands.next();
        }
        let Some(Operand::Name(name)) = next else {
            return Err(self.unsupported("a call of no function"));
        };
        let mut params = Vec::new();
        if let Some(Operand::List(list)) = operands.next() {
            for operand in list {
                params.push(self.passed(operand, false)?);
            }
        }
        let target = if let Some(Declared::Register(slot, class)) = self.scopes.find(name) {
            Target::Address(self.fit(slot, (class, Class::Wide), false)?)
        } else if let Some(&number) = self.env.numbers.get(name) {
            match self.by_address.get(number) {
                Some(&number) if number != NONE => Target::Function(number),
                _ if name == "vprintf" => Target::Printf,
                _ if name == "__assertfail" => Target::AssertFail,
                _ if name == "malloc" => Target::Malloc,
                _ if name == "free" => Target::Free,
                _ if name == "cudaGraphSetConditional" => Target::SetConditional,
                _ => {
                    return Err(PtxError::Unresolved {
                        symbol: name.clone(),
                    });
                }
            }
        } else {
            return Err(self.undeclared(name));
        };
        let site = CallSite {
            target,
            params,
            returns,
        };
        self.emit(Op::Call(Arc::new(site)), [0; 5]);
        Ok(())
    }

    fn passed(&mut self, operand: &Operand, returned: bool) -> Result<Passed, PtxError> {
        if let Operand::Name(name) = operand
            && let Some(Declared::Local(offset)) = self.scopes.find(name)
        {
            let size = self.scopes.size(name);
            return Ok(Passed::Memory { offset, size });
        }
        // A register is passed as it is.
        if let Operand::Name(name) = operand
            && let Some(Declared::Register(slot, class)) = self.scopes.find(name)
        {
            return Ok(Passed::Slot(slot, class));
        }
        let slot = match returned {
            true => self.destination_of(operand, Type::B64)?,
            false => self.source_of(operand, Type::B64)?,
        };
        Ok(Passed::Slot(slot, Class::Wide))
    }

    fn barrier(&mut self) -> Result<bool, PtxError> {
        self.modifiers.take("cta");
        self.modifiers.take("aligned");
        if self.modifiers.0.contains(&"warp") {
            // bar.warp.sync is an instruction of the warp.
            return Ok(false);
        }
        if self.modifiers.take("cluster") {
            let op = match self.modifiers.any(&["arrive", "wait"]) {
                Some("arrive") => Op::ClusterArrive,
                Some(_) => Op::ClusterWait,
                None => return Err(self.unsupported("no mode")),
            };
            self.modifiers.any(&["release", "relaxed", "acquire"]);
            self.emit(op, [0; 5]);
            return Ok(true);
        }
        let kind = match self.modifiers.any(&["sync", "arrive", "red"]) {
            Some("arrive") => BarrierKind::Arrive,
            Some("red") => match self.modifiers.any(&["popc", "and", "or"]) {
                Some("popc") => BarrierKind::Count,
                Some("and") => BarrierKind::And,
                _ => BarrierKind::Or,
            },
            _ => BarrierKind::Wait,
        };
        let result = match kind {
            BarrierKind::Wait | BarrierKind::Arrive => None,
            BarrierKind::Count => Some(Type::U32),
            BarrierKind::And | BarrierKind::Or => Some(Type::Pred),
        };
        // Of a reduction the result is the first operand, the predicate the last one.
        let (mut first, mut last) = (0, self.instruction.operands.len());
        let (mut d, mut c) = (NONE, 0);
        if let Some(ty) = result {
            self.modifiers.ty();
            (first, last) = (1, last.saturating_sub(1));
            d = self.destination(0, ty)?;
            c = self.source(last, Type::Pred)?;
        }
        let a = self.source(first, Type::U32)?;
        // An arrival names the threads that it is for.
        let b = if first + 1 < last || kind == BarrierKind::Arrive {
            self.source(first + 1, Type::U32)?
        } else {
            NONE
        };
        self.emit(Op::Barrier(kind), [d, a, b, c, 0]);
        Ok(true)
    }
}

/// The bytes of stack of a program: the deepest chain of calls. With recursion or calls through
/// registers the depth is not known.
pub(super) fn stack(program: &mut Program) {
    let count = program.functions.len();
    let mut depth: Vec<Option<u32>> = vec![None; count];
    let mut recursive = false;
    // A function's need is known once those of its callees are; what never gets known recurses.
    for _ in 0..=count {
        let mut changed = false;
        for number in 0..count {
            if depth[number].is_some() {
                continue;
            }
            let mut most = Some(0);
            for inst in &program.functions[number].instructions {
                let Op::Call(site) = &inst.kind else { continue };
                match site.target {
                    Target::Function(callee) => {
                        let need = depth.get(callee as usize).copied().flatten();
                        most = most.zip(need).map(|(a, b)| a.max(b));
                    }
                    Target::Address(_) => recursive = true,
                    _ => {}
                }
            }
            if let Some(most) = most {
                depth[number] = Some(program.functions[number].frame + most);
                changed = true;
            }
        }
        if !changed {
            break;
        }
    }
    let frames = || program.functions.iter().map(|code| code.frame).sum::<u32>();
    program.stack = depth.first().copied().flatten().unwrap_or_else(|| {
        recursive = true;
        frames()
    });
    program.recursive = recursive;
}
