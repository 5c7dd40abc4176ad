#!/bin/sh
# run.sh - runs the stories with the Python that configure found; arguments go to pytest.
if [ -z "$PYTHON" ]; then
    echo "SKIP: no stories: configure found no Python with thrift and pytest;"
    echo "      on Debian: apt-get install python3-thrift python3-pytest"
    exit 77
fi
PYTHONDONTWRITEBYTECODE=1
LEAT=${LEAT:-$(pwd)/leat}
export LEAT PYTHONDONTWRITEBYTECODE
exec "$PYTHON" -m pytest -q -p no:cacheprovider --durations=5 "$@" "${srcdir:-.}/tests/integration"
