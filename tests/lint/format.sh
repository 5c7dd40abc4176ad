#!/bin/sh
# format.sh - every C file is as clang-format 14 writes it (output differs between releases).
set -u
cd "$(dirname "$0")/../.." || exit 1
tool=$(command -v clang-format-14 || command -v clang-format) || { echo "SKIPPED: format: no clang-format"; exit 77; }
"$tool" --version | grep -q 'version 14\.' || { echo "SKIPPED: format: needs clang-format 14, this is $("$tool" --version)"; exit 77; }
find base thrift client registry agent tests docs -name '*.[ch]' -exec "$tool" --dry-run -Werror --style=file {} + 2>&1
