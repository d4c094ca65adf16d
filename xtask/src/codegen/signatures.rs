//! Signatures: names and types of parameters.

use std::fmt::Write as _;

use anyhow::Result;
use syn::Item;

use super::bindings::Bindings;
use super::types::short;

/// The file of signatures.
pub(super) fn file(bindings: &Bindings, what: &str) -> Result<String> {
    let mut out = super::head(&format!(
        "Signatures of {what}, sorted by name, from {}.",
        bindings.source
    ));
    out.push_str(
        "\nuse crate::Shape::*;\nuse crate::Signature;\nuse crate::signature::parameter;\n\n\
         pub(super) const TABLE: &[Signature] = &[\n",
    );
    for (name, function) in &bindings.functions {
        writeln!(
            out,
            "Signature {{ name: {name:?}, since: {}, returns: {:?}, parameters: &[",
            function.since,
            short(&function.returns)
        )?;
        for (name, ty) in &function.parameters {
            let (shape, ty) = (shape(bindings, ty), short(ty));
            writeln!(out, "parameter({name:?}, {ty:?}, {shape}),")?;
        }
        out.push_str("] },\n");
    }
    out.push_str("];\n");
    Ok(out)
}

/// The name of the `Shape` that a type has once its aliases are resolved.
fn shape(bindings: &Bindings, ty: &syn::Type) -> &'static str {
    if let syn::Type::Ptr(_) = ty {
        return "Pointer";
    }
    resolve(bindings, ty)
}

fn resolve(bindings: &Bindings, ty: &syn::Type) -> &'static str {
    match ty {
        syn::Type::Ptr(_) => "Handle",
        syn::Type::Array(_) => "Aggregate",
        syn::Type::Path(path) => {
            let Some(last) = path.path.segments.last() else {
                return "Scalar";
            };
            if last.ident == "Option" {
                return "Callback";
            }
            match bindings.types.get(&last.ident.to_string()) {
                Some(Item::Type(alias)) => resolve(bindings, &alias.ty),
                Some(Item::Struct(item)) if matches!(item.fields, syn::Fields::Named(_)) => {
                    "Aggregate"
                }
                Some(Item::Union(_)) => "Aggregate",
                _ => "Scalar",
            }
        }
        _ => "Scalar",
    }
}
