"""Runs of whole scenarios against a witness that is attached to."""
import json
import os
import signal
import subprocess
import tempfile
import time

from peers import RIG
from runs import GENERATOR, SERVER, WITHIN, Run

BOTH = (GENERATOR, SERVER)


def write(folder, url, crowd, journey):
    text = f'name = "bench"\nseed = 1\n[system]\nurl = "{url}"\ncores = [{SERVER}]\n[crowd]\n{crowd}\n[[journey]]\nname = "play"\n{journey}\n'
    with open(os.path.join(folder, "s.toml"), "w", encoding="utf-8") as file:
        file.write(text)


def run(url, crowd, journey):
    """The run and its summary.json."""
    with tempfile.TemporaryDirectory() as folder:
        write(folder, url, crowd, journey)
        done = Run([RIG, "run", "s.toml", "--out", "out"], cores=BOTH, cwd=folder)
        try:
            with open(os.path.join(folder, "out", "summary.json"), encoding="utf-8") as file:
                return done, json.load(file)
        except FileNotFoundError:
            raise SystemExit(f"floodrig run left no summary:\n{done.out}\n{done.err}")


class Watched:
    """A run that is looked at from outside, for the length of a `with`, and then interrupted if it still goes on."""

    def __init__(self, url, crowd, journey, *more):
        self.more = (url, crowd, journey), more

    def __enter__(self):
        scenario, more = self.more
        self.folder = tempfile.TemporaryDirectory()
        write(self.folder.name, *scenario)
        command = ["taskset", "-c", f"{GENERATOR},{SERVER}", RIG, "run", "s.toml", "--out", "out", *more]
        self.rig = subprocess.Popen(command, cwd=self.folder.name, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return self

    def __exit__(self, *_):
        self.rig.send_signal(signal.SIGINT)
        self.rig.wait(WITHIN)
        self.folder.cleanup()

    def lines(self):
        """The whole lines of the recording, as they come, and None whenever there is none yet."""
        until = time.monotonic() + WITHIN
        recording = os.path.join(self.folder.name, "out", "run.jsonl")
        while not os.path.exists(recording) and time.monotonic() < until:
            yield None
        with open(recording, encoding="utf-8") as file:
            rest = ""
            while time.monotonic() < until:
                rest += file.readline()
                if rest.endswith("\n"):
                    yield rest
                    rest = ""
                else:
                    yield None
        raise SystemExit("the run did not come so far")

    def rss_kib(self):
        with open(f"/proc/{self.rig.pid}/status", encoding="utf-8") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))


def seconds_to_start(url, crowd, journey, *more):
    """From the rig's epoch to the start of its load, as the recording says; the run is ended there."""
    with Watched(url, crowd, journey, *more) as watched:
        for line in watched.lines():
            if line:
                return json.loads(line)["load_us"][0] / 1e6
            time.sleep(0.02)


def peak_of_load(url, crowd, journey):
    """The most memory during the load, before reports are rendered."""
    peak = 0
    with Watched(url, crowd, journey) as watched:
        for line in watched.lines():
            if line and '"kind":"load_ended"' in line:
                return peak
            if not line:
                peak = max(peak, watched.rss_kib())
                time.sleep(0.02)
