"""``python -m ytheta`` is the command ``ytheta``."""

from ytheta.cli import main

main()
