#!/bin/sh
# Builds fakegpu.ko for an unpacked Debian kernel.
#
#   build.sh KERNEL_TREE OUT_DIR
#
# KERNEL_TREE: folder in which linux-headers-*, linux-headers-*-common and linux-kbuild-* of one kernel
#   were unpacked with dpkg -x. It is only read.
# OUT_DIR: receives fakegpu.ko, without debug information.
# Environment:
#   MODULE_CC=gcc compiles with that instead of the compiler that the headers name.
set -eu

sources=$(cd "$(dirname "$0")" && pwd)
. "$sources/../headers.sh"
[ $# -eq 2 ] || die "usage: build.sh KERNEL_TREE OUT_DIR"
tree=$(cd "$1" && pwd) || die "$1 is not a folder"
mkdir -p "$2"
out=$(cd "$2" && pwd)

scratch=$(mktemp -d "${TMPDIR:-/tmp}/fakegpu.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM

kernel_headers "$tree" "$scratch/headers"
mkdir "$scratch/fakegpu"
cp "$sources"/Kbuild "$sources"/*.[ch] "$scratch/fakegpu/"
make -C "$scratch/headers" "M=$scratch/fakegpu" ${MODULE_CC:+"CC=$MODULE_CC"} modules >"$scratch/log" 2>&1 || {
    cat "$scratch/log" >&2
    die "building it for $tree failed"
}
grep -E 'warning|WARNING' "$scratch/log" >&2 || true
strip --strip-debug -o "$out/fakegpu.ko" "$scratch/fakegpu/fakegpu.ko"
