#!/usr/bin/env python3
"""`heldset import`, `diff`, `record` and `verify` beside Lance and DVC on the same rows, as ratios; and how they grow.

  HELDSET_BENCH_DIR=PATH python3 benches/store.py [--repeat 3] [--peers lance,dvc] [--growth 100000,1000000,4000000]

HELDSET_BENCH_DIR holds the generator and the peers (setup.py data dvc must have been run there). The binary is the release
build in CARGO_TARGET_DIR, or ~/.cache/heldset/target. Peers and Heldset take turns in one run; the smallest CPU seconds
(user + system) of each phase count. With --growth the phases are measured at several sizes and drawn into growth.svg.
"""
import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

HOME = pathlib.Path(os.environ.get("PEERS_HOME") or pathlib.Path.home() / ".cache" / "heldset-peers")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--peers", default="lance,dvc")
    parser.add_argument("--growth", default="")
    args = parser.parse_args()
    bench = os.environ.get("HELDSET_BENCH_DIR")
    if not bench:
        sys.exit("set HELDSET_BENCH_DIR to the folder with run.py")
    peers = [peer for peer in args.peers.split(",") if peer]
    ours, theirs = [], {peer: [] for peer in peers}
    for _ in range(args.repeat):
        ours.append(heldset(bench, args.rows))
        for peer in peers:
            theirs[peer].append(measure(bench, peer, args.rows))
    best = {phase: min((run[phase] for run in ours), key=lambda m: m["cpu"]) for phase in ours[0]}
    for phase, figures in best.items():
        print(f"heldset {phase}: " + ", ".join(f"{name} {value}" for name, value in figures.items()), flush=True)
    for peer, runs in theirs.items():
        for phase in ("v1", "v2", "diff"):
            cpu = min(run["phases"][phase]["cpu"] for run in runs)
            mine = best[{"v1": "import", "v2": "whole file again", "diff": "diff"}[phase]]["cpu"]
            print(f"{peer} {phase}: {cpu:.2f} s CPU; heldset / {peer} = {mine / cpu:.2f}", flush=True)
    sizes = [int(size) for size in args.growth.split(",") if size]
    if sizes:
        chart([(size, heldset(bench, size)) for size in sizes])


def heldset(bench, rows):
    source = data(bench, rows)
    changed = source.with_suffix(".v2.jsonl")
    folder = pathlib.Path(tempfile.mkdtemp(prefix="store-", dir=HOME))
    env = dict(os.environ, HELDSET_STORE=str(folder / "store"), HELDSET_KEYS=str(folder / "keys"))
    few = folder / "few.jsonl"
    write_few(source, changed, rows, few)
    run = lambda *command, ok=(0,): timed([str(binary()), "-q", *command], env, ok)
    try:
        run("init", str(folder / "store"))
        start = run("--version")
        out = {"import": run("import", "cases", str(source))}
        out["import"]["stored_mb"] = round(size_of(folder / "store") / 1e6, 1)
        out["whole file again"] = run("import", "cases", str(changed))
        out["whole file again"]["more_kb"] = round(size_of(folder / "store") / 1e3 - out["import"]["stored_mb"] * 1e3, 1)
        out["diff"] = run("diff", "cases@1", "cases@2", ok=(1,))
        run("tag", "cases@2", "whole")
        out["back"] = run("import", "cases", str(source))
        out["upsert"] = run("import", "cases", str(few), "--upsert")
        out["record"] = run("record", "cases", str(rows // 3))
        out["record as agent"] = run("record", "cases", str(rows // 3), "--as", "agent")
        out["verify"] = run("verify", "cases@1")
        out["verify"]["mb_per_cpu_s"] = round(source.stat().st_size / 1e6 / out["verify"]["cpu"])
        for phase in out.values():
            phase["after_start_ms"] = round((phase["cpu"] - start["cpu"]) * 1000, 1)
        return out
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def binary():
    target = os.environ.get("CARGO_TARGET_DIR") or pathlib.Path.home() / ".cache" / "heldset" / "target"
    return pathlib.Path(target) / "release" / "heldset"


def write_few(source, changed, rows, few):
    """The edited row and the hundred appended ones."""
    with open(changed, "rb") as lines, open(few, "wb") as out:
        for index, line in enumerate(lines):
            if index == rows // 2 or index >= rows:
                out.write(line)


def data(bench, rows):
    path = HOME / "data" / f"{rows}.jsonl"
    if not path.exists():
        subprocess.run([sys.executable, "gen.py", "--rows", str(rows), "--out", str(path.parent)], cwd=bench, check=True)
    return path


def timed(command, env, ok):
    wall = time.perf_counter()
    process = subprocess.Popen(command, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    error = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    if os.waitstatus_to_exitcode(status) not in ok:
        sys.exit(f"{command}: {error.decode()}")
    return {"cpu": round(usage.ru_utime + usage.ru_stime, 4), "wall": round(time.perf_counter() - wall, 3),
            "rss_mb": round(usage.ru_maxrss / 1024, 1)}


def size_of(folder):
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def measure(bench, peer, rows):
    command = [sys.executable, "run.py", "--workload", "W2", "--peer", peer, "--rows", str(rows), "--repeat", "1"]
    out = subprocess.run(command, cwd=bench, check=True, capture_output=True, text=True).stdout
    line = json.loads(out.strip().splitlines()[-1])
    if line["rc"] != 0:
        sys.exit(f"{peer} failed: {line.get('error')}")
    return line


def chart(points):
    """CPU seconds over rows, both logarithmic: import is a line of slope one, upsert and record are level."""
    import math
    phases, width, height = ["import", "whole file again", "verify", "diff", "upsert", "record"], 640, 400
    x = lambda rows: 70 + (math.log10(rows) - 4.7) / 2.2 * (width - 210)
    y = lambda cpu: height - 40 - (math.log10(max(cpu, 0.001)) + 3) / 5 * (height - 60)
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="sans-serif" font-size="12">',
             f'<rect width="{width}" height="{height}" fill="white"/><text x="10" y="16">CPU seconds</text>']
    for power in range(-3, 3):
        parts.append(f'<line x1="70" x2="{width - 140}" y1="{y(10.0 ** power):.1f}" y2="{y(10.0 ** power):.1f}" stroke="#ddd"/>'
                     f'<text x="10" y="{y(10.0 ** power) + 4:.1f}">{10.0 ** power:g}</text>')
    for rows, _ in points:
        parts.append(f'<text x="{x(rows) - 20:.1f}" y="{height - 12}">{rows:,}</text>')
    for phase, colour in zip(phases, ["#1b6", "#06c", "#c60", "#909", "#c00", "#555"]):
        line = " ".join(f"{x(rows):.1f},{y(run[phase]['cpu']):.1f}" for rows, run in points)
        parts.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"/>'
                     f'<text x="{width - 130}" y="{y(points[-1][1][phase]["cpu"]) + 4:.1f}" fill="{colour}">{phase}</text>')
        print(f"growth {phase}: " + ", ".join(f"{rows:,} rows {run[phase]['cpu']} s" for rows, run in points), flush=True)
    pathlib.Path("growth.svg").write_text("\n".join(parts + ["</svg>"]) + "\n")


if __name__ == "__main__":
    main()
