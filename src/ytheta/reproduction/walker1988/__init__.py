"""Walker (1988): binary tree, loop equations, virtual work, and the stability of the adaptive controller."""

from __future__ import annotations

from ytheta.reproduction.walker1988.comparison import reproduce as reproduce
