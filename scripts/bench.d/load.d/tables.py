"""Figures on standard output, talk on standard error."""
import sys


def say(text):
    print(text, file=sys.stderr, flush=True)


def table(title, head, rows):
    print(f"\n{title}\n")
    print("| " + " | ".join(head) + " |")
    print("|---" + "|--:" * (len(head) - 1) + "|")
    for row in rows:
        print("| " + " | ".join(str(cell) for cell in row) + " |", flush=True)
