#!/usr/bin/env bash
# How this store was written. It is not run again: the store stays as it is.
set -euo pipefail
cd "$(dirname "$0")"
export HELDSET_KEYS=keys USER=golden
heldset --store store init store --quiet
heldset --store store import trips rows.jsonl --quiet
heldset --store store import trips some.jsonl --upsert --message "a better answer" --quiet
heldset --store store import trips pictures --files --split pictures --visibility evaluator_only --quiet
heldset --store store tag trips@2 baseline
heldset --store store import words open.jsonl --profile plain --quiet
heldset --store store erase trips q3 --reason "asked for"
heldset --store store cat trips --as agent
