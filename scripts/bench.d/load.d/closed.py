"""Closed loop: what a request costs the generator, 64 connections kept busy."""
import statistics

from peers import TO_INSTALL, there
from runs import Run, Server, bench
from tables import say, table

SECONDS = 4


def tools():
    length = f"{SECONDS}s"
    return there({
        "floodrig": lambda url: bench(url, "--connections", "64", "--duration", length),
        "wrk": lambda url: ["wrk", "-t1", "-c64", f"-d{length}", url],
        "h2load": lambda url: ["h2load", "--h1", "-t1", "-c64", f"-D{SECONDS}", url],
        "oha": lambda url: ["oha", "--no-tui", "-c64", f"-z{length}", url],
        "autocannon": lambda url: ["autocannon", "-c64", f"-d{SECONDS}", url],
        "hey": lambda url: ["hey", "-c", "64", "-z", length, url],
    })


def once(name, tool):
    with Server() as server:
        run = Run(tool(server.url))
    requests = server.seen["requests"]
    if name == "floodrig":
        recorded = run.summary()["acts"]["bench"]["planned"]
        assert recorded == requests, f"recorded {recorded}, the server received {requests}"
    return {
        "rate": requests / SECONDS,
        "cpu": run.cpu_us(requests),
        "user": 1e6 * run.user / requests,
        "server": server.seen["cpu_us"] / requests,
    }


def measure(rounds, bounds):
    all_tools = tools()
    found = {name: [] for name in all_tools}
    for number in range(rounds):
        say(f"closed loop, round {number + 1} of {rounds}")
        for name, tool in all_tools.items():
            found[name].append(once(name, tool))
    rows = []
    for name, figures in found.items():
        middle = {key: statistics.median(figure[key] for figure in figures) for key in figures[0]}
        ratio = times(found, name, "wrk")
        rows.append((name, f"{middle['rate']:,.0f}", f"{middle['cpu']:.2f}", f"{middle['user']:.2f}",
                     "-" if ratio is None else f"{ratio:.2f}", f"{middle['server']:.2f}"))
    title = f"Closed loop, 64 keep-alive connections, median of {rounds} alternating rounds of {SECONDS} s"
    head = ["tool", "requests/s", "CPU us/request", "of it user", "x wrk (same round)", "server CPU us/request"]
    table(title, head, rows)
    bounds.at_most("closed loop, CPU per request over wrk's", times(found, "floodrig", "wrk"), 1.0, "x",
                   TO_INSTALL["wrk"])
    bounds.at_most("closed loop, CPU per request over oha's", times(found, "floodrig", "oha"), 0.75, "x",
                   TO_INSTALL["oha"])


def times(found, mine, theirs):
    """The median of the ratios within a round."""
    if theirs not in found:
        return None
    return statistics.median(one["cpu"] / other["cpu"] for one, other in zip(found[mine], found[theirs]))
