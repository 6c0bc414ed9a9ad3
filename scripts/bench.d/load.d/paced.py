"""Open loop at 5,000/s: how late the server saw each request, and how evenly they came."""
import json
import statistics
import subprocess

from peers import WITNESS, there
from runs import GENERATOR, Run, Server, bench
from tables import say, table

RATE, SECONDS = 5000, 6
# A round is judged when a bare timer, right before it, was not late either: else it was the machine.
QUIET_US = 200


def tools():
    length = f"{SECONDS}s"
    return there({
        "floodrig": lambda url: bench(url, "--rate", str(RATE), "--duration", length),
        "oha": lambda url: ["oha", "--no-tui", "-c64", "-q", str(RATE), "-z", length, url],
        "h2load": lambda url: ["h2load", "--h1", "-t1", "-c50", "--rps=100", f"-D{SECONDS}", url],
        "hey": lambda url: ["hey", "-c", "50", "-q", "100", "-z", length, url],
        "autocannon": lambda url: ["autocannon", "-c64", "-R", str(RATE), "-d", str(SECONDS), url],
    })


def lateness(arrivals):
    """Of each arrival behind an ideal grid, zero at the first percentile; the densest 10 ms; the rate."""
    arrivals = sorted(arrivals)
    late = sorted(at - number * 1e9 / RATE for number, at in enumerate(arrivals))
    zero = late[len(late) // 100]
    at_share = lambda share: (late[min(int(len(late) * share), len(late) - 1)] - zero) / 1e3
    densest, begin = 0, 0
    for end, at in enumerate(arrivals):
        while at - arrivals[begin] >= 10_000_000:
            begin += 1
        densest = max(densest, end - begin + 1)
    achieved = (len(arrivals) - 1) / ((arrivals[-1] - arrivals[0]) / 1e9)
    return at_share(0.5), at_share(0.99), densest, achieved


def bare_timer():
    command = ["taskset", "-c", str(GENERATOR), WITNESS, "timer", str(RATE), "1"]
    return json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)


def once(tool):
    control = bare_timer()
    with Server("log") as server:
        run = Run(tool(server.url))
    p50, p99, densest, achieved = lateness(server.seen["arrivals_ns"])
    requests = server.seen["requests"]
    served = server.seen["cpu_us"] / requests
    return {"control": control, "p50": p50, "p99": p99, "densest": densest, "rate": achieved, "cpu": run.cpu_us(requests),
            "served": served}


def measure(rounds, bounds):
    all_tools, rows, mine = tools(), [], []
    for number in range(rounds):
        say(f"open loop, round {number + 1} of {rounds}")
        for name, tool in all_tools.items():
            it = once(tool)
            if name == "floodrig":
                mine.append(it)
            rows.append((name, number + 1, f"{it['control']['p50_us']}/{it['control']['p99_us']}", f"{it['rate']:,.1f}",
                         f"{it['p50']:,.0f}", f"{it['p99']:,.0f}", it["densest"], f"{it['cpu']:.0f}", f"{it['served']:.1f}"))
    rows.sort(key=lambda row: list(all_tools).index(row[0]))
    table(f"Open loop at {RATE:,}/s for {SECONDS} s, lateness as the server saw it; judged are rounds whose bare timer is "
          f"under {QUIET_US} us at p99",
          ["tool", "round", "bare timer p50/p99 us", "requests/s", "late p50 us", "late p99 us", "most in 10 ms (ideal 50)",
           "CPU us/request", "server CPU us/request"], rows)
    judge([it for it in mine if it["control"]["p99_us"] < QUIET_US], len(mine), bounds)


def judge(quiet, of, bounds):
    middle = lambda value: statistics.median(map(value, quiet)) if quiet else None
    of = f" ({len(quiet)} quiet rounds of {of})"
    bounds.at_most(f"open loop, late p50{of}", middle(lambda it: it["p50"]), 30, " us")
    bounds.at_most(f"open loop, late p99{of}", middle(lambda it: it["p99"]), 500, " us")
    bounds.at_most(f"open loop, densest 10 ms over ideal{of}", middle(lambda it: it["densest"] / 50), 1.4, "x")
    bounds.at_most(f"open loop, rate off by{of}", middle(lambda it: 100 * abs(it["rate"] / RATE - 1)), 0.1, " %")
