#!/usr/bin/env bash
# Installs the Debian packages given, when it may; otherwise says what is missing and goes on.
set -u

missing=()
for package in "$@"; do
    dpkg -s "$package" >/dev/null 2>&1 || missing+=("$package")
done
if [ ${#missing[@]} -eq 0 ]; then
    exit 0
fi

as_root=()
if [ "$(id -u)" -ne 0 ]; then
    as_root=(sudo -n)
fi
if command -v apt-get >/dev/null && "${as_root[@]}" true 2>/dev/null; then
    echo "Installing: ${missing[*]}"
    install=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive
        apt-get -qq -o DPkg::Lock::Timeout=300)
    if { "${install[@]}" update && "${install[@]}" install -y --no-install-recommends \
        "${missing[@]}"; } >/dev/null; then
        exit 0
    fi
fi
echo "Missing Debian packages; install them if the build asks for them: ${missing[*]}" >&2
