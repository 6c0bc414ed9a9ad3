"""The tools that floodrig is measured against, and the binaries of its own."""
import os
import shutil
import subprocess

from tables import say

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..", ".."))
CACHE = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "floodrig", "peers")
TARGET = os.path.join(ROOT, os.environ.get("CARGO_TARGET_DIR") or "target")
RIG = os.path.join(TARGET, "release", "floodrig")
WITNESS = os.path.join(TARGET, "release", "examples", "witness")
OHA, AUTOCANNON = "1.14.0", "8.0.0"
# What a bound lacks that is over a peer, and what to do.
TO_INSTALL = {
    "wrk": "wrk is not here: install it (apt-get install wrk) and run again",
    "oha": f"oha is not here: install it (cargo install oha --version {OHA} --locked) and run again",
}


def quietly(*command):
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        say(f"  {' '.join(command)}: {(done.stderr.strip().splitlines() or ['failed'])[-1]}")


def install():
    os.environ["PATH"] += f":{CACHE}/bin:{CACHE}/node_modules/.bin"
    os.makedirs(CACHE, exist_ok=True)
    for program, package in [("wrk", "wrk"), ("hey", "hey"), ("h2load", "nghttp2-client")]:
        if not shutil.which(program):
            say(f"installing {package}")
            quietly("apt-get", "install", "-y", package)
    if not shutil.which("oha"):
        say("installing oha, which takes some minutes")
        build = f"{CACHE}/build"
        quietly("cargo", "install", "oha", "--version", OHA, "--locked", "--root", CACHE, "--target-dir", build)
        shutil.rmtree(build, ignore_errors=True)
    if shutil.which("npm") and not shutil.which("autocannon"):
        say("installing autocannon")
        quietly("npm", "install", "--prefix", CACHE, f"autocannon@{AUTOCANNON}")


def build():
    say("building")
    subprocess.run(["cargo", "build", "--release", "--bin", "floodrig", "--example", "witness"], cwd=ROOT, check=True)


def there(tools):
    """Those of the tools that can be had here, the others said by name."""
    missing = [name for name in tools if not shutil.which(tools[name]("http://x/")[0])]
    if missing:
        say(f"left out, not to be had here: {', '.join(missing)}")
    return {name: tool for name, tool in tools.items() if name not in missing}
