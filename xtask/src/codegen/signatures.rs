//! Signatures: names and types of parameters.

use std::fmt::Write as _;

use anyhow::Result;
use syn::Item;

use super::bindings::Bindings;
use super::types::short;

/// The file of signatures: a declaration a line, in braces, which rustfmt leaves as they are.
pub(super) fn file(bindings: &Bindings, what: &str) -> Result<String> {
    let mut out = super::head(&format!(
        "Signatures of {what}, sorted by name, from {}.",
        bindings.source
    ));
    out.push_str("\ncrate::signature::table! {\n");
    for (name, function) in &bindings.functions {
        let parameters: Vec<_> = function
            .parameters
            .iter()
            .map(|(name, ty)| format!("{name}: {}{}", short(ty), shape(bindings, ty)))
            .collect();
        let (parameters, returns) = (parameters.join(", "), short(&function.returns));
        write!(out, "    {name}({parameters}) -> {returns}")?;
        if function.since != 0 {
            write!(out, ", since {}", function.since)?;
        }
        out.push_str(";\n");
    }
    out.push_str("}\n");
    Ok(out)
}

/// The `Shape` that a type has once its aliases are resolved, where the type itself does not show it.
fn shape(bindings: &Bindings, ty: &syn::Type) -> &'static str {
    match ty {
        syn::Type::Ptr(_) => "",
        ty => resolve(bindings, ty),
    }
}

fn resolve(bindings: &Bindings, ty: &syn::Type) -> &'static str {
    match ty {
        syn::Type::Ptr(_) => " = Handle",
        syn::Type::Array(_) => " = Aggregate",
        syn::Type::Path(path) => {
            let Some(last) = path.path.segments.last() else {
                return "";
            };
            if last.ident == "Option" {
                return " = Callback";
            }
            match bindings.types.get(&last.ident.to_string()) {
                Some(Item::Type(alias)) => resolve(bindings, &alias.ty),
                Some(Item::Struct(item)) if matches!(item.fields, syn::Fields::Named(_)) => {
                    " = Aggregate"
                }
                Some(Item::Union(_)) => " = Aggregate",
                _ => "",
            }
        }
        _ => "",
    }
}
