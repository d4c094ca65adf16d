//! An opened device.
#![allow(unsafe_code)]

use std::ffi::CStr;
use std::fmt;
use std::fs::File;
use std::io;
use std::ptr::NonNull;
use std::sync::Arc;

use crate::error::VerbsError;
use crate::ffi::{IBV_LINK_LAYER_ETHERNET, IBV_PORT_ACTIVE, empty, ibv_context, ibv_port_attr};
use crate::library::{Functions, functions};
use crate::sysfs::Shown;

/// A device that this process has opened.
pub struct Context {
    pub(crate) raw: NonNull<ibv_context>,
    pub(crate) functions: &'static Functions,
    name: String,
    shown: Option<Shown>,
    /// The process that opened it. A child of a fork has the same descriptor: what it gave back would
    /// be taken from its parent.
    process: u32,
}

// SAFETY: libibverbs may be called from any thread, and locks what its objects share.
unsafe impl Send for Context {}
// SAFETY: as above.
unsafe impl Sync for Context {}

/// What is known of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Port {
    /// Its number, from 1.
    pub number: u8,
    /// Largest packet now, as `enum ibv_mtu`: 1 is 256 bytes, 5 is 4096.
    pub mtu: u8,
    /// Local identifier; 0 on Ethernet.
    pub lid: u16,
    /// Whether packets carry a GID: always on Ethernet.
    pub ethernet: bool,
}

/// Why a device cannot be opened. Where its file may not be opened, libibverbs looks for another one by
/// its number, and says at last that there is none.
fn acknowledged(error: io::Error) -> io::Error {
    let forbidden = || {
        let files = std::fs::read_dir("/dev/infiniband").ok()?;
        files.flatten().find_map(|file| {
            let name = file.file_name();
            let is_one = name.to_str()?.starts_with("uverbs");
            let opened = File::options().read(true).write(true).open(file.path());
            let denied = opened
                .err()
                .filter(|e| e.kind() == io::ErrorKind::PermissionDenied);
            denied.filter(|_| is_one)
        })
    };
    match error.kind() {
        io::ErrorKind::NotFound => forbidden().unwrap_or(error),
        _ => error,
    }
}

impl Context {
    /// Opens the device of that name.
    ///
    /// # Errors
    ///
    /// [`VerbsError::NoLibrary`], [`VerbsError::NoFile`], [`VerbsError::NoProvider`],
    /// [`VerbsError::Open`].
    pub fn open(name: &str) -> Result<Arc<Self>, VerbsError> {
        let functions = functions()?;
        // Before it is opened: what is taken away meanwhile is found to be gone.
        let shown = Shown::of(name);
        let mut count = 0;
        // SAFETY: writes the number of entries to `count`, and gives a list that ends with null.
        let list = unsafe { (functions.ibv_get_device_list)(&raw mut count) };
        if list.is_null() {
            let source = io::Error::last_os_error();
            let device = name.to_owned();
            return Err(VerbsError::Open { device, source });
        }
        let mut opened = Err(match shown {
            Some(_) => VerbsError::NoProvider(name.to_owned()),
            None => VerbsError::NoFile(name.to_owned()),
        });
        for index in 0..usize::try_from(count).unwrap_or(0) {
            // SAFETY: the list has `count` devices, each with a name that ends with NUL.
            let (device, found) = unsafe {
                let device = *list.add(index);
                (
                    device,
                    CStr::from_ptr((functions.ibv_get_device_name)(device)),
                )
            };
            if found.to_bytes() == name.as_bytes() {
                // SAFETY: a device of the list, which is freed below.
                let context = NonNull::new(unsafe { (functions.ibv_open_device)(device) });
                opened = context.ok_or_else(|| VerbsError::Open {
                    device: name.to_owned(),
                    source: acknowledged(io::Error::last_os_error()),
                });
                break;
            }
        }
        // SAFETY: the list is freed once; an opened device stays.
        unsafe { (functions.ibv_free_device_list)(list) };
        Ok(Arc::new(Self {
            raw: opened?,
            functions,
            name: name.to_owned(),
            shown,
            process: std::process::id(),
        }))
    }

    /// Whether this is the process that opened it, which alone gives things back.
    pub(crate) fn is_ours(&self) -> bool {
        self.process == std::process::id()
    }

    /// Its name, as in /sys/class/infiniband.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// That the device is not being taken away. If it is, whoever has it open closes it, as its driver may
    /// wait for that.
    ///
    /// # Errors
    ///
    /// [`VerbsError::Gone`].
    pub fn check(&self) -> Result<(), VerbsError> {
        match &self.shown {
            Some(shown) if !shown.is_there() => Err(VerbsError::Gone(self.name.clone())),
            _ => Ok(()),
        }
    }

    /// Port `number`, which has to be active.
    ///
    /// # Errors
    ///
    /// [`VerbsError::PortDown`], [`VerbsError::Call`].
    pub fn port(&self, number: u8) -> Result<Port, VerbsError> {
        let mut attributes = empty::<ibv_port_attr>();
        // SAFETY: the context is open, and the library writes no more than the structure has, which
        // is what callers of IBVERBS_1.1 pass or less.
        let status = unsafe {
            (self.functions.ibv_query_port)(self.raw.as_ptr(), number, &raw mut attributes)
        };
        VerbsError::check("ibv_query_port", status)?;
        if attributes.state != IBV_PORT_ACTIVE {
            return Err(VerbsError::PortDown {
                device: self.name.clone(),
                port: number,
            });
        }
        Ok(Port {
            number,
            mtu: u8::try_from(attributes.active_mtu).unwrap_or(1).clamp(1, 5),
            lid: attributes.lid,
            ethernet: attributes.link_layer == IBV_LINK_LAYER_ETHERNET,
        })
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        if !self.is_ours() {
            return;
        }
        // SAFETY: everything that was made of it holds it, and so is gone.
        let _ = unsafe { (self.functions.ibv_close_device)(self.raw.as_ptr()) };
    }
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Context").field(&self.name).finish()
    }
}
