"""Memory: of a connection, of a player, of a million requests; and how soon a large plan starts."""
import statistics

import scenario
from runs import Run, Server, bench
from tables import say, table

FEW, MANY = 100, 10_000
# Everyone comes within two seconds, waits five with an open connection, and comes back: all are open at once.
JOURNEY = '''arrive.burst.over = "2s"
init_data = "authorization"
steps = [
  { act = "open", post = "/api/session", json = { word = "{word}" }, capture = { token = "/token" } },
  { act = "back", post = "/api/guess", json = { token = "{token}" }, think = "5s" },
]'''
BURST = '''arrive.burst.over = "60s"
init_data = "authorization"
steps = [{ act = "open", post = "/", json = { word = "{word}" } }]'''


def crowd(players):
    return f"groups = {players // 10}\nplayers_per_group = 10"


def of_connections(connections):
    with Server() as server:
        return Run(bench(server.url, "--connections", str(connections), "--duration", "4s")).rss_kib


def of_players(players):
    with Server("json") as server:
        peak = scenario.peak_of_load(server.url.rstrip("/"), crowd(players), JOURNEY)
    assert server.seen["open_peak"] >= players, f"only {server.seen['open_peak']} connections were open at once"
    return peak, server.seen["open_peak"]


def of_requests(seconds):
    with Server() as server:
        run = Run(bench(server.url, "--connections", "64", "--duration", f"{seconds}s"))
    return run.rss_kib, server.seen["requests"]


def start(rounds):
    with Server("json") as server:
        url = server.url.rstrip("/")
        # A quick run is of half the crowd, and is not calibrated before, which takes half a second by itself.
        starts = (scenario.seconds_to_start(url, crowd(200_000), BURST, "--quick") for _ in range(rounds))
        return statistics.median(starts)


def measure(rounds, bounds):
    say("memory of connections and players")
    few, many = of_connections(FEW), of_connections(MANY)
    (few_players, _), (many_players, open_peak) = of_players(FEW), of_players(MANY)
    say("memory of requests")
    (short, fewer), (long, more) = of_requests(4), of_requests(16)
    say("start of 100,000 players")
    seconds = start(rounds)
    each = lambda large, small: (large - small) / (MANY - FEW)
    growth = (long - short) / 1024 / (more - fewer) * 1e6
    mib = lambda kib: f"{kib / 1024:.1f}"
    table("Peak of the rig's memory", ["load", "RSS MiB"], [
        (f"bench, {FEW} connections", mib(few)),
        (f"bench, {MANY:,} connections", mib(many)),
        (f"run, {FEW} players", mib(few_players)),
        (f"run, {MANY:,} players, {open_peak:,} connections open at once", mib(many_players)),
        (f"bench, {fewer:,} requests", mib(short)),
        (f"bench, {more:,} requests", mib(long)),
    ])
    bounds.at_most("memory of an open connection", each(many, few), 4, " KiB")
    bounds.at_most("memory of a player with its state", each(many_players, few_players), 8, " KiB")
    bounds.at_most("memory growth per million requests", growth, 2, " MiB")
    bounds.at_most("start of 100,000 players, the half second to sign ahead included", seconds, 1, " s")
