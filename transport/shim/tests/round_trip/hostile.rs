//! Frames that no client of ours would send.

use gtrace_cuda::{Api, Kind, functions};
use gtrace_protocol::{Reader, Writer, op_id};
use proptest::prelude::*;

use crate::entry::with_server;
use crate::server;

#[test]
fn an_operation_that_is_not_known_is_not_supported() {
    let dispatched = with_server(|exec| {
        let op = op_id("cuNothing");
        let mut reply = Writer::default();
        let driver = server::driver::dispatch(op, exec, &mut Reader::new(&[1]), &mut reply);
        let nvml = server::nvml::dispatch(op, exec, &mut Reader::new(&[1]), &mut reply);
        (driver.unwrap(), nvml.unwrap(), reply.len())
    });
    assert_eq!(dispatched, (801, 3, 0));
}

#[test]
fn a_length_that_disagrees_with_its_array_never_reaches_the_driver() {
    unsafe extern "C" fn access(
        _: u64,
        _: usize,
        _: *const gtrace_cuda::types::driver::CUmemAccessDesc,
        _: usize,
    ) -> u32 {
        panic!("the driver would read beyond the array")
    }
    let mut request = Writer::default();
    request.u64(0x1000);
    request.u64(64);
    request.u64(1);
    request.raw(&[0; size_of::<gtrace_cuda::types::driver::CUmemAccessDesc>()]);
    request.u64(2);
    let result = with_server(|exec| {
        exec.driver.cuMemSetAccess = Some(access);
        let mut r = Reader::new(request.as_slice());
        server::driver::dispatch(
            op_id("cuMemSetAccess"),
            exec,
            &mut r,
            &mut Writer::default(),
        )
    });
    assert!(result.is_err());
}

#[test]
fn a_handle_cannot_be_minted_twice_or_as_another_kind() {
    unsafe extern "C" fn create(_: *mut gtrace_cuda::types::driver::CUevent, _: u32) -> u32 {
        0
    }
    let mint = |handle: u64| {
        with_server(|exec| {
            exec.driver.cuEventCreate = Some(create);
            let mut request = Writer::default();
            request.u64(handle);
            request.u32(0);
            let mut r = Reader::new(request.as_slice());
            let op = op_id("cuEventCreate");
            server::driver::dispatch(op, exec, &mut r, &mut Writer::default()).unwrap()
        })
    };
    assert_eq!(mint(Kind::Event.handle(5000)), 0);
    assert_eq!(mint(Kind::Event.handle(5000)), 1);
    assert_eq!(mint(Kind::Stream.handle(5001)), 1);
}

fn operations() -> Vec<(Api, u32)> {
    [Api::Driver, Api::Nvml]
        .into_iter()
        .flat_map(|api| functions::all(api).map(move |function| (api, function.id())))
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4096))]

    /// The driver has no functions here: what gets that far would have been called.
    #[test]
    fn any_bytes_are_read_as_any_operation_without_panic(
        which in any::<prop::sample::Index>(),
        mut bytes in proptest::collection::vec(any::<u8>(), 0..96),
        zeros in 0usize..96,
    ) {
        let operations = operations();
        let (api, op) = operations[which.index(operations.len())];
        // Small numbers get further than random ones.
        for byte in bytes.iter_mut().take(zeros) {
            *byte &= u8::from(*byte > 250);
        }
        with_server(|exec| {
            let mut r = Reader::new(&bytes);
            let mut w = Writer::default();
            let result = match api {
                Api::Driver => server::driver::dispatch(op, exec, &mut r, &mut w),
                Api::Nvml => server::nvml::dispatch(op, exec, &mut r, &mut w),
            };
            if let Ok(code) = result {
                prop_assert_ne!(code, 0);
            }
            prop_assert!(w.is_empty());
            Ok(())
        })?;
    }
}
