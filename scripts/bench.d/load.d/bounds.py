"""What was promised of each figure, and whether it was kept."""
from tables import table


class Bounds:
    def __init__(self):
        self.rows = []
        self.missed = 0

    def at_most(self, what, value, limit, unit=""):
        """A value of None was not measured, which is neither kept nor missed."""
        if value is None:
            self.rows.append((what, "-", f"{limit:g}{unit}", "not judged"))
            return
        kept = value <= limit
        self.missed += not kept
        self.rows.append((what, f"{value:.3g}{unit}", f"{limit:g}{unit}", "pass" if kept else "MISS"))

    def show(self):
        """The table of all of them; the status to end with."""
        table("Bounds", ["bound", "measured", "at most", ""], self.rows)
        return 1 if self.missed else 0
