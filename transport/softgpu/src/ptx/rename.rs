//! Symbols that a module keeps to itself get a name of their own before linking, so that two
//! modules may use the same one.

use std::collections::HashMap;

use super::ast::{Base, Linkage, Operand, Statement, Value};
use super::parser::Declarations;

/// Renames those of `taken` that `declarations`, the module of this number, keeps to itself.
pub(crate) fn locals(declarations: &mut Declarations, number: usize, taken: impl Fn(&str) -> bool) {
    let mut names: HashMap<String, String> = HashMap::new();
    let own = declarations
        .variables
        .iter()
        .filter(|v| v.linkage == Linkage::Module);
    let functions = declarations
        .functions
        .iter()
        .filter(|f| f.linkage == Linkage::Module && !f.entry);
    for name in own.map(|v| &v.name).chain(functions.map(|f| &f.name)) {
        if taken(name) {
            names.insert(name.clone(), format!("{name}$module{number}"));
        }
    }
    if names.is_empty() {
        return;
    }
    for variable in &mut declarations.variables {
        rename(&names, &mut variable.name);
        for init in &mut variable.init {
            if let Value::Symbol { name, .. } = &mut init.value {
                rename(&names, name);
            }
        }
    }
    for function in &mut declarations.functions {
        rename(&names, &mut function.name);
        // What a function declares itself hides the symbol of the module.
        let mut names = names.clone();
        for formal in function.params.iter().chain(&function.returns) {
            names.remove(&formal.variable.name);
        }
        for statement in function.body.iter().flatten() {
            match statement {
                Statement::Variable(variable) => names.remove(&variable.name),
                Statement::Register { name, .. } => names.remove(name),
                _ => None,
            };
        }
        for statement in function.body.iter_mut().flatten() {
            if let Statement::Instruction(instruction) = statement {
                instruction
                    .operands
                    .iter_mut()
                    .for_each(|operand| visit(&names, operand));
            }
        }
    }
}

fn rename(names: &HashMap<String, String>, name: &mut String) {
    if let Some(new) = names.get(name) {
        name.clone_from(new);
    }
}

fn visit(names: &HashMap<String, String>, operand: &mut Operand) {
    match operand {
        Operand::Name(name) | Operand::Sum(name, _) => rename(names, name),
        Operand::Memory {
            base: Base::Name(name),
            ..
        }
        | Operand::Texture {
            base: Base::Name(name),
            ..
        } => rename(names, name),
        Operand::Vector(list) | Operand::List(list) => {
            list.iter_mut().for_each(|operand| visit(names, operand));
        }
        _ => {}
    }
}
