#!/usr/bin/env bash
# Installs the Debian packages that tests use (test/support/packages.ts): a real browser, a database, and programs
# that are asked for a second opinion. Does nothing where all are there. A failure is one line and no error: the run of
# the tests says what is missing.
set -euo pipefail

packages=(
  bsdutils chromium-headless-shell fish gcc groff jq openssl postgresql python3 python3-cryptography zsh
)

is_installed() {
  [ "$(dpkg-query --show --showformat='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

install() {
  apt-get update -qq &&
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
      -o Dpkg::Options::=--force-confold "$@"
}

command -v apt-get >/dev/null || exit 0

missing=()
for package in "${packages[@]}"; do
  is_installed "$package" || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0

if [ "$(id -u)" -ne 0 ]; then
  echo "test-packages: run as root, this would install ${missing[*]}" >&2
  exit 0
fi

# Tests start servers of their own: Debian's package need not create one.
settings=/etc/postgresql-common/createcluster.conf
if [[ " ${missing[*]} " == *" postgresql "* ]] && [ ! -e "$settings" ]; then
  mkdir -p "$(dirname "$settings")"
  echo "create_main_cluster = false" >"$settings"
fi

output=$(mktemp)
trap 'rm -f "$output"' EXIT
echo "test-packages: installing ${missing[*]}" >&2
# Once more after a failure: mirrors have their moments.
if ! install "${missing[@]}" >"$output" 2>&1 && ! install "${missing[@]}" >"$output" 2>&1; then
  reason=$(grep -m 1 '^E: ' "$output" || tail -n 1 "$output")
  echo "test-packages: apt-get failed: ${reason#E: }" >&2
fi
