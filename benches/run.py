#!/usr/bin/env python3
"""Runs against a loopback agent, Heldset and its peers on the same work (W4, W5 of the bench).

    HELDSET_BENCH_DIR=../bench HELDSET=target/release/heldset python3 benches/run.py [--peers letta,inspect] [--repeat 3]

Prints one line of JSON for each measurement: 10,000 samples as fast as it goes, the same with an agent that takes 50 ms
(the floor is 7.81 s at 64 sessions), ten samples (what starting costs), and a run that is killed half way and goes on.
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

SCRIPT = """#!/bin/bash
set -e
mkdir -p "$2"; cd "$2"; export HELDSET_KEYS="$2/keys"
[ -d store ] || "{heldset}" init store -q
cat > plan.yaml <<PLAN
apiVersion: heldset/v1
kind: Experiment
name: bench
dataset: {{path: "$1"}}
target: {{kind: http, url: "$3/agent", body: {{input: "{{input}}"}}, output: "\\$.output"}}
max_concurrent: 64
graders: {{em: {{kind: tool, function: exact_match, extractor: last_assistant}}}}
PLAN
"{heldset}" --store store run plan.yaml --json -q > out.json
python3 -c 'import json; o = json.load(open("out.json")); b = o["balance"]; print(json.dumps(dict(
    samples=b["planned"] - b["skipped"], accuracy=round(o["scores"]["em"]["mean"], 4), results=b["scored"], distinct_ids=b["planned"])))'
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peers", default="", help="peers of the bench, separated by commas")
    parser.add_argument("--repeat", default="3")
    args = parser.parse_args()
    bench = pathlib.Path(os.environ["HELDSET_BENCH_DIR"]).resolve()
    heldset = pathlib.Path(os.environ["HELDSET"]).resolve()
    with tempfile.TemporaryDirectory() as folder:
        script = pathlib.Path(folder) / "run.sh"
        script.write_text(SCRIPT.format(heldset=heldset))
        script.chmod(0o755)
        env = {**os.environ, "PEER_CMD": f"{script} {{run}} {{dir}} {{url}}"}

        def measure(workload, peer, *more):
            subprocess.run([sys.executable, bench / "run.py", "--workload", workload, "--peer", peer, *more], env=env, check=True)

        for mode, samples in [("http", "10000"), ("http", "10"), ("http50", "10000")]:
            measure("W4", "external", "--mode", mode, "--samples", samples, "--repeat", args.repeat)
        measure("W5", "external", "--samples", "10000")
        for peer in filter(None, args.peers.split(",")):
            measure("W4", peer, "--mode", "http", "--samples", "10000", "--repeat", "1")


if __name__ == "__main__":
    main()
