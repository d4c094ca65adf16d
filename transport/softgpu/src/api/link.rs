//! Linking of PTX modules.

use std::ffi::{c_uint, c_void};
use std::sync::{Arc, Mutex};

use crate::abi::{Answer, In, Name, Out, api};
use crate::context::current;
use crate::error::{INVALID_HANDLE, INVALID_VALUE, NO_BINARY_FOR_GPU, fail_if};
use crate::image::{self, Part};
use crate::jit::Logs;
use crate::program::Linked;
use crate::registry::Registry;
use crate::sync::lock;
use crate::types::Handle;

const KIND: u8 = 8;

/// One link that is under way.
struct Link {
    logs: Logs,
    state: Mutex<LinkState>,
}

#[derive(Default)]
struct LinkState {
    modules: Vec<String>,
    /// The linked image with its closing NUL, which the program reads until the link is destroyed.
    image: Vec<u8>,
}

static LINKS: Registry<Link> = Registry::new();

fn find(handle: Handle) -> Answer<Arc<Link>> {
    LINKS.get(handle).ok_or(INVALID_HANDLE)
}

fn add(handle: Handle, parts: impl FnOnce() -> Answer<Vec<Part>>) -> Answer {
    let link = find(handle)?;
    let modules = texts(parts()?)?;
    lock(&link.state).modules.extend(modules);
    Ok(())
}

/// Modules that can be linked: PTX.
fn texts(parts: Vec<Part>) -> Answer<Vec<String>> {
    let text = |part| match part {
        Part::Text(text) => Ok(text),
        Part::Code(_) => Err(NO_BINARY_FOR_GPU),
    };
    parts.into_iter().map(text).collect()
}

api! { TABLE:
    /// Begins a link. Messages go to the logs among the options.
    fn cuLinkCreate_v2(count: c_uint, options: In<u32>, values: Out<u64>, link: Out<Handle>) {
        current()?;
        fail_if(link.is_null(), INVALID_VALUE)?;
        let logs = Logs::read(count, options, values);
        link.put(LINKS.add(KIND, Link { logs, state: Mutex::default() }))
    }

    /// Adds a module: PTX or a fat binary with PTX, of `size` bytes.
    fn cuLinkAddData_v2(
        link: Handle, kind: u32, data: *const c_void, size: usize, name: *const c_void,
        count: c_uint, options: In<u32>, values: Out<u64>,
    ) {
        let _ = (kind, name, count, options, values);
        add(link, || match data.is_null() {
            true => Err(INVALID_VALUE),
            false => image::load_sized(data as u64, size),
        })
    }

    /// Adds a module from a file.
    fn cuLinkAddFile_v2(
        link: Handle, kind: u32, path: Name, count: c_uint, options: In<u32>, values: Out<u64>,
    ) {
        let _ = (kind, count, options, values);
        add(link, || image::parse(&super::module::read_file(path)?))
    }

    /// Links what was added. The image stays valid until the link is destroyed.
    fn cuLinkComplete(link: Handle, image: Out<*const c_void>, size: Out<usize>) {
        let link = find(link)?;
        let mut state = lock(&link.state);
        // Reported now, not when the image is loaded: a symbol that is missing or defined twice.
        Linked::build_texts(&state.modules, &link.logs)?;
        state.image = image::join(&state.modules).into_bytes();
        state.image.push(0);
        image.put(state.image.as_ptr().cast())?;
        size.offer(state.image.len());
        Ok(())
    }

    /// Ends a link.
    fn cuLinkDestroy(link: Handle) {
        LINKS.remove(link).map(|_| ()).ok_or(INVALID_HANDLE)
    }
}
