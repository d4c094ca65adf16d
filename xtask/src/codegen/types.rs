//! Types: structures as the bindings have them, enumerations as integers with constants, opaque
//! structures behind pointers.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use anyhow::{Result, bail};
use quote::ToTokens as _;
use syn::Item;
use syn::visit_mut::{self, VisitMut};

use super::bindings::Bindings;

/// The file of types.
pub(super) fn file(bindings: &Bindings, what: &str) -> Result<String> {
    let mut out = super::head(&format!("Types of {what}, from {}.", bindings.source));
    out.push_str(
        "//!\n//! Enumerations are integers: a value that is not known is passed on as it is.\n\n\
         #![allow(missing_docs, non_camel_case_types, non_snake_case, non_upper_case_globals)]\n\n\
         use core::ffi::*;\n\n",
    );
    let mut constants = BTreeSet::new();
    for item in bindings.types.values() {
        match item {
            Item::Struct(item) => structure(&mut out, item.clone())?,
            Item::Union(item) => union(&mut out, item.clone()),
            Item::Enum(item) => enumeration(&mut out, item, &mut constants)?,
            Item::Type(item) => {
                let mut ty = (*item.ty).clone();
                Shorten.visit_type_mut(&mut ty);
                let ty = ty.into_token_stream();
                writeln!(out, "pub type {} = {ty};", item.ident)?;
            }
            _ => {}
        }
    }
    out.push('\n');
    for (name, (ty, value)) in &bindings.constants {
        constant(&mut out, name, ty.clone(), value.clone(), &mut constants)?;
    }
    Ok(out)
}

fn structure(out: &mut String, mut item: syn::ItemStruct) -> Result<()> {
    if item.ident == "NvmlLib" {
        return Ok(());
    }
    let transparent = item.attrs.iter().any(|attribute| {
        attribute
            .to_token_stream()
            .to_string()
            .contains("transparent")
    });
    Shorten.visit_item_struct_mut(&mut item);
    if transparent {
        // Flags: an integer, as every enumeration.
        let Some(field) = item.fields.iter().next() else {
            bail!("{} is transparent and has no field", item.ident);
        };
        let ty = field.ty.to_token_stream();
        writeln!(out, "pub type {} = {ty};", item.ident)?;
        return Ok(());
    }
    let opaque = item
        .fields
        .iter()
        .all(|field| field.ident.as_ref().is_some_and(|name| name == "_unused"));
    if opaque {
        writeln!(
            out,
            "#[repr(C)] #[derive(Debug)] pub struct {} {{ _unused: [u8; 0] }}",
            item.ident
        )?;
        return Ok(());
    }
    item.attrs = representation(&item.attrs);
    writeln!(out, "{}", item.to_token_stream())?;
    Ok(())
}

fn union(out: &mut String, mut item: syn::ItemUnion) {
    Shorten.visit_item_union_mut(&mut item);
    item.attrs = representation(&item.attrs);
    let _ = writeln!(out, "{}", item.to_token_stream());
}

fn representation(attributes: &[syn::Attribute]) -> Vec<syn::Attribute> {
    let mut kept: Vec<_> = attributes
        .iter()
        .filter(|attribute| attribute.path().is_ident("repr"))
        .cloned()
        .collect();
    kept.push(syn::parse_quote!(#[derive(Clone, Copy)]));
    kept
}

fn enumeration(
    out: &mut String,
    item: &syn::ItemEnum,
    constants: &mut BTreeSet<String>,
) -> Result<()> {
    let signed = item
        .attrs
        .iter()
        .any(|attribute| attribute.to_token_stream().to_string().contains("i32"));
    let ty = if signed { "c_int" } else { "c_uint" };
    writeln!(out, "pub type {} = {ty};", item.ident)?;
    for variant in &item.variants {
        let Some((_, value)) = &variant.discriminant else {
            bail!("{}::{} has no value", item.ident, variant.ident);
        };
        if constants.insert(variant.ident.to_string()) {
            let value = value.to_token_stream();
            writeln!(
                out,
                "pub const {}: {} = {value};",
                variant.ident, item.ident
            )?;
        }
    }
    Ok(())
}

fn constant(
    out: &mut String,
    name: &str,
    mut ty: syn::Type,
    value: syn::Expr,
    constants: &mut BTreeSet<String>,
) -> Result<()> {
    Shorten.visit_type_mut(&mut ty);
    let ty = ty.to_token_stream().to_string();
    // bindgen writes `nvmlReturn_enum_NVML_SUCCESS` for C's `NVML_SUCCESS`.
    let name = name.strip_prefix(&format!("{ty}_")).unwrap_or(name);
    if name.starts_with('_') || name.chars().next().is_some_and(|c| c.is_ascii_digit()) {
        return Ok(());
    }
    if constants.insert(name.to_owned()) {
        let value = match value {
            // `Flags(1)`
            syn::Expr::Call(call) => call.args.to_token_stream(),
            // `Enumeration::OTHER`
            syn::Expr::Path(path) => match path.path.segments.last() {
                Some(last) => last.ident.to_token_stream(),
                None => path.to_token_stream(),
            },
            other => other.to_token_stream(),
        };
        writeln!(out, "pub const {name}: {ty} = {value};")?;
    }
    Ok(())
}

/// `::core::ffi::c_int` and `raw::c_int` become `c_int`, and documentation goes.
pub(super) struct Shorten;

impl VisitMut for Shorten {
    fn visit_path_mut(&mut self, path: &mut syn::Path) {
        visit_mut::visit_path_mut(self, path);
        if let Some(last) = path.segments.last() {
            path.segments = std::iter::once(last.clone()).collect();
            path.leading_colon = None;
        }
    }

    fn visit_field_mut(&mut self, field: &mut syn::Field) {
        visit_mut::visit_field_mut(self, field);
        field.attrs.clear();
    }

    fn visit_visibility_mut(&mut self, _: &mut syn::Visibility) {}
}

/// A type as written in a signature, on one line.
pub(super) fn short(ty: &syn::Type) -> String {
    let mut ty = ty.clone();
    Shorten.visit_type_mut(&mut ty);
    let text = ty.to_token_stream().to_string();
    text.replace("* mut ", "*mut ")
        .replace("* const ", "*const ")
        .replace(" ;", ";")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_written_as_the_header_names_them() {
        let shown = |text| short(&syn::parse_str(text).unwrap());
        assert_eq!(shown("*mut ::core::ffi::c_void"), "*mut c_void");
        assert_eq!(shown("*mut *const raw::c_char"), "*mut *const c_char");
        assert_eq!(shown("CUdeviceptr"), "CUdeviceptr");
    }

    #[test]
    fn enumerations_are_integers_and_flags_too() {
        let mut out = String::new();
        let mut constants = BTreeSet::new();
        let item = syn::parse_str("#[repr(u32)] pub enum CUlimit_enum { CU_LIMIT_MAX = 7 }");
        enumeration(&mut out, &item.unwrap(), &mut constants).unwrap();
        let ty = || syn::parse_str("CUlimit_enum").unwrap();
        let value = syn::parse_str("CUlimit_enum::CU_LIMIT_MAX").unwrap();
        constant(&mut out, "CU_LIMIT_LAST", ty(), value, &mut constants).unwrap();
        let value = syn::parse_str("CUlimit_enum(9)").unwrap();
        constant(
            &mut out,
            "CUlimit_enum_CU_LIMIT_NINE",
            ty(),
            value,
            &mut constants,
        )
        .unwrap();
        assert_eq!(
            out,
            "pub type CUlimit_enum = c_uint;\n\
             pub const CU_LIMIT_MAX: CUlimit_enum = 7;\n\
             pub const CU_LIMIT_LAST: CUlimit_enum = CU_LIMIT_MAX;\n\
             pub const CU_LIMIT_NINE: CUlimit_enum = 9;\n"
        );
    }
}
