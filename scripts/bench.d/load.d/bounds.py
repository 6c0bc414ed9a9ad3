"""What was promised of each figure, and whether it was kept."""
from tables import say, table


class Bounds:
    def __init__(self, wants_all):
        """Where all are wanted, one that could not be judged is no success."""
        self.wants_all = wants_all
        self.rows = []
        self.missed = 0
        self.lacking = []

    def at_most(self, what, value, limit, unit="", lacks=None):
        """A value of None was not measured, which is neither kept nor missed: `lacks` says what for, and what to do."""
        if value is None:
            self.rows.append((what, "-", f"{limit:g}{unit}", "not judged"))
            self.lacking.append(f"{what}: {lacks}")
            return
        kept = value <= limit
        self.missed += not kept
        self.rows.append((what, f"{value:.3g}{unit}", f"{limit:g}{unit}", "pass" if kept else "MISS"))

    def show(self):
        """The table of all of them, and what was lacking; the status to end with."""
        table("Bounds", ["bound", "measured", "at most", ""], self.rows)
        for lack in self.lacking:
            say(f"not judged: {lack}")
        return 1 if self.missed or self.wants_all and self.lacking else 0
