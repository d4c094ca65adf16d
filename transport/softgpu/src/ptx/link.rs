//! Linking: several modules into one.

use std::collections::{HashMap, HashSet};

use super::ast::Linkage;
use super::error::PtxError;
use super::module::Module;
use super::parser::Declarations;
use super::types::Space;

/// Links modules into one, as `cuLinkComplete` does: externs find their definition by name; of
/// several weak definitions the first counts, unless one is not weak. Names that a module keeps to
/// itself and that another module uses too are changed.
///
/// # Errors
/// A symbol defined twice, or an extern that no module defines.
pub fn link(modules: &[Module]) -> Result<Module, PtxError> {
    let mut uses: HashMap<&str, usize> = HashMap::new();
    for module in modules {
        for name in module.names() {
            *uses.entry(name).or_default() += 1;
        }
    }
    let mut out = Declarations::default();
    let mut weak = HashSet::new();
    let mut defined = HashSet::new();
    for (number, module) in modules.iter().enumerate() {
        let mut declarations = module.declarations.clone();
        super::rename::locals(&mut declarations, number, |name| uses.get(name) > Some(&1));
        out.version = out.version.max(declarations.version);
        if out.target.is_empty() {
            out.target.clone_from(&declarations.target);
        }
        let variables = declarations.variables.iter().map(|v| (&v.name, v.linkage));
        let functions = declarations
            .functions
            .iter()
            .filter(|f| f.body.is_some())
            .map(|f| (&f.name, f.linkage));
        let mut refused = HashSet::new();
        for (name, linkage) in variables.chain(functions) {
            match linkage {
                Linkage::Extern => {}
                Linkage::Weak if defined.contains(name) => {
                    refused.insert(name.clone());
                }
                Linkage::Weak => {
                    defined.insert(name.clone());
                    weak.insert(name.clone());
                }
                _ if weak.remove(name) => {
                    out.variables.retain(|v| v.name != *name);
                    out.functions
                        .retain(|f| f.name != *name || f.body.is_none());
                }
                _ if defined.insert(name.clone()) => {}
                _ => {
                    return Err(PtxError::Duplicate {
                        symbol: name.clone(),
                    });
                }
            }
        }
        let taken = |linkage, name: &String| linkage == Linkage::Extern || !refused.contains(name);
        out.variables.extend(
            declarations
                .variables
                .into_iter()
                .filter(|v| taken(v.linkage, &v.name)),
        );
        out.functions.extend(
            declarations
                .functions
                .into_iter()
                .filter(|f| f.body.is_none() || taken(f.linkage, &f.name)),
        );
    }
    // A declaration whose definition came with another module has done its work. Dynamic shared
    // memory is extern in every module that uses it, and the same in all.
    let mut externs = HashSet::new();
    out.variables.retain(|v| {
        v.linkage != Linkage::Extern
            || (!defined.contains(&v.name) && externs.insert(v.name.clone()))
    });
    out.functions
        .retain(|f| f.body.is_some() || !defined.contains(&f.name));
    let module = Module { declarations: out };
    if let Some(symbol) = module.unresolved() {
        return Err(PtxError::Unresolved { symbol });
    }
    module.check_duplicates()?;
    Ok(module)
}

impl Module {
    /// Each name that the module declares, once.
    fn names(&self) -> HashSet<&str> {
        let variables = self.declarations.variables.iter().map(|v| v.name.as_str());
        variables
            .chain(self.functions().map(|f| f.name.as_str()))
            .collect()
    }

    fn unresolved(&self) -> Option<String> {
        let externs = self.declarations.variables.iter().find(|variable| {
            variable.linkage == Linkage::Extern && variable.space != Space::Shared
        });
        let calls = self.functions().find(|function| {
            function.body.is_none()
                && function.linkage == Linkage::Extern
                && !super::lower::is_builtin(&function.name)
        });
        externs
            .map(|v| v.name.clone())
            .or_else(|| calls.map(|f| f.name.clone()))
    }
}
