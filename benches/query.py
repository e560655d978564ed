#!/usr/bin/env python3
"""Fourteen queries over the same million rows, beside DuckDB on its own tables, as ratios.

  HELDSET_BENCH_DIR=PATH python3 benches/query.py [--repeat 3] [--rows 1000000] [--peer duckdb-native]

HELDSET_BENCH_DIR holds run.py and the peers (setup.py data must have been run there). Both take turns in one run; the smallest
CPU of each counts, and a run is void unless both give the same digests. Warm: one process, columns kept. Cold: a process for each query.
The cost of sealing is told by asking the same of a dataset without sealed labels.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--peer", default="duckdb-native")
    args = parser.parse_args()
    bench = os.environ.get("HELDSET_BENCH_DIR")
    if not bench:
        sys.exit("set HELDSET_BENCH_DIR to the folder with run.py")
    sealed = "--format records --profile case --label ground_truth=evaluator_only"
    opened = "--format records --profile plain --label ground_truth=agent_visible"
    sides = {"heldset": external("cases", sealed), "heldset, nothing sealed": external("cases", opened), args.peer: None}
    lines = {side: [] for side in sides}
    for _ in range(args.repeat):
        for side, env in sides.items():
            lines[side] += measure(bench, args, side, env)
    warm = {side: fastest(found) for side, found in lines.items()}
    ours, peer = warm["heldset"], warm[args.peer]
    for name, theirs in peer.items():
        mine = ours[name]
        same = "" if mine["digest"] == theirs["digest"] and mine["total"] == theirs["total"] else "  DIFFERENT ANSWER"
        print(f"{name:11} {mine['cpu_ms']:8.2f} ms CPU {mine['min_ms']:8.2f} ms   {args.peer} {theirs['cpu_ms']:8.2f} {theirs['min_ms']:8.2f}"
              f"   {mine['cpu_ms'] / max(theirs['cpu_ms'], 0.001):5.2f}x{same}")
    total = {side: sum(query["cpu_ms"] for query in queries.values()) for side, queries in warm.items()}
    for side, cpu in total.items():
        print(f"sum of CPU, warm: {side} {cpu:.1f} ms")
    print(f"heldset / {args.peer} = {total['heldset'] / total[args.peer]:.2f}; sealed / open = {total['heldset'] / total['heldset, nothing sealed']:.3f}")
    for variant in ("cold-eq", "cold-contains"):
        for side, found in lines.items():
            cold = [line for line in found if line["variant"].startswith(variant)]
            print(f"{variant}: {side} {min(line['cpu_s'] for line in cold):.3f} s CPU, {min(line['wall_s'] for line in cold):.3f} s")


def external(slug, more=""):
    target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR") or pathlib.Path.home() / ".cache/heldset/target") / "release"
    build = ["cargo", "bench", "--workspace", "--bench", "query", "--no-run", "--message-format=json"]
    out = subprocess.run(build, stdout=subprocess.PIPE, check=True, text=True).stdout
    built = [json.loads(line) for line in out.splitlines() if line.startswith("{")]
    bench = next(item["executable"] for item in built if item.get("executable") and item["target"]["name"] == "query")
    keys = "HELDSET_KEYS={dir}/keys"
    return {
        "PEER_PREPARE": f"{keys} {target}/heldset -q init {{dir}}/store && {keys} {target}/heldset -q --store {{dir}}/store import {slug} {{src}} {more}",
        "PEER_CMD": f"{keys} {bench} {{dir}}/store {slug} {{queries}} {{reps}}",
    }


def measure(bench, args, side, env):
    peer = "external" if env else side
    command = [sys.executable, f"{bench}/run.py", "--workload", "W3", "--peer", peer, "--rows", str(args.rows), "--repeat", "1"]
    out = subprocess.run(command, env={**os.environ, **(env or {})}, stdout=subprocess.PIPE, check=True, text=True).stdout
    return [json.loads(line) for line in out.splitlines()]


def fastest(lines):
    best = {}
    for line in lines:
        for name, query in line.get("queries", {}).items() if line["variant"].startswith("warm") else ():
            if name not in best or query["cpu_ms"] < best[name]["cpu_ms"]:
                best[name] = query
    return best


if __name__ == "__main__":
    main()
