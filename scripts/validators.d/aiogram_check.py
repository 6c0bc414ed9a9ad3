"""Every line of the first file must be accepted and parsed by aiogram, every line of the second refused.

The signature is held against the rig's own public key; a changed `hash` is not its business.
"""

import os
import sys

from aiogram.utils.web_app import safe_parse_webapp_init_data
from aiogram.utils.web_app_signature import check_webapp_signature

TOKEN = os.environ["TOKEN"]
PUBLIC_KEY = bytes.fromhex(os.environ["PUBLIC_KEY"])


def lines(path):
    with open(path, encoding="utf-8") as file:
        return file.read().splitlines()


def hash_accepts(init_data):
    try:
        return safe_parse_webapp_init_data(TOKEN, init_data).user is not None
    except ValueError:
        return False


def signature_accepts(init_data):
    return check_webapp_signature(int(TOKEN.split(":")[0]), init_data, PUBLIC_KEY)


count, (signed, changed) = int(sys.argv[1]), map(lines, sys.argv[2:])
accepted = sum(map(hash_accepts, signed))
verified = sum(map(signature_accepts, signed))
refused = sum(not hash_accepts(line) for line in changed)
print(f"validators: aiogram accepted {accepted}, verified {verified} signatures and refused {refused} changed ones of {count}")
sys.exit(0 if accepted == verified == refused == count else 1)
