# SPDX-License-Identifier: MIT OR GPL-2.0
# For scripts that build modules for an unpacked Debian kernel; to be sourced.

die() {
    echo "${0##*/}: $*" >&2
    exit 1
}

# kernel_headers KERNEL_TREE DIR
#
# KERNEL_TREE: folder in which linux-headers-*, linux-headers-*-common and linux-kbuild-* of one kernel
#   were unpacked with dpkg -x. It is only read.
# DIR: made, a headers folder to build with. Sets `common`, the folder of the headers' sources.
kernel_headers() {
    headers=
    for dir in "$1"/usr/src/linux-headers-*; do
        [ -f "$dir/Module.symvers" ] || continue
        [ -z "$headers" ] || die "$1 has more than one linux-headers-*: $headers and $dir; leave one"
        headers=$dir
    done
    [ -n "$headers" ] || die "$1 has no usr/src/linux-headers-*/Module.symvers: unpack linux-headers-* there"

    # Debian's Makefile includes the common headers by the absolute path of an installed package.
    common=$(sed -n 's,^include \(/usr/src/[^ ]*\)/Makefile$,\1,p' "$headers/Makefile")
    [ -n "$common" ] || die "$headers/Makefile does not include /usr/src/.../Makefile: not Debian's headers"
    [ -f "$1$common/Makefile" ] || die "$1$common/Makefile is missing: unpack $(basename "$common") there"
    [ -e "$headers/scripts/mod/modpost" ] || die "$headers/scripts is not complete: unpack linux-kbuild-* there"
    common=$1$common

    # A folder of links, with a Makefile of its own.
    mkdir "$2"
    for entry in "$headers"/* "$headers"/.config "$headers"/.kernelvariables; do
        [ -e "$entry" ] || continue
        case ${entry##*/} in
        Makefile) ;;
        # It is there for BTF only, and to make BTF needs pahole.
        vmlinux) command -v pahole >/dev/null && ln -s "$entry" "$2/" ;;
        *) ln -s "$entry" "$2/" ;;
        esac
    done
    echo "include $common/Makefile" >"$2/Makefile"
}
