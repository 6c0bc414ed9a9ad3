"""Changes one character of every line of initData, somewhere else in each, so that it means something else.

`%2f` for `%2F`, or a `+` for a `%20`, would be the same data to a validator, so a change counts only when the decoded
fields differ.
"""

import random
import sys
from urllib.parse import parse_qsl

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"


def changed(line, chance):
    while True:
        at = chance.randrange(len(line))
        other = line[:at] + chance.choice(LETTERS) + line[at + 1 :]
        if decoded(other) != decoded(line):
            return other


def decoded(line):
    return parse_qsl(line, keep_blank_values=True, errors="surrogateescape")


chance = random.Random(int(sys.argv[1]))
for line in sys.stdin:
    print(changed(line.rstrip("\n"), chance))
