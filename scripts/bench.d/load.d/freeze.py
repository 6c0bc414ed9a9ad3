"""1,000/s for 20 s against a server that stands still for 1 s of every 5 s: who sees what users would?"""
import json
import re
import statistics

from paced import LACKS, QUIET_US, at_share, bare_timer, behind
from peers import there
from runs import Run, Server, bench
from tables import say, table

RATE, SECONDS = 1000, 20
# A fifth of the arrivals waits, evenly between nothing and a second: ms at p50, p90, p99 and the most.
IDEAL = {"p50": 0, "p90": 500, "p99": 950, "max": 1000}


def tools():
    oha = lambda url, *more: ["oha", "--no-tui", "--output-format", "json", *more, "-c64", "-q", str(RATE), "-z", f"{SECONDS}s", url]
    return there({
        "floodrig": lambda url: bench(url, "--rate", str(RATE), "--duration", f"{SECONDS}s"),
        "oha": oha,
        "oha --latency-correction": lambda url: oha(url, "--latency-correction"),
        "wrk (closed loop)": lambda url: ["wrk", "--latency", "-t1", "-c64", f"-d{SECONDS}s", url],
        "autocannon": lambda url: ["autocannon", "--json", "-c64", "-R", str(RATE), "-d", str(SECONDS), url],
        "hey": lambda url: ["hey", "-c", "50", "-q", "20", "-z", f"{SECONDS}s", url],
    })


def of_floodrig(out):
    response = json.loads(out.strip().splitlines()[-1])["acts"]["bench"]["response_us"]
    return [response[key] / 1e3 for key in IDEAL]


def of_oha(out):
    said = json.loads(out)
    seconds = [said["latencyPercentiles"][key] for key in ("p50", "p90", "p99")] + [said["summary"]["slowest"]]
    return [second * 1e3 for second in seconds]


def of_autocannon(out):
    return [json.loads(out)["latency"][key] for key in IDEAL]


def of_hey(out):
    shares = [re.search(rf"{share}%+ in ([\d.]+) secs", out) for share in (50, 90, 99)]
    found = [*shares, re.search(r"Slowest:\s+([\d.]+)", out)]
    return [float(match.group(1)) * 1e3 if match else None for match in found]


def of_wrk(out):
    shares = [re.search(rf"{share}%\s+([\d.]+)(us|ms|s)", out) for share in (50, 90, 99)]
    found = [*shares, re.search(r"Latency\s+\S+\s+\S+\s+([\d.]+)(us|ms|s)", out)]
    units = {"us": 1e-3, "ms": 1, "s": 1e3}
    return [float(match.group(1)) * units[match.group(2)] if match else None for match in found]


READERS = {"floodrig": of_floodrig, "oha": of_oha, "wrk": of_wrk, "autocannon": of_autocannon, "hey": of_hey}


def once(name, tool):
    control = bare_timer(1)
    with Server("freeze", *(["log"] if name == "floodrig" else [])) as server:
        run = Run(tool(server.url))
    return {"name": name, "control": control, "found": READERS[name.split()[0]](run.out), "seen": server.seen["requests"],
            "run": run, "arrivals": server.seen["arrivals_ns"]}


def truth(arrivals):
    """By the server's own watch, when each was served behind when it was due, in ms. It is the ideal and what the server
    takes to work off a second's arrivals. Only of a tool that sends them all, and in time."""
    waited = [ns / 1e6 for ns in behind(arrivals, RATE)]
    return [at_share(waited, 0.5), at_share(waited, 0.9), at_share(waited, 0.99), waited[-1]]


def row(it):
    found, control = it["found"], it["control"]
    wrong = "-" if found[1] is None else f"{100 * (found[1] / IDEAL['p90'] - 1):+.1f} %"
    bare = f"{control['p50_us']}/{control['p99_us']}"
    return it["name"], bare, f"{it['seen']:,}", *("-" if ms is None else f"{ms:,.1f}" for ms in found), wrong


def measure(rounds, bounds):
    """The rig in every round, each peer once: what they do wrong is no matter of luck."""
    rows, mine = [("ideal", "", f"{RATE * SECONDS:,}", *IDEAL.values(), "")], []
    for name, tool in tools().items():
        for number in range(rounds if name == "floodrig" else 1):
            say(f"freeze, {name}, round {number + 1}")
            it = once(name, tool)
            rows.append(row(it))
            if name == "floodrig":
                it["truth"] = truth(it["arrivals"])
                rows.append(("the server's own watch", "", "", *(f"{ms:,.1f}" for ms in it["truth"]), ""))
                mine.append(it)
    table(f"{RATE:,}/s for {SECONDS} s against a server frozen for 1 s of every 5 s (milliseconds); judged are rounds whose "
          f"bare timer is under {QUIET_US} us at p99",
          ["tool", "bare timer p50/p99 us", "requests seen", "p50", "p90", "p99", "max", "error at p90"], rows)
    judge(mine, bounds)


def judge(mine, bounds):
    planned = RATE * SECONDS
    lost = max(abs(planned - accounted(it)) + abs(planned - it["seen"]) for it in mine)
    bounds.at_most("freeze, acts not accounted for, any round", lost, 0)
    quiet = [it for it in mine if it["control"]["p99_us"] < QUIET_US]
    of = f" ({len(quiet)} quiet rounds of {len(mine)})"
    for nth, (name, ideal) in enumerate(IDEAL.items()):
        off = statistics.median(abs(it["found"][nth] - it["truth"][nth]) for it in quiet) if quiet else None
        bounds.at_most(f"freeze, {name} off the truth{of}", off, ideal / 100 + 3, " ms", LACKS)


def accounted(it):
    act = it["run"].summary()["acts"]["bench"]
    return act["ok"] + sum(act["outcomes"].values())
