#!/bin/sh
# Installs the Debian or Ubuntu packages that Nutmeg's pictures and tests use, if they are missing and we may;
# otherwise says which to install. With arguments: those packages. Never fails for something optional.
set -u

missing=""
if [ $# -gt 0 ]; then
    missing="$*"
else
    ldconfig -p 2>/dev/null | grep -q 'libOSMesa\.so' || missing="$missing libosmesa6"
    if ! { ldconfig -p 2>/dev/null | grep -q 'libEGL\.so' && ldconfig -p 2>/dev/null | grep -q 'libOpenGL\.so'; }; then
        missing="$missing libegl1 libegl-mesa0 libgl1-mesa-dri libopengl0"
    fi
    command -v chromium >/dev/null 2>&1 || command -v google-chrome >/dev/null 2>&1 || missing="$missing chromium"
fi
[ -n "$missing" ] || exit 0

if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    echo "installing:$missing"
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -qq >/dev/null 2>&1
    for package in $missing; do
        apt-get install -y -qq --no-install-recommends "$package" >/dev/null 2>&1 \
            || echo "note: $package could not be installed; what needs it is skipped."
    done
else
    echo "note: for pictures, videos and browser tests install: sudo apt-get install$missing"
    [ $# -eq 0 ]
fi
