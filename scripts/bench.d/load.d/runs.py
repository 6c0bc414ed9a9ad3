"""A server that bears witness, and one run of a generator against it."""
import json
import os
import resource
import select
import subprocess

from peers import RIG, WITNESS

CORES = sorted(os.sched_getaffinity(0))
GENERATOR, SERVER = CORES[0], CORES[-1]
# Far longer than any part takes: a bound for a hang.
WITHIN = 180
# Far longer than it takes to listen.
UP_WITHIN = 30


class Server:
    """The witness, for the length of a `with`; what it saw is there afterwards."""

    def __init__(self, *words):
        self.words = words

    def __enter__(self):
        command = ["taskset", "-c", str(SERVER), WITNESS, *self.words]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        said = self.first_line()
        if not said:
            self.process.kill()
            self.process.wait()
            raise SystemExit("the witness does not say where it listens: its own words are above")
        self.url = f"http://{said}/"
        return self

    def first_line(self):
        """Where it listens; nothing when it ended or took too long."""
        told = select.select([self.process.stdout], [], [], UP_WITHIN)[0]
        return self.process.stdout.readline().strip() if told else ""

    def __exit__(self, *failed):
        try:
            out = self.process.communicate(timeout=WITHIN)[0]
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise
        if not failed[0]:
            self.seen = json.loads(out.strip().splitlines()[-1])


class Run:
    """One run of a tool: what it printed, the CPU time it used and its peak of memory."""

    def __init__(self, command, cores=(GENERATOR,), cwd=None):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        words = ["taskset", "-c", ",".join(map(str, cores)), "/usr/bin/time", "-f", "%M", *command]
        done = subprocess.run(words, capture_output=True, text=True, timeout=WITHIN, cwd=cwd, check=False)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.user, self.system = after.ru_utime - before.ru_utime, after.ru_stime - before.ru_stime
        self.out, self.err, self.status = done.stdout, done.stderr, done.returncode
        try:
            self.rss_kib = int(done.stderr.strip().splitlines()[-1])
        except (ValueError, IndexError):
            raise SystemExit(f"{' '.join(command)} failed:\n{done.stdout}\n{done.stderr}")

    def summary(self):
        """What `floodrig bench --json` said, whatever its verdict."""
        return json.loads(self.out.strip().splitlines()[-1])

    def cpu_us(self, requests):
        return 1e6 * (self.user + self.system) / requests


def bench(url, *words):
    """The command of a `floodrig bench`, whose last line of output is its summary."""
    return [RIG, "bench", url, *words, "--json"]
