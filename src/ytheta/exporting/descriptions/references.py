"""Files to which an exported file refers by relative paths, such as meshes."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from ytheta.findings import Finding, Severity


def find_misplaced_files(references: Iterable[str], source: Path, target: Path) -> tuple[Finding, ...]:
    """Return a finding if relative paths of the source file mean other files in the folder of the target."""
    if source.resolve().parent == target.absolute().parent.resolve():
        return ()
    relative = dict.fromkeys(name for name in references if name and "://" not in name and not Path(name).is_absolute())
    if not relative:
        return ()
    first = next(iter(relative))
    statement = f"{target.name} refers to {len(relative)} files by paths relative to its folder, such as {first!r}"
    remedy = f"write it to the folder of {source.name}, or copy these files"
    return (Finding("relative paths", Severity.WARNING, statement, remedy, fields={"files": list(relative)}),)
