#!/bin/sh
# quickstart.sh LEAT SOURCE-TREE WORK-FOLDER - one agent, one real log, and the proof that what went in came out.
set -eu

leat=$1
tree=$2
work=$3
log=$work/agent.log

bold() { printf '\n\033[1m%s\033[0m\n' "$*"; }
if [ ! -t 1 ]; then bold() { printf '\n%s\n' "$*"; }; fi
fail() { printf '\nquickstart: %s\n' "$*" >&2; exit 1; }

rm -rf "$work"
mkdir -p "$work/events"

# A log that every machine has: what the package manager did, or what configure saw.
input=$work/input.log
if [ -s /var/log/dpkg.log ] && [ -r /var/log/dpkg.log ]; then name=/var/log/dpkg.log; else name=$work/../config.log; fi
cp "$name" "$input"
lines=$(wc -l <"$input")

bold "1. The configuration is conf/quickstart.yaml; this is its topology (leat check):"
LEAT_DIR=$work/events LEAT_PORT=0 LEAT_HTTP_PORT=0
export LEAT_DIR LEAT_PORT LEAT_HTTP_PORT
"$leat" check "$tree/conf/quickstart.yaml"

bold "2. The agent starts (leat run)."
"$leat" run "$tree/conf/quickstart.yaml" 2>"$log" &
agent=$!
trap 'kill "$agent" 2>/dev/null || true' EXIT INT TERM

# The agent names the ports that it was given.
port_of() { sed -n "s/.*listening.* component=$1 .*address=[^ ]*:\([0-9]*\).*/\1/p" "$log"; }
tries=0
until grep -q ' started agent=' "$log"; do
    kill -0 "$agent" 2>/dev/null || { cat "$log" >&2; fail "the agent did not start"; }
    tries=$((tries + 1))
    [ "$tries" -lt 100 ] || { cat "$log" >&2; fail "the agent has not started after 10 s"; }
    sleep 0.1
done
port=$(port_of apps)
http=$(port_of http)
echo "It listens on 127.0.0.1:$port; without the port 0 that this run asks for, it would be 4141."

bold "3. Every line of $name becomes an event (leat send)."
"$leat" send --to "127.0.0.1:$port" "$input"

bold "4. Your own program can send too: docs/examples/send.py, any language that Thrift knows."
sed -n '/^transport/,$s/^/    /p' "$tree/docs/examples/send.py"
python_lines=0
if (cd "$work" && thrift --gen py "$tree/thrift/flume.thrift" && /usr/bin/python3 "$tree/docs/examples/send.py" "$port"); then
    python_lines=2
else
    echo "(not shown: it needs the Debian package python3-thrift)"
fi

bold "5. What the agent counted${http:+ (http://127.0.0.1:$http/metrics)}:"
metrics() {
    /usr/bin/python3 -c 'import sys, urllib.request; print(urllib.request.urlopen(sys.argv[1]).read().decode())' \
        "http://127.0.0.1:$http/metrics"
}
if [ -z "$http" ]; then
    echo "(not shown: this leat was built without HTTP)"
elif [ ! -x /usr/bin/python3 ]; then
    echo "(not shown: it needs the Debian package python3)"
else
    metrics | grep -E '^leat_(source_events_(received|accepted)|sink_events_delivered)_total' || fail "there are no metrics at port $http"
fi

bold "6. What the logger sink printed last ($log):"
kill "$agent"
wait "$agent" || fail "the agent did not stop cleanly; see $log"
trap - EXIT INT TERM
grep -F 'event' "$log" | grep -F 'terminal' | tail -n 3 || true
grep -E 'stopp' "$log" || true

bold "7. Where the events arrived:"
ls -l "$work/events"
cat "$work"/events/apps* >"$work/output.log"
arrived=$(wc -l <"$work/output.log")
head -n "$lines" "$work/output.log" | cmp -s - "$input" || fail "the files differ from what was sent"
[ "$arrived" -eq $((lines + python_lines)) ] || fail "$((lines + python_lines)) events went in, $arrived came out"

bold "$lines lines and $python_lines events from Python went in; $arrived events came out, in order, byte for byte the same."
echo "Next: $leat run $tree/conf/quickstart.yaml, $leat describe, README.md"
