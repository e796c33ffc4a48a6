"""Which columns of a table are time, positions, velocities and torques.

A mapping decides where there is one. Else names do: ``t`` or ``time``; ``q1 … qn`` counted from 1 or 0 in the order of
the robot's actuated coordinates; or a coordinate's own name beside the quantity, as in ``q_elbow`` and ``elbow.tau``.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from ytheta.errors import InputError, suggest_names
from ytheta.logs.reading.mapping import ColumnMapping, References
from ytheta.logs.reading.mapping_values import Reference
from ytheta.logs.reading.table import Table

TIMES = ("t", "time", "timestamp")
WORDS = {
    "q": ("q", "pos", "position"),
    "qd": ("qd", "dq", "vel", "velocity"),
    "tau": ("tau", "torque", "effort"),
}


@dataclass(frozen=True)
class Places:
    """Names of the columns to read; ``guessed`` where a file without header was taken at its width."""

    t: str | None
    q: tuple[str, ...]
    qd: tuple[str, ...] = ()
    tau: tuple[str, ...] = ()
    current: tuple[str, ...] = ()
    guessed: bool = False


def hint(name: str, names: Sequence[str]) -> str:
    """The nearest names in brackets, or those there are."""
    near = suggest_names(name, names).removeprefix("; ")
    return f" ({near})" if near else ""


def remedy(key: str, joints: Sequence[str], names: Sequence[str]) -> str:
    """Which columns of a quantity were looked for, what stands there instead, and what to do."""
    wanted = f"column {key}1" if len(joints) == 1 else f"columns {key}1 … {key}{len(joints)}"
    known = f"{', '.join(WORDS[key][:-1])} or {WORDS[key][-1]}"
    return (
        f"{wanted}{hint(f'{key}1', names)}; known are {known} with a number or a joint's name ({key}1, "
        f'{key}_{joints[0]}), others go into a mapping: [columns] {key} = "name{{}}"'
    )


def find_columns(table: Table, joints: Sequence[str], mapping: ColumnMapping, place: str) -> Places:
    """The columns of a table that a log is made of; ``place`` is the file's name in complaints."""
    search = _Search(table, tuple(joints), mapping, place)
    if not table.headed and not mapping.columns:
        return search.by_width()
    q, qd, tau, current = (search.quantity(name) for name in ("q", "qd", "tau", "current"))
    if not q:
        raise search.missing("q", {*qd, *tau, *current})
    return Places(search.time(), q, qd, tau, current)


@dataclass(frozen=True)
class _Search:
    table: Table
    joints: tuple[str, ...]
    mapping: ColumnMapping
    place: str

    @property
    def names(self) -> dict[str, str]:
        """The columns by their names without regard to case."""
        return {name.strip().casefold(): name for name in reversed(self.table.names)}

    def time(self) -> str | None:
        if self.mapping.rate is not None:
            return None
        if self.mapping.t is not None:
            return self._column("t", self.mapping.t)
        for name in TIMES:
            if name in self.names:
                return self.names[name]
        raise InputError(
            f"{self.place} has no time column 't' or 'time'{hint('time', self.table.names)}; name it in a mapping "
            "under [columns], or give the sampling rate there: rate = 100.0"
        )

    def quantity(self, key: str) -> tuple[str, ...]:
        """The columns of one quantity; none where the file has none."""
        if key in self.mapping.columns:
            return self._mapped(key, self.mapping.columns[key])
        if key == "current" or (key == "tau" and "current" in self.mapping.columns):
            return ()
        for word in WORDS[key]:
            if found := self._named(word):
                return found
        for word in WORDS[key]:
            if found := self._counted(key, word):
                return found
        return ()

    def by_width(self) -> Places:
        """A file without header: t, q, tau or t, q, qd, tau, if its width is that of one of them."""
        n, names = len(self.joints), self.table.names
        first = 0 if self.mapping.rate is not None else 1
        blocks, rest = divmod(len(names) - first, n)
        if rest or blocks not in (2, 3):
            widths = f"{first + 2 * n} (t, q, tau) or {first + 3 * n} (t, q, qd, tau)"
            raise InputError(
                f"{self.place} has {len(names)} columns and no header, and for {n} joints it should have {widths}; "
                "say in a mapping which is which: [columns] t = 0, q = [1, 2, …]"
            )
        cut = [tuple(names[first + k * n : first + (k + 1) * n]) for k in range(blocks)]
        t = names[0] if first else None
        return Places(t=t, q=cut[0], qd=cut[1] if blocks == 3 else (), tau=cut[-1], guessed=True)

    def missing(self, key: str, taken: Collection[str]) -> InputError:
        left = [name for name in self.table.names if name not in taken]
        return InputError(f"{self.place} has no {remedy(key, self.joints, left)}")

    def _named(self, word: str) -> tuple[str, ...]:
        """Columns that carry the coordinates' names."""
        found: list[str] = []
        for joint in self.joints:
            forms = [f"{a}{sign}{b}" for sign in "_./" for a, b in ((word, joint), (joint, word))]
            there = [self.names[form.casefold()] for form in forms if form.casefold() in self.names]
            if not there:
                return ()
            found.append(there[0])
        return tuple(found)

    def _counted(self, key: str, word: str) -> tuple[str, ...]:
        """Columns counted from 1 or from 0; as many as the robot has coordinates, or it is another robot's log."""
        for form in (f"{word}{{}}", f"{word}_{{}}"):
            there = [k for k in range(len(self.table.names) + 1) if form.format(k) in self.names]
            if not there:
                continue
            start, n = (0 if there[0] == 0 else 1), len(self.joints)
            wanted = range(start, start + n)
            if len(there) != n:
                shown = f"columns {form.format(there[0])} … {form.format(there[-1])}"
                if len(there) == 1:
                    shown = f"column {form.format(there[0])}"
                raise InputError(
                    f"{self.place} has {len(there)} {shown}, and the robot {n} actuated coordinates "
                    f"({', '.join(self.joints)}); use the robot of this log, or choose its columns in a mapping"
                )
            for k in wanted:
                if k not in there:
                    raise self._absent(key, form.format(k))
            return tuple(self.names[form.format(k)] for k in wanted)
        return ()

    def _mapped(self, key: str, references: References) -> tuple[str, ...]:
        n = len(self.joints)
        if isinstance(references, str):
            start = 0 if references.replace("{}", "0").strip().casefold() in self.names else 1
            references = tuple(references.replace("{}", str(k)) for k in range(start, start + n))
        if len(references) != n:
            raise InputError(
                f"{self.mapping.place}, [columns]: {key!r} names {len(references)} columns, and the robot has {n} "
                f"actuated coordinates ({', '.join(self.joints)}); name one for each"
            )
        return tuple(self._column(key, reference) for reference in references)

    def _column(self, key: str, reference: Reference) -> str:
        names = self.table.names
        if isinstance(reference, int):
            if reference >= len(names):
                raise InputError(
                    f"{self.place} has {len(names)} columns, and {self.mapping.place} wants column {reference} "
                    f"(counted from 0) for {key!r}; correct the mapping, or record the missing columns"
                )
            return names[reference]
        if reference.strip().casefold() not in self.names:
            raise self._absent(key, reference)
        return self.names[reference.strip().casefold()]

    def _absent(self, key: str, name: str) -> InputError:
        return InputError(
            f"{self.place} has no column {name!r} for {key!r}{hint(name, self.table.names)}; "
            "correct the name, or choose the columns in a mapping"
        )
