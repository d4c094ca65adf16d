//! The layouts that gtrace reads by, against NVIDIA's own headers: `headers-SERIES.tsv` has what a C compiler says of them.
//!
//! A table is made anew from the source of the open kernel modules, as Debian's source package
//! `nvidia-open-gpu-kernel-modules` or NVIDIA's repository has it:
//! `GTRACE_NVIDIA_SOURCE=FOLDER cargo test -p gtrace-nvrm --test headers -- --ignored`.
#![allow(clippy::unwrap_used, reason = "only tests use it")]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use gtrace_nvrm::*;

const TABLES: [&str; 2] = [
    include_str!("headers-535.tsv"),
    include_str!("headers-555.tsv"),
];

/// Escapes: the number's macro, the structure, and its fields for the client, the object, the code and the status.
const ESCAPES: &str = "\
NV_ESC_RM_ALLOC_MEMORY|nv_ioctl_nvos02_parameters_with_fd|params.hRoot|params.hObjectNew|params.hClass|params.status
NV_ESC_RM_ALLOC_OBJECT|NVOS05_PARAMETERS|hRoot|hObjectNew|hClass|status
NV_ESC_RM_FREE|NVOS00_PARAMETERS|hRoot|hObjectOld||status
NV_ESC_RM_CONTROL|NVOS54_PARAMETERS|hClient|hObject|cmd|status
NV_ESC_RM_ALLOC|NVOS21_PARAMETERS|hRoot|hObjectNew|hClass|status
NV_ESC_RM_ALLOC|NVOS64_PARAMETERS|hRoot|hObjectNew|hClass|status
NV_ESC_RM_DUP_OBJECT|NVOS55_PARAMETERS|hClient|hObject||status
NV_ESC_RM_SHARE|NVOS57_PARAMETERS|hClient|hObject||status
NV_ESC_RM_I2C_ACCESS|NVOS_I2C_ACCESS_PARAMS|hClient|hDevice||status
NV_ESC_RM_IDLE_CHANNELS|NVOS30_PARAMETERS|hClient|hDevice||status
NV_ESC_RM_VID_HEAP_CONTROL|NVOS32_PARAMETERS|hRoot|hObjectParent|function|status
NV_ESC_RM_ACCESS_REGISTRY|NVOS38_PARAMETERS|hClient|hObject||status
NV_ESC_RM_MAP_MEMORY|nv_ioctl_nvos33_parameters_with_fd|params.hClient|params.hDevice||params.status
NV_ESC_RM_UNMAP_MEMORY|NVOS34_PARAMETERS|hClient|hDevice||status
NV_ESC_RM_GET_EVENT_DATA|NVOS41_PARAMETERS||||status
NV_ESC_RM_ALLOC_CONTEXT_DMA2|NVOS39_PARAMETERS||hObjectNew|hClass|status
NV_ESC_RM_MAP_MEMORY_DMA|NVOS46_PARAMETERS|hClient|hDevice||status
NV_ESC_RM_UNMAP_MEMORY_DMA|NVOS47_PARAMETERS|hClient|hDevice||status
NV_ESC_RM_BIND_CONTEXT_DMA|NVOS49_PARAMETERS|hClient|hChannel||status
NV_ESC_RM_UPDATE_DEVICE_MAPPING_INFO|NVOS56_PARAMETERS|hClient|hDevice||status
NV_ESC_ALLOC_OS_EVENT|nv_ioctl_alloc_os_event_t|hClient|hDevice||Status
NV_ESC_FREE_OS_EVENT|nv_ioctl_free_os_event_t|hClient|hDevice||Status
NV_ESC_EXPORT_TO_DMABUF_FD|nv_ioctl_export_to_dma_buf_fd_t||||status
NV_ESC_IOCTL_XFER_CMD|nv_ioctl_xfer_t|cmd|size|ptr|
";

fn escape_rows() -> impl Iterator<Item = [&'static str; 6]> {
    let rows = ESCAPES.lines();
    rows.map(|row| row.split('|').collect::<Vec<_>>().try_into().unwrap())
}

/// A row of the table: the request's number, and where a field of its structure stands. The whole structure has none.
#[derive(Debug)]
struct Row {
    request: u32,
    field: &'static str,
    offset: u32,
    size: u32,
}

/// Rows by the name of the structure.
fn rows(text: &'static str) -> BTreeMap<&'static str, Vec<Row>> {
    let mut table: BTreeMap<_, Vec<Row>> = BTreeMap::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let [request, structure, field, offset, size] =
            line.split('\t').collect::<Vec<_>>().try_into().unwrap();
        table.entry(structure).or_default().push(Row {
            request: u32::from_str_radix(request, 16).unwrap(),
            field,
            offset: offset.parse().unwrap(),
            size: size.parse().unwrap(),
        });
    }
    table
}

/// The branch whose headers a table is of.
fn version(text: &str) -> (u32, u32) {
    let words = text.split_whitespace();
    let mut numbers = words.flat_map(|word| {
        let mut parts = word.split('.').map(str::parse::<u32>);
        Some((parts.next()?.ok()?, parts.next()?.ok()?))
    });
    numbers.next().unwrap()
}

fn at(rows: &[Row], field: &str) -> Option<u32> {
    let found = rows.iter().find(|row| row.field == field)?;
    assert!(field.is_empty() || found.size == 4, "{found:?}");
    Some(found.offset)
}

#[test]
fn escapes_are_laid_out_as_in_the_headers() {
    TABLES.into_iter().for_each(escapes_are_laid_out_as_in);
}

fn escapes_are_laid_out_as_in(text: &'static str) {
    let table = rows(text);
    let (major, _) = version(text);
    for [name, structure, client, object, code, status] in escape_rows() {
        let rows = &table[structure];
        let (nr, size) = (rows[0].request, rows[0].size);
        assert_eq!(rows[0].field, "");
        if name == "NV_ESC_IOCTL_XFER_CMD" {
            let whole = 16;
            let offsets: Vec<_> = rows.iter().map(|row| (row.offset, row.size)).collect();
            assert_eq!(offsets, [(0, whole), (0, 4), (4, 4), (8, 8)]);
            continue;
        }
        if !client.is_empty() {
            assert_eq!(at(rows, client), Some(0), "{structure}");
        }
        if !object.is_empty() {
            let word = gtrace_abi::object_word(nr);
            assert_eq!(at(rows, object), Some(4 * word), "{structure}");
            assert_eq!(
                gtrace_abi::makes_object(nr),
                object.ends_with("hObjectNew") || name == "NV_ESC_RM_DUP_OBJECT",
                "{structure}"
            );
        }
        if !code.is_empty() {
            assert_eq!(code_offset(nr), at(rows, code), "{structure}");
        }
        let found = status_offset(nr, size, Some(major));
        assert!(found.is_some(), "{structure}");
        assert_eq!(found, at(rows, status), "{structure}");
    }
}

#[test]
fn uvm_requests_are_laid_out_as_in_the_headers() {
    TABLES.into_iter().for_each(uvm_requests_are_laid_out_as_in);
}

fn uvm_requests_are_laid_out_as_in(text: &'static str) {
    let (major, minor) = version(text);
    let mut checked = 0;
    for (structure, rows) in rows(text) {
        let Some(name) = structure.strip_suffix("_PARAMS") else {
            continue;
        };
        let Some(status) = at(&rows, "rmStatus") else {
            continue;
        };
        let request = rows[0].request;
        assert_eq!(uvm_name(request), Some(name));
        if let Some(known) = uvm_status_offset_in(request, major, minor) {
            assert_eq!(known, status, "{structure}");
            checked += 1;
        }
    }
    assert!(checked > 30, "{checked}");
}

/// The names of UVM requests whose structure has a status, by the headers' text.
fn uvm_structures(header: &str) -> Vec<String> {
    let ends = header.match_indices("} UVM_");
    let structures = ends.filter_map(|(end, _)| {
        let name = header[end + 2..].split(';').next()?.trim();
        let start = header[..end].rfind("typedef struct")?;
        let status = header[start..end].contains("rmStatus");
        (status && name.ends_with("_PARAMS")).then(|| name.to_owned())
    });
    let request = |name: &String| {
        let define = format!("#define {} ", name.trim_end_matches("_PARAMS"));
        header.contains(&define)
    };
    structures.filter(request).collect()
}

#[test]
#[ignore = "needs the source of NVIDIA's open kernel modules in GTRACE_NVIDIA_SOURCE"]
fn a_table_is_what_a_compiler_makes_of_the_headers() {
    let source = std::env::var_os("GTRACE_NVIDIA_SOURCE").map(PathBuf::from);
    let source = source.expect("GTRACE_NVIDIA_SOURCE names no folder");
    let text = |path: &str| std::fs::read_to_string(source.join(path)).unwrap();
    let makefile = text("version.mk");
    let named = makefile
        .lines()
        .find_map(|line| line.strip_prefix("NVIDIA_VERSION = "));
    let uvm = text("kernel-open/nvidia-uvm/uvm_ioctl.h")
        + &text("kernel-open/nvidia-uvm/uvm_linux_ioctl.h");

    let mut program = String::from(
        "#include <stddef.h>\n#include <stdio.h>\n#include \"nvos.h\"\n#include \"nv-ioctl.h\"\n\
         #include \"nv-unix-nvos-params-wrappers.h\"\n#include \"nv_escape.h\"\n#include \"uvm_ioctl.h\"\n\
         #include \"uvm_linux_ioctl.h\"\n\
         #define WHOLE(r, s) printf(\"%08x\\t%s\\t\\t0\\t%zu\\n\", (unsigned)(r), #s, sizeof(s))\n\
         #define FIELD(r, s, f) printf(\"%08x\\t%s\\t%s\\t%zu\\t%zu\\n\", (unsigned)(r), #s, #f, offsetof(s, f), \
         sizeof(((s *)0)->f))\nint main(void) {\n",
    );
    let mut add = |request: &str, structure: &str, fields: &[&str]| {
        // Some are of Windows alone.
        writeln!(program, "#ifdef {request}\nWHOLE({request}, {structure});").unwrap();
        for field in fields.iter().filter(|field| !field.is_empty()) {
            writeln!(program, "FIELD({request}, {structure}, {field});").unwrap();
        }
        program.push_str("#endif\n");
    };
    for [request, structure, fields @ ..] in escape_rows() {
        add(request, structure, &fields);
    }
    for structure in uvm_structures(&uvm) {
        let request = structure.trim_end_matches("_PARAMS");
        add(request, &structure, &["rmStatus"]);
    }
    program.push_str("return 0; }\n");

    let dir = std::env::temp_dir().join(format!("gtrace-headers-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    let (input, built) = (dir.join("layout.c"), dir.join("layout"));
    std::fs::write(&input, program).unwrap();
    let folders = [
        "src/common/sdk/nvidia/inc",
        "src/nvidia/arch/nvalloc/unix/include",
        "kernel-open/common/inc",
        "kernel-open/nvidia-uvm",
    ];
    let mut compiler = Command::new("cc");
    for folder in folders {
        compiler.arg("-I").arg(source.join(folder));
    }
    let made = compiler.arg("-o").args([&built as &Path, &input]).status();
    assert!(made.unwrap().success());
    let output = Command::new(&built).output().unwrap();
    std::fs::remove_dir_all(&dir).unwrap();
    let table = format!(
        "# Offsets and sizes in bytes on x86-64, as a compiler lays out the headers of NVIDIA's open kernel modules {}.\n\
         # nvos.h, nv-ioctl.h, nv-unix-nvos-params-wrappers.h, nv_escape.h, uvm_ioctl.h, uvm_linux_ioctl.h; see headers.rs.\n\
         # request\tstructure\tfield\toffset\tsize\n{}",
        named.unwrap(),
        String::from_utf8(output.stdout).unwrap()
    );
    if std::env::var_os("GTRACE_WRITE").is_some() {
        let name = format!("tests/headers-{}.tsv", version(&table).0);
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
        std::fs::write(path, &table).unwrap();
    }
    let is_of = |known: &&str| version(known) == version(&table);
    let known = TABLES.into_iter().find(is_of);
    assert_eq!(Some(&*table), known, "GTRACE_WRITE=1 writes the table");
}
