//! Types: structures as the bindings have them, enumerations as integers with constants, opaque
//! structures behind pointers. Written are those that a signature reaches, and [`FLAGS`]. One with a tag of C
//! that a single typedef names is written under the typedef's name.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use anyhow::{Result, bail};
use quote::ToTokens;
use syn::Item;
use syn::visit_mut::{self, VisitMut};

use super::bindings::Bindings;

/// What no signature names, since functions take it as an integer or by `void *`: types with all of
/// their constants, and constants that have no type of their own.
const FLAGS: [&str; 25] = [
    "CUDA_KERNEL_NODE_PARAMS_v1",
    "CUDA_POINTER_ATTRIBUTE_ACCESS_FLAGS_enum",
    "CUdriverProcAddress_flags_enum",
    "CUevent_flags_enum",
    "CUevent_record_flags_enum",
    "CUgraphDebugDot_flags_enum",
    "CUgraphInstantiate_flags_enum",
    "CUipcMem_flags_enum",
    "CUmemAttach_flags_enum",
    "CUmemcpyFlags_enum",
    "CUstreamUpdateCaptureDependencies_flags_enum",
    "CUstream_flags_enum",
    "CUuserObjectRetain_flags_enum",
    "CUuserObject_flags_enum",
    "CUDA_VERSION",
    "CU_GRAPH_COND_ASSIGN_DEFAULT",
    "CU_MEMHOSTALLOC_DEVICEMAP",
    "CU_MEMHOSTALLOC_PORTABLE",
    "CU_MEMHOSTALLOC_WRITECOMBINED",
    "CU_MEMHOSTREGISTER_DEVICEMAP",
    "CU_MEMHOSTREGISTER_IOMEMORY",
    "CU_MEMHOSTREGISTER_PORTABLE",
    "CU_MEMHOSTREGISTER_READ_ONLY",
    "CU_TRSA_OVERRIDE_FORMAT",
    "nvmlEventTypeXidCriticalError",
];

/// How C's tags end: `struct CUuuid_st` has the typedef `CUuuid`.
const TAGS: [&str; 4] = ["_enum", "_st", "_struct", "_union"];

/// Width of the lines, which are in macros, so that rustfmt leaves them as they are.
const WIDTH: usize = 100;

/// The file of types.
pub(super) fn file(bindings: &Bindings, what: &str) -> Result<String> {
    let mut out = super::head(&format!("Types of {what}, from {}.", bindings.source));
    out.push_str(
        "//!\n//! Enumerations are integers: a value that is not known is passed on as it is.\n\n\
         #![allow(missing_docs, non_camel_case_types, non_snake_case, non_upper_case_globals)]\n\n\
         use core::ffi::*;\n\n",
    );
    let reached = reached(bindings);
    let typedefs = typedefs(bindings, &reached);
    let mut constants = constants(bindings, &reached)?;
    let (mut enumerations, mut layouts, mut opaque) = (String::new(), String::new(), Vec::new());
    for (name, item) in &bindings.types {
        if !reached.contains(name) {
            continue;
        }
        let integer = integer(item);
        let values = constants.remove(name);
        let name = typedefs.get(name).unwrap_or(name);
        match (item, values) {
            (Item::Type(alias), None) if typedefs.contains_key(&short(&alias.ty)) => {}
            (_, Some(values)) => {
                let Some(integer) = integer else {
                    bail!("{name} has constants and is no integer");
                };
                list(&mut enumerations, &format!("{name}: {integer}"), &values);
            }
            (_, None) if integer.is_some() && !matches!(item, Item::Type(_)) => {
                writeln!(out, "pub type {name} = {};", integer.unwrap_or_default())?;
            }
            (Item::Type(alias), None) => writeln!(out, "pub type {name} = {};", short(&alias.ty))?,
            (Item::Struct(item), None) if is_opaque(item) => opaque.push(name.clone()),
            (Item::Struct(item), None) => {
                layout(&mut layouts, "struct", name, &item.attrs, &item.fields);
            }
            (Item::Union(item), None) => {
                let fields = syn::Fields::Named(item.fields.clone());
                layout(&mut layouts, "union", name, &item.attrs, &fields);
            }
            _ => {}
        }
    }
    for (ty, values) in constants {
        for value in values {
            let Some((name, value)) = value.split_once(" = ") else {
                bail!("{value} is no constant");
            };
            writeln!(out, "pub const {name}: {ty} = {value};")?;
        }
    }
    writeln!(out, "\nenumerations! {{\n{enumerations}}}")?;
    writeln!(out, "\nlayouts! {{\n{layouts}}}")?;
    if !opaque.is_empty() {
        writeln!(out, "\nopaque! {{\n{}}}", wrapped("    ", &opaque))?;
    }
    Ok(out)
}

/// The types that signatures name, those that these name, and so on.
fn reached(bindings: &Bindings) -> BTreeSet<String> {
    let mut found: BTreeSet<String> = BTreeSet::new();
    let mut open: Vec<String> = FLAGS.iter().map(|&name| name.to_owned()).collect();
    for function in bindings.functions.values() {
        let types = function.parameters.iter().map(|(_, ty)| ty);
        for ty in types.chain([&function.returns]) {
            words(ty, &mut open);
        }
    }
    while let Some(name) = open.pop() {
        if let Some(item) = bindings.types.get(&name)
            && found.insert(name)
        {
            match item {
                Item::Enum(_) => {}
                item => words(item, &mut open),
            }
        }
    }
    found
}

/// The typedefs that alone name a tag, by the tag.
fn typedefs(bindings: &Bindings, reached: &BTreeSet<String>) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut named = Vec::new();
    for function in bindings.functions.values() {
        let types = function.parameters.iter().map(|(_, ty)| ty);
        for ty in types.chain([&function.returns]) {
            words(ty, &mut named);
        }
    }
    for (name, item) in &bindings.types {
        if !reached.contains(name) {
            continue;
        }
        words(item, &mut named);
        if let Item::Type(alias) = item {
            let tag = short(&alias.ty);
            if TAGS.iter().any(|end| tag.ends_with(end)) && reached.contains(&tag) {
                found.insert(tag, name.clone());
            }
        }
    }
    // Its own declaration and the typedef.
    found.retain(|tag, _| named.iter().filter(|name| *name == tag).count() == 2);
    found
}

/// The words of a piece of code.
fn words(code: &impl ToTokens, found: &mut Vec<String>) {
    let code = code.to_token_stream().to_string();
    let words = code.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    found.extend(words.map(str::to_owned));
}

/// The constants of the types that are reached and those of [`FLAGS`], as `NAME = value`, by their type.
fn constants(
    bindings: &Bindings,
    reached: &BTreeSet<String>,
) -> Result<BTreeMap<String, Vec<String>>> {
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut names = BTreeSet::new();
    for (ty, item) in &bindings.types {
        if let Item::Enum(item) = item
            && reached.contains(ty)
        {
            for variant in &item.variants {
                let Some((_, value)) = &variant.discriminant else {
                    bail!("{ty}::{} has no value", variant.ident);
                };
                if names.insert(variant.ident.to_string()) {
                    let value = value.to_token_stream().to_string().replace("- ", "-");
                    let value = format!("{} = {value}", variant.ident);
                    found.entry(ty.clone()).or_default().push(value);
                }
            }
        }
    }
    for (name, (ty, value)) in &bindings.constants {
        let ty = short(ty);
        // bindgen writes `nvmlReturn_enum_NVML_SUCCESS` for C's `NVML_SUCCESS`.
        let name = name.strip_prefix(&format!("{ty}_")).unwrap_or(name);
        let wanted = reached.contains(&ty) || FLAGS.contains(&name);
        let valid = !name.starts_with(|c: char| c == '_' || c.is_ascii_digit());
        if wanted && valid && names.insert(name.to_owned()) {
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
            let value = format!("{name} = {}", value.to_string().replace("- ", "-"));
            found.entry(ty).or_default().push(value);
        }
    }
    Ok(found)
}

/// The integer that an enumeration, flags or an alias is.
fn integer(item: &Item) -> Option<String> {
    let attribute = |attributes: &[syn::Attribute], text: &str| {
        let mut attributes = attributes.iter();
        attributes.any(|a| a.to_token_stream().to_string().contains(text))
    };
    match item {
        Item::Enum(item) if attribute(&item.attrs, "i32") => Some("c_int".to_owned()),
        Item::Enum(_) => Some("c_uint".to_owned()),
        // Flags: an integer, as every enumeration.
        Item::Struct(item) if attribute(&item.attrs, "transparent") => {
            item.fields.iter().next().map(|field| short(&field.ty))
        }
        Item::Type(alias) => Some(short(&alias.ty)),
        _ => None,
    }
}

fn is_opaque(item: &syn::ItemStruct) -> bool {
    let mut fields = item.fields.iter();
    fields.all(|field| field.ident.as_ref().is_some_and(|name| name == "_unused"))
}

/// `struct Name { field: Type, .. }`
fn layout(
    out: &mut String,
    kind: &str,
    name: &str,
    attributes: &[syn::Attribute],
    fields: &syn::Fields,
) {
    for attribute in attributes {
        let text = attribute.to_token_stream().to_string();
        if attribute.path().is_ident("repr") && text.contains("align") {
            let _ = writeln!(out, "    {}", text.replace(' ', ""));
        }
    }
    let fields: Vec<_> = fields
        .iter()
        .filter_map(|field| Some(format!("{}: {}", field.ident.as_ref()?, short(&field.ty))))
        .collect();
    list(out, &format!("{kind} {name}"), &fields);
}

/// `head { item, .. }`, on one line where it fits.
fn list(out: &mut String, head: &str, items: &[String]) {
    let line = format!("    {head} {{ {} }}\n", items.join(", "));
    match line.len() <= WIDTH {
        true => out.push_str(&line),
        false => {
            let items = wrapped("        ", items);
            let _ = write!(out, "    {head} {{\n{items}    }}\n");
        }
    }
}

/// Items behind each other, in lines.
fn wrapped(indent: &str, items: &[String]) -> String {
    let mut out = String::new();
    let mut width = 0;
    for item in items {
        if width > 0 && width + item.len() + 2 <= WIDTH {
            out.push(' ');
            width += 1;
        } else {
            out.push_str(if width > 0 { "\n" } else { "" });
            out.push_str(indent);
            width = indent.len();
        }
        out.push_str(item);
        out.push(',');
        width += item.len() + 1;
    }
    out.push('\n');
    out
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
    use super::super::bindings::Declared;
    use super::*;

    #[test]
    fn types_are_written_as_the_header_names_them() {
        let shown = |text| short(&syn::parse_str(text).unwrap());
        assert_eq!(shown("*mut ::core::ffi::c_void"), "*mut c_void");
        assert_eq!(shown("*mut *const raw::c_char"), "*mut *const c_char");
        assert_eq!(shown("CUdeviceptr"), "CUdeviceptr");
    }

    /// The file's part behind its head, of some bindings of the driver.
    fn written(types: &[&str], constants: &[(&str, &str, &str)], returns: &str) -> String {
        let types = types.iter().map(|text| {
            let item: Item = syn::parse_str(text).unwrap();
            let name = match &item {
                Item::Enum(item) => item.ident.to_string(),
                Item::Struct(item) => item.ident.to_string(),
                Item::Type(item) => item.ident.to_string(),
                _ => panic!("{text}"),
            };
            (name, item)
        });
        let constants = constants.iter().map(|(name, ty, value)| {
            let value = (syn::parse_str(ty).unwrap(), syn::parse_str(value).unwrap());
            ((*name).to_owned(), value)
        });
        let function = Declared {
            since: 0,
            until: 0,
            parameters: Vec::new(),
            returns: syn::parse_str(returns).unwrap(),
        };
        let bindings = Bindings {
            source: String::new(),
            types: types.collect(),
            constants: constants.collect(),
            functions: [("cuOne".to_owned(), function)].into(),
        };
        let text = file(&bindings, "").unwrap();
        let (_, body) = text.split_once("ffi::*;\n\n").unwrap();
        body.to_owned()
    }

    #[test]
    fn enumerations_are_integers_and_flags_too() {
        let types = ["#[repr(u32)] pub enum CUlimit_enum { CU_LIMIT_MAX = 7 }"];
        let constants = [
            (
                "CU_LIMIT_LAST",
                "CUlimit_enum",
                "CUlimit_enum::CU_LIMIT_MAX",
            ),
            (
                "CUlimit_enum_CU_LIMIT_NINE",
                "CUlimit_enum",
                "CUlimit_enum(9)",
            ),
        ];
        assert_eq!(
            written(&types, &constants, "CUlimit_enum"),
            "\nenumerations! {\n    CUlimit_enum: c_uint { \
             CU_LIMIT_MAX = 7, CU_LIMIT_LAST = CU_LIMIT_MAX, CU_LIMIT_NINE = 9 }\n}\n\
             \nlayouts! {\n}\n"
        );
    }

    #[test]
    fn a_tag_that_one_typedef_alone_names_is_written_under_its_name() {
        let types = [
            "pub type CUkind = CUkind_enum;",
            "#[repr(u32)] pub enum CUkind_enum { CU_KIND_ONE = 1 }",
            "pub type CUlink = CUlink_st;",
            "#[repr(C)] pub struct CUlink_st { pub kind: CUkind, pub next: *mut CUlink_st }",
            "pub type CUpair = CUpair_st;",
            "#[repr(C)] pub struct CUpair_st { pub link: CUlink }",
        ];
        assert_eq!(
            written(&types, &[], "CUpair"),
            "pub type CUlink = CUlink_st;\n\
             \nenumerations! {\n    CUkind: c_uint { CU_KIND_ONE = 1 }\n}\n\
             \nlayouts! {\n    struct CUlink_st { kind: CUkind, next: *mut CUlink_st }\n    \
             struct CUpair { link: CUlink }\n}\n"
        );
    }

    #[test]
    fn what_no_signature_reaches_is_left_out() {
        let types = [
            "pub type CUpoint = *mut CUpoint_st;",
            "#[repr(C)] pub struct CUpoint_st { pub x: ::core::ffi::c_int, pub at: CUother }",
            "#[repr(C)] pub struct CUother { _unused: [u8; 0] }",
            "#[repr(C)] pub struct CUlonely { pub y: ::core::ffi::c_int }",
        ];
        let constants = [
            ("CU_LONELY", "u32", "1"),
            ("CU_MEMHOSTALLOC_PORTABLE", "u32", "1"),
        ];
        assert_eq!(
            written(&types, &constants, "CUpoint"),
            "pub type CUpoint = *mut CUpoint_st;\n\
             pub const CU_MEMHOSTALLOC_PORTABLE: u32 = 1;\n\
             \nenumerations! {\n}\n\
             \nlayouts! {\n    struct CUpoint_st { x: c_int, at: CUother }\n}\n\
             \nopaque! {\n    CUother,\n}\n"
        );
    }
}
