"""Where the checkout is, and the shared data beside it."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[2]
SHARED_DATA = ROOT.parent / "shared" / "data"
SHARED_ROBOTS = ROOT.parent / "shared" / "robots"  # descriptions of vendors and model zoos
