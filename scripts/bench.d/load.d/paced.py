"""Open loop at 5,000/s: how late the server saw each request, and how evenly they came."""
import json
import os
import statistics
import subprocess

from others import Others
from peers import WITNESS, there
from runs import GENERATOR, WITHIN, Run, Server, bench
from tables import say, table

RATE, SECONDS = 5000, 6
# A round is judged when a bare timer, for as long and right before it, was not late either: else it was the machine.
QUIET_US = 200
# The densest 10 ms follow from the worst single moment of a round: 5 ms in which a core was not to be had make 75 of 50.
# Against the bare timer's they are judged in all rounds, and against the ideal in further ones, so short that whoever
# takes a core now and then misses some of them: in those in which all others together had it for less than this.
IDEAL, SHORT_ROUNDS, SHORT, CALM_MS = 50, 40, "500ms", 2
LACKS = "no round was quiet, its bare timer was late as well: run again while nothing else runs here"


def tools():
    length = f"{SECONDS}s"
    return there({
        "floodrig": lambda url: bench(url, "--rate", str(RATE), "--duration", length),
        "oha": lambda url: ["oha", "--no-tui", "-c64", "-q", str(RATE), "-z", length, url],
        "h2load": lambda url: ["h2load", "--h1", "-t1", "-c50", "--rps=100", f"-D{SECONDS}", url],
        "hey": lambda url: ["hey", "-c", "50", "-q", "100", "-z", length, url],
        "autocannon": lambda url: ["autocannon", "-c64", "-R", str(RATE), "-d", str(SECONDS), url],
    })


def behind(arrivals, rate):
    """How far each arrival was behind an ideal grid, in nanoseconds from the least; zero is at the first percentile."""
    late = sorted(at - number * 1e9 / rate for number, at in enumerate(sorted(arrivals)))
    return [at - late[len(late) // 100] for at in late]


def at_share(ordered, share):
    return ordered[min(int(len(ordered) * share), len(ordered) - 1)]


def lateness(arrivals):
    """Of the arrivals behind an ideal grid, the median and the 99th percentile; the densest 10 ms; the rate."""
    arrivals, late = sorted(arrivals), behind(arrivals, RATE)
    densest, begin = 0, 0
    for end, at in enumerate(arrivals):
        while at - arrivals[begin] >= 10_000_000:
            begin += 1
        densest = max(densest, end - begin + 1)
    achieved = (len(arrivals) - 1) / ((arrivals[-1] - arrivals[0]) / 1e9)
    return at_share(late, 0.5) / 1e3, at_share(late, 0.99) / 1e3, densest, achieved


def bare_timer(seconds):
    command = ["taskset", "-c", str(GENERATOR), WITNESS, "timer", str(RATE), str(seconds)]
    return json.loads(subprocess.run(command, stdout=subprocess.PIPE, timeout=WITHIN, check=True).stdout)


def once(tool):
    control = bare_timer(SECONDS)
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
            bare = it["control"]
            rows.append((name, number + 1, f"{bare['p50_us']}/{bare['p99_us']}", bare["densest"], f"{it['rate']:,.1f}",
                         f"{it['p50']:,.0f}", f"{it['p99']:,.0f}", it["densest"], f"{it['cpu']:.0f}", f"{it['served']:.1f}"))
    rows.sort(key=lambda row: list(all_tools).index(row[0]))
    table(f"Open loop at {RATE:,}/s for {SECONDS} s, lateness as the server saw it; judged are rounds whose bare timer is "
          f"under {QUIET_US} us at p99",
          ["tool", "round", "bare timer p50/p99 us", "its most in 10 ms", "requests/s", "late p50 us", "late p99 us",
           f"most in 10 ms (ideal {IDEAL})", "CPU us/request", "server CPU us/request"], rows)
    rows = [short_round() for _ in range(SHORT_ROUNDS)]
    calm = sorted(densest for others, densest in rows if others < CALM_MS)
    say(f"{SHORT_ROUNDS} rounds of {SHORT}: in {len(calm)} all others had less than {CALM_MS} ms; most in 10 ms there: {calm}")
    over_ideal = statistics.median(calm) / IDEAL if calm else None
    what = f"open loop, densest 10 ms over the ideal ({len(calm)} calm rounds of {SHORT_ROUNDS})"
    bounds.at_most(what, over_ideal, 1.4, "x", LACKS)
    judge([it for it in mine if it["control"]["p99_us"] < QUIET_US], len(mine), bounds)


def short_round():
    """How long others had the cores, in ms, and the densest 10 ms."""
    with Server("log") as server, Others(os.getpid(), server.process.pid) as others:
        Run(bench(server.url, "--rate", str(RATE), "--duration", SHORT))
    return others.ms, lateness(server.seen["arrivals_ns"])[2]


def judge(quiet, of, bounds):
    middle = lambda value, of=quiet: statistics.median(map(value, of)) if of else None
    of = f" ({len(quiet)} quiet rounds of {of})"
    bounds.at_most(f"open loop, late p50{of}", middle(lambda it: it["p50"]), 30, " us", LACKS)
    bounds.at_most(f"open loop, late p99{of}", middle(lambda it: it["p99"]), 500, " us", LACKS)
    over_bare = middle(lambda it: it["densest"] / it["control"]["densest"])
    bounds.at_most(f"open loop, densest 10 ms over the bare timer's{of}", over_bare, 1.4, "x", LACKS)
    rate_off = middle(lambda it: 100 * abs(it["rate"] / RATE - 1))
    bounds.at_most(f"open loop, rate off by{of}", rate_off, 0.1, " %", LACKS)
