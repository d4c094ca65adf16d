//! Images that NVIDIA's tools made (`data/README.md`).
#![allow(clippy::unwrap_used, clippy::expect_used)]

use gtrace_image::{Layouts, is_whole};
use proptest::prelude::*;

const PTX: &[u8] = include_bytes!("data/kernels.ptx");
const CUBIN: &[u8] = include_bytes!("data/sm_75.cubin");
const ZSTD: &[u8] = include_bytes!("data/zstd.fatbin");
const LZ4: &[u8] = include_bytes!("data/lz4.fatbin");

fn layout(layouts: &Layouts, name: &str) -> Vec<(u32, u32)> {
    let parameters = layouts.get(name).expect("a kernel of this name");
    parameters.iter().map(|p| (p.offset, p.size)).collect()
}

#[test]
fn all_kinds_of_images_describe_the_same() {
    for image in [PTX, CUBIN, ZSTD, LZ4] {
        let layouts = Layouts::read(image);
        assert_eq!(layout(&layouts, "add"), [(0, 8), (8, 8), (16, 4)]);
        assert_eq!(
            layout(&layouts, "_Z6mixed_h6int3_t4pairsd"),
            [(0, 1), (4, 12), (16, 2), (32, 32), (64, 2), (72, 8)]
        );
        assert_eq!(layout(&layouts, "nothing"), []);
        assert_eq!(layouts.get("no such kernel"), None);
        assert_eq!(layouts.names().count(), layouts.len());
    }
}

#[test]
fn parameters_of_many_bytes_are_reported_too() {
    for image in [ZSTD, LZ4] {
        let layouts = Layouts::read(image);
        assert_eq!(
            layout(&layouts, "large"),
            [(0, 4), (8, 20_000), (20_008, 8)]
        );
    }
}

#[test]
fn an_image_that_breaks_off_gives_what_is_whole_or_nothing() {
    for image in [PTX, CUBIN, ZSTD, LZ4] {
        let whole = Layouts::read(image);
        for len in (0..image.len()).step_by(7) {
            let part = Layouts::read(&image[..len]);
            for name in part.names() {
                assert_eq!(part.get(name), whole.get(name), "{name} of {len} bytes");
            }
        }
    }
}

#[test]
fn images_are_whole_until_they_break_off() {
    for image in [PTX, CUBIN, ZSTD, LZ4] {
        assert!(is_whole(image));
    }
    for image in [CUBIN, ZSTD, LZ4] {
        for len in (0..image.len()).step_by(7) {
            assert!(!is_whole(&image[..len]), "{len} bytes");
        }
    }
}

proptest! {
    #[test]
    fn broken_images_are_read_without_panic(
        which in 0..4_usize,
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..20),
    ) {
        let mut image = [PTX, CUBIN, ZSTD, LZ4][which].to_vec();
        for (at, value) in changes {
            let at = at.index(image.len());
            image[at] = value;
        }
        let _ = is_whole(&image);
        let layouts = Layouts::read(&image);
        prop_assert!(layouts.len() <= image.len());
    }
}
