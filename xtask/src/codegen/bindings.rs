//! Reads the bindings that types and signatures are taken from, from cargo's registry.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};
use serde_json::Value;
use syn::{Attribute, Item};

use crate::context::Context;
use crate::shell;

/// What one crate of bindings declares: of an item with several versions the newest.
pub(super) struct Bindings {
    /// Crate, version, authors and licence, for the head of what is generated.
    pub(super) source: String,
    /// Types: structures, unions, enumerations, aliases, by name.
    pub(super) types: BTreeMap<String, Item>,
    /// Constants, by name: type and value.
    pub(super) constants: BTreeMap<String, (syn::Type, syn::Expr)>,
    /// Functions, by name.
    pub(super) functions: BTreeMap<String, Declared>,
}

/// A function that the bindings declare.
pub(super) struct Declared {
    /// Oldest CUDA version that has it, as 12040; 0 for all that the bindings know.
    pub(super) since: u32,
    /// Newest CUDA version that has it; `u32::MAX` for all that the bindings know.
    pub(super) until: u32,
    /// Names and types of its parameters.
    pub(super) parameters: Vec<(String, syn::Type)>,
    /// What it returns.
    pub(super) returns: syn::Type,
}

/// The driver's bindings.
pub(super) fn driver(context: &Context) -> Result<Bindings> {
    read(context, "cudarc", "src/driver/sys/mod.rs")
}

/// NVML's bindings, and what NVML has had since they were written.
pub(super) fn nvml(context: &Context) -> Result<Bindings> {
    let mut bindings = read(context, "nvml-wrapper-sys", "src/bindings.rs")?;
    let path = context.root.join(NVML_SINCE);
    let since = parsed(&path)?;
    bindings.types.extend(newest(since.types));
    bindings.functions.extend(since.functions);
    bindings.source += &format!(", and {NVML_SINCE}");
    Ok(bindings)
}

/// Declarations in the form of the bindings.
const NVML_SINCE: &str = "xtask/bindings/nvml.rs";

fn parsed(path: &Path) -> Result<Reader> {
    let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
    let file = syn::parse_file(&text).with_context(|| path.display().to_string())?;
    let mut reader = Reader::default();
    for item in file.items {
        reader.item(item);
    }
    Ok(reader)
}

/// xtask names the crates as dependencies for a platform that does not exist: so their versions
/// are locked and cargo fetches them, and nothing compiles them.
fn read(context: &Context, name: &str, file: &str) -> Result<Bindings> {
    let metadata = shell::read(
        Command::new(&context.cargo)
            .args(["metadata", "--format-version=1"])
            .current_dir(&context.root),
    )?;
    let metadata: Value =
        serde_json::from_str(&metadata).context("cargo metadata printed no JSON")?;
    let package = metadata["packages"]
        .as_array()
        .into_iter()
        .flatten()
        .find(|package| package["name"] == name)
        .with_context(|| format!("{name} is not in Cargo.lock: xtask/Cargo.toml has to name it"))?;
    let (Some(manifest), Some(version)) = (
        package["manifest_path"].as_str(),
        package["version"].as_str(),
    ) else {
        bail!("cargo metadata says nothing of {name}: this cargo is too old");
    };
    let path = PathBuf::from(manifest).with_file_name(file);
    let reader = parsed(&path).with_context(|| format!("another version of {name}?"))?;
    Ok(Bindings {
        source: format!("{name} {version} ({})", notice(package)),
        types: newest(reader.types),
        constants: newest(reader.constants),
        functions: reader.functions,
    })
}

/// Who wrote a package, and under which licence.
fn notice(package: &Value) -> String {
    let authors = package["authors"].as_array().into_iter().flatten();
    let names = authors.filter_map(Value::as_str);
    let authors: Vec<_> = names.filter_map(|name| name.split(" <").next()).collect();
    let licence = package["license"].as_str().unwrap_or("no licence");
    match authors.is_empty() {
        true => licence.to_owned(),
        false => format!("by {}, {licence}", authors.join(", ")),
    }
}

fn newest<T>(versioned: BTreeMap<String, (u32, T)>) -> BTreeMap<String, T> {
    versioned
        .into_iter()
        .map(|(name, (_, item))| (name, item))
        .collect()
}

#[derive(Default)]
struct Reader {
    types: BTreeMap<String, (u32, Item)>,
    constants: BTreeMap<String, (u32, (syn::Type, syn::Expr))>,
    functions: BTreeMap<String, Declared>,
}

impl Reader {
    fn item(&mut self, item: Item) {
        match item {
            Item::Struct(item) if item.ident == "NvmlLib" || item.ident == "CuLib" => {
                self.members(item);
            }
            Item::Struct(ref inner) => {
                let (name, until) = (inner.ident.to_string(), until(&inner.attrs));
                keep(&mut self.types, name, until, item);
            }
            Item::Union(ref inner) => {
                let (name, until) = (inner.ident.to_string(), until(&inner.attrs));
                keep(&mut self.types, name, until, item);
            }
            Item::Enum(ref inner) => {
                let (name, until) = (inner.ident.to_string(), until(&inner.attrs));
                keep(&mut self.types, name, until, item);
            }
            Item::Type(ref inner) => {
                let (name, until) = (inner.ident.to_string(), until(&inner.attrs));
                keep(&mut self.types, name, until, item);
            }
            Item::Use(item) => self.renamed(&item),
            Item::Const(item) => {
                let until = until(&item.attrs);
                let value = (*item.ty, *item.expr);
                keep(&mut self.constants, item.ident.to_string(), until, value);
            }
            Item::Impl(item) if item.trait_.is_none() => self.associated(item),
            Item::Fn(item) => self.function(item),
            _ => {}
        }
    }

    /// `pub use self::a_enum as a;` is an alias.
    fn renamed(&mut self, item: &syn::ItemUse) {
        let mut tree = &item.tree;
        while let syn::UseTree::Path(path) = tree {
            tree = &path.tree;
        }
        if let syn::UseTree::Rename(rename) = tree {
            let (from, to) = (&rename.ident, &rename.rename);
            let alias = syn::parse_quote!(pub type #to = #from;);
            let name = rename.rename.to_string();
            keep(&mut self.types, name, until(&item.attrs), alias);
        }
    }

    /// Constants that bindgen puts to the enumeration they belong to.
    fn associated(&mut self, item: syn::ItemImpl) {
        let until = until(&item.attrs);
        for inner in item.items {
            if let syn::ImplItem::Const(constant) = inner {
                let value = (constant.ty, constant.expr);
                keep(
                    &mut self.constants,
                    constant.ident.to_string(),
                    until,
                    value,
                );
            }
        }
    }

    /// `pub unsafe fn cuInit(Flags: c_uint) -> CUresult`
    fn function(&mut self, item: syn::ItemFn) {
        let syn::ReturnType::Type(_, returns) = item.sig.output else {
            return;
        };
        let name = item.sig.ident.to_string();
        if !name.starts_with("cu") || name.starts_with("culib") {
            return;
        }
        let parameters = item.sig.inputs.into_iter().filter_map(|input| match input {
            syn::FnArg::Typed(typed) => match *typed.pat {
                syn::Pat::Ident(pattern) => Some((pattern.ident.to_string(), *typed.ty)),
                _ => None,
            },
            syn::FnArg::Receiver(_) => None,
        });
        let (since, until) = versions(&item.attrs);
        let declared = Declared {
            since,
            until,
            parameters: parameters.collect(),
            returns: *returns,
        };
        match self.functions.get_mut(&name) {
            Some(known) if known.until > until => known.since = known.since.min(since),
            Some(known) => {
                let since = known.since.min(since);
                *known = Declared { since, ..declared };
            }
            None => {
                self.functions.insert(name, declared);
            }
        }
    }

    /// `pub nvmlInit_v2: Result<unsafe extern "C" fn() -> nvmlReturn_t, _>`
    fn members(&mut self, item: syn::ItemStruct) {
        for field in item.fields {
            let (Some(ident), syn::Type::Path(path)) = (field.ident, field.ty) else {
                continue;
            };
            let Some(last) = path.path.segments.into_iter().next_back() else {
                continue;
            };
            let syn::PathArguments::AngleBracketed(generic) = last.arguments else {
                continue;
            };
            let Some(syn::GenericArgument::Type(syn::Type::BareFn(function))) =
                generic.args.into_iter().next()
            else {
                continue;
            };
            let syn::ReturnType::Type(_, returns) = function.output else {
                continue;
            };
            let parameters = function.inputs.into_iter().filter_map(|input| {
                let (name, _) = input.name?;
                Some((name.to_string(), input.ty))
            });
            let declared = Declared {
                since: 0,
                until: u32::MAX,
                parameters: parameters.collect(),
                returns: *returns,
            };
            self.functions.insert(ident.to_string(), declared);
        }
    }
}

fn keep<T>(map: &mut BTreeMap<String, (u32, T)>, name: String, until: u32, value: T) {
    match map.get(&name) {
        Some((known, _)) if *known > until => {}
        _ => {
            map.insert(name, (until, value));
        }
    }
}

/// The newest version that has the item.
fn until(attributes: &[Attribute]) -> u32 {
    versions(attributes).1
}

/// The oldest and the newest version that has the item, from `cfg(any(feature = "cuda-12040", ..))`.
fn versions(attributes: &[Attribute]) -> (u32, u32) {
    let mut found: Vec<u32> = Vec::new();
    for attribute in attributes.iter().filter(|a| a.path().is_ident("cfg")) {
        if let syn::Meta::List(list) = &attribute.meta {
            let text = list.tokens.to_string();
            let numbers = text.split("\"cuda-").skip(1).filter_map(|rest| {
                let digits = rest.split('"').next()?;
                digits.parse::<u32>().ok()
            });
            found.extend(numbers);
        }
    }
    let oldest = found.iter().copied().min();
    let newest = found.iter().copied().max();
    match (oldest, newest) {
        // The bindings' oldest version: the function may be older.
        (Some(11_040), Some(newest)) => (0, newest),
        (Some(oldest), Some(newest)) => (oldest, newest),
        _ => (0, u32::MAX),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Reader {
        let mut reader = Reader::default();
        for item in syn::parse_file(text).unwrap().items {
            reader.item(item);
        }
        reader
    }

    #[test]
    fn of_several_versions_the_newest_is_taken_and_the_oldest_is_named() {
        let reader = read(
            r#"
            #[cfg(any(feature = "cuda-12040", feature = "cuda-13000"))]
            pub unsafe fn cuSplit(input: *const u8, useFlags: u32) -> CUresult { todo!() }
            #[cfg(any(feature = "cuda-13010"))]
            pub unsafe fn cuSplit(input: *const u8, flags: u32) -> CUresult { todo!() }
            #[cfg(any(feature = "cuda-11040", feature = "cuda-12090"))]
            pub struct Location { pub id: i32 }
            #[cfg(any(feature = "cuda-13020"))]
            pub struct Location { pub place: i32 }
            pub unsafe fn culib() -> u8 { 0 }
            "#,
        );
        let split = &reader.functions["cuSplit"];
        assert_eq!((split.since, split.until), (12_040, 13_010));
        assert_eq!(split.parameters[1].0, "flags");
        assert!(!reader.functions.contains_key("culib"));
        let (_, Item::Struct(location)) = &reader.types["Location"] else {
            panic!("no structure");
        };
        let field = location.fields.iter().next().unwrap();
        assert_eq!(field.ident.as_ref().unwrap(), "place");
    }

    #[test]
    fn functions_of_a_table_of_pointers_are_functions() {
        let reader = read(
            r#"
            pub struct NvmlLib {
                pub __library: ::libloading::Library,
                pub nvmlUnitGetCount: Result<
                    unsafe extern "C" fn(unitCount: *mut raw::c_uint) -> nvmlReturn_t,
                    ::libloading::Error,
                >,
            }
            pub use self::cudaError_enum as CUresult;
            impl Flags { pub const BLOCKING: Flags = Flags(4); }
            "#,
        );
        let count = &reader.functions["nvmlUnitGetCount"];
        assert_eq!(count.parameters[0].0, "unitCount");
        assert!(reader.types.contains_key("CUresult"));
        assert!(!reader.types.contains_key("NvmlLib"));
        assert!(reader.constants.contains_key("BLOCKING"));
    }
}
