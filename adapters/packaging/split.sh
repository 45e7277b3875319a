# split.sh - which installed files are in which package; sourced by deb.sh and rpm.sh
# SPDX-License-Identifier: MIT

# Prints the files and links below a folder that programs are built with: headers, archives, the
# link that -lcpubind needs, cpubind.pc, the CMake package, cpubind(3). All others are those of
# the command.
development_files() { # folder
    (cd "$1" && find . \( -type f -o -type l \) | sed 's|^\./||' | sort |
        grep -E '^usr/include/|\.a$|/libcpubind\.so$|/pkgconfig/|/cmake/|/man3/')
}

# Makes the times of all files those of SOURCE_DATE_EPOCH, and their modes those of a package.
# Manual pages and the list of changes are compressed, as distributions do.
prepare() { # folder
    find "$1/usr/share/man" -type f ! -name '*.gz' -exec gzip -9n {} +
    find "$1" -type d -exec chmod 755 {} +
    find "$1" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
}
