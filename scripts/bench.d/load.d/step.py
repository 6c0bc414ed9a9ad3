"""A full step of a scenario against wrk's bare request: signed initData, a JSON body made of a template, an answer
that is parsed and captured from, and a sample that is recorded."""
import statistics

import scenario
from peers import TO_INSTALL, there
from runs import Run, Server
from tables import say, table

# 64 players whose ten acts follow each other without a pause, more visits than can be served: a closed loop.
CROWD = 'groups = 8\nplayers_per_group = 8\ntimeout = "60s"'
JOURNEY = '''arrive.constant = { rate = 20000, over = "2s" }
init_data = "authorization"
steps = [{ act = "guess", post = "/api/guess", json = { word = "{word}", player = "{player.id}" }, repeat = 10, expect_status = 200, check = [{ pointer = "/token", exists = true }], capture = { token = "/token" } }]'''


def measure(rounds, bounds):
    wrk = there({"wrk": lambda url: ["wrk", "-t1", "-c64", "-d4s", url]}).get("wrk")
    rows, ratios = [], []
    for number in range(rounds):
        say(f"full step, round {number + 1} of {rounds}")
        with Server("json") as server:
            _, summary = scenario.run(server.url.rstrip("/"), CROWD, JOURNEY)
        act, mine = summary["acts"]["guess"], summary["rig"]["cpu_us_per_request"]
        bare = None
        if wrk:
            with Server() as server_of_wrk:
                run = Run(wrk(server_of_wrk.url))
            bare = run.cpu_us(server_of_wrk.seen["requests"])
            ratios.append(mine / bare)
        extra = server.seen["requests"] - act["ok"]
        rows.append((number + 1, f"{act['ok']:,} of {act['planned']:,}", extra, f"{mine:.2f}",
                     f"{bare:.2f}" if bare else "-", f"{mine / bare:.2f}" if bare else "-"))
        assert 0 <= extra < 2000, f"the server received {extra} more than were recorded: only probes may be"
    table("A full step, ten acts to a signature (rig.cpu_us_per_request, signing included), against wrk's bare request",
          ["round", "acts", "of the probes and the pre-flight", "step, CPU us", "wrk, CPU us", "x wrk"], rows)
    over_wrk = statistics.median(ratios) if ratios else None
    bounds.at_most("full step, CPU over wrk's bare request", over_wrk, 1.5, "x", TO_INSTALL["wrk"])
