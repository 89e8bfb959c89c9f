#!/bin/sh
# record: an agent that is a shell script, piped into `verbatim record`. Every turn is on the disk
# before the next is read; kill it at any time, acknowledged turns stay.
#
#     sh examples/record.sh [project directory]
set -eu

project=${1:-$(mktemp -d)}
here=$(dirname "$0")
# Installed, this is the command `verbatim` itself.
verbatim() { node "$here/../dist/cli/main.js" "$@"; }

agent() {
  echo '{"type":"user","message":{"content":"How many lines has the readme?"}}'
  echo '{"type":"assistant","message":{"content":[
    {"type":"tool_use","id":"toolu_1","name":"bash","input":{"command":"wc -l < readme"}}]}}' | tr -d '\n'
  echo
  lines=$(printf 'one\ntwo\n' | wc -l | tr -d ' ')
  echo '{"type":"user","message":{"content":[
    {"type":"tool_result","tool_use_id":"toolu_1","content":"'"$lines"'"}]}}' | tr -d '\n'
  echo
  echo '{"type":"assistant","message":{"content":"It has '"$lines"' lines."}}'
}

# `record` first prints where the session is; with --ack, one line per turn follows.
agent | verbatim record --dialect entire --model a-shell-script --root "$project" --ack |
  grep -c offset | sed 's/$/ turns are on the disk/'

session=$(ls "$project/.entire/metadata")
echo "prompt.txt: $(cat "$project/.entire/metadata/$session/prompt.txt")"
tail -n 1 "$project/.entire/metadata/$session/context.md"
verbatim export "$session" --root "$project" --format etf | grep -c '"v":1' | sed 's/$/ lines of ETF/'
