#!/bin/sh
# Installs what the tests of the package need, where something is missing. Root only: they boot systems.
set -eu
[ "$(id -u)" = 0 ] || { echo "test:package boots systems: run it as root" >&2; exit 1; }
need=""
want() { command -v "$1" >/dev/null || need="$need $2"; }
want mmdebstrap mmdebstrap
want systemd-nspawn systemd-container
want lintian lintian
want dh debhelper
want dpkg-buildpackage dpkg-dev
want strip binutils
want aarch64-linux-gnu-strip binutils-aarch64-linux-gnu
want qemu-aarch64-static qemu-user-static
want curl curl
[ -z "$need" ] || {
  apt-get update -qq
  # shellcheck disable=SC2086
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $need >/dev/null
}
