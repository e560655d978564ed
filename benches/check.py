#!/usr/bin/env python3
"""`heldset check` beside its peers on the same million rows, as ratios.

  HELDSET_BENCH_DIR=PATH python3 benches/check.py [--repeat 5]

HELDSET_BENCH_DIR holds the generator and the peers (setup.py data must have been run there). The binary is the
release build in CARGO_TARGET_DIR, or ~/.cache/heldset/target. Peers and Heldset take turns in one run; the ratio is of
the smallest CPU seconds (user + system) of each.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys

PAIRS = [("jsonl", "duckdb", 0.75), ("mixed", "duckdb", 0.75), ("csv", "polars", 1.0)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--rows", type=int, default=1_000_000)
    args = parser.parse_args()
    bench = os.environ.get("HELDSET_BENCH_DIR")
    if not bench:
        sys.exit("set HELDSET_BENCH_DIR to the folder with run.py")
    target = os.environ.get("CARGO_TARGET_DIR") or pathlib.Path.home() / ".cache" / "heldset" / "target"
    binary = pathlib.Path(target) / "release" / "heldset"
    for form, peer, bar in PAIRS:
        runs = {peer: [], "external": []}
        for _ in range(args.repeat):
            for who in runs:
                runs[who].append(measure(bench, who, form, args.rows, binary))
        best = {who: min(lines, key=lambda line: line["cpu_s"]) for who, lines in runs.items()}
        ours, theirs = best["external"], best[peer]
        ratio = ours["cpu_s"] / theirs["cpu_s"]
        print(f"{form}: heldset {ours['cpu_s']:.2f} s CPU, {ours['wall_s']:.2f} s wall, {ours['rss_mb']:.0f} MB; "
              f"{peer} {theirs['cpu_s']:.2f} s CPU, {theirs['wall_s']:.2f} s wall; ratio {ratio:.2f} (bar {bar}), n={args.repeat}",
              flush=True)


def measure(bench, peer, form, rows, binary):
    env = dict(os.environ, PEER_CMD=f"{binary} check -q {{src}} > /dev/null")
    command = [sys.executable, "run.py", "--workload", "W1", "--peer", peer, "--format", form, "--rows", str(rows), "--repeat", "1"]
    out = subprocess.run(command, cwd=bench, env=env, check=True, capture_output=True, text=True).stdout
    line = json.loads(out.strip().splitlines()[-1])
    if line["rc"] != 0:
        sys.exit(f"{peer} failed: {line.get('error')}")
    return line


if __name__ == "__main__":
    main()
