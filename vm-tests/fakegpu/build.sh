#!/bin/sh
# Builds fakegpu.ko for an unpacked Debian kernel and a version of NVIDIA's open driver.
#
#   build.sh KERNEL_TREE OUT_DIR DRIVER_SOURCES
#
# KERNEL_TREE: folder in which linux-headers-*, linux-headers-*-common and linux-kbuild-* of one kernel
#   were unpacked with dpkg -x. It is only read.
# OUT_DIR: receives fakegpu.ko, without debug information, and layout.h, which was made of the driver's headers.
# DRIVER_SOURCES: the tar file of the driver's sources, nvidia-open-gpu-kernel-modules_*.orig.tar.xz.
# Environment:
#   MODULE_CC=gcc compiles with that instead of the compiler that the headers name.
set -eu

sources=$(cd "$(dirname "$0")" && pwd)
. "$sources/../headers.sh"
[ $# -eq 3 ] || die "usage: build.sh KERNEL_TREE OUT_DIR DRIVER_SOURCES"
tree=$(cd "$1" && pwd) || die "$1 is not a folder"
mkdir -p "$2"
out=$(cd "$2" && pwd)
[ -f "$3" ] || die "$3 is missing: fetch the sources of nvidia-open-kernel-source"

scratch=$(mktemp -d "$out/build.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM

kernel_headers "$tree" "$scratch/headers"
mkdir "$scratch/driver" "$scratch/fakegpu"
tar -xf "$3" -C "$scratch/driver" --strip-components=1
cp "$sources"/Kbuild "$sources"/*.[ch] "$scratch/fakegpu/"

# As the driver's own makefile compiles: its flags decide where things lie.
series=$(sed -n 's/^NVIDIA_VERSION = \([0-9]*\)\..*/\1/p' "$scratch/driver/version.mk")
[ -n "$series" ] || die "version.mk of $3 names no version"
printf '%s\n' 'include Makefile' 'layout.s: layout.c' \
    "	\$(CC) \$(CFLAGS) \$(CONDITIONAL_CFLAGS) -DSERIES=$series -w -S -o \$@ \$<" >"$scratch/layout.mk"
mv "$scratch/fakegpu/layout.c" "$scratch/driver/src/nvidia/"
make -C "$scratch/driver/src/nvidia" -f "$scratch/layout.mk" ${MODULE_CC:+"CC=$MODULE_CC"} layout.s >"$scratch/log" 2>&1 || {
    tail -n 40 "$scratch/log" >&2
    die "the headers of $3 are laid out in another way"
}
sed -n 's/^->\([A-Za-z0-9_]*\) \$*\(-*[0-9]*\)$/#define \1 \2/p' "$scratch/driver/src/nvidia/layout.s" >"$scratch/fakegpu/layout.h"
[ -s "$scratch/fakegpu/layout.h" ] || die "no layout was made of $3"

make -C "$scratch/headers" "M=$scratch/fakegpu" "SDK=$scratch/driver/src/common/sdk/nvidia/inc" \
    ${MODULE_CC:+"CC=$MODULE_CC"} modules >"$scratch/log" 2>&1 || {
    cat "$scratch/log" >&2
    die "building it for $tree failed"
}
grep -E 'warning|WARNING' "$scratch/log" >&2 || true
cp "$scratch/fakegpu/layout.h" "$out/"
strip --strip-debug -o "$out/fakegpu.ko" "$scratch/fakegpu/fakegpu.ko"
