"""The options of every command that reads a log: one group, so that no command lacks one of them.

Messages about logs name these options. The commands excite and simulate have a --rate and a --gain of their own; there
the options of the group are called --log-rate and --log-gain, also in messages.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import ytheta as yt
from ytheta.cli.log_options import Degrees, Gain, Mappings, Rate, Rows, Topic, parse_gain, parse_rows
from ytheta.cli.option_lists.group import Command, take_group
from ytheta.errors import InputError

PREFIXED = {"rate": "log_rate", "gain": "log_gain"}


@dataclass(frozen=True)
class LogOptions:
    """How the logs of a command are read, as on the command line; the arguments of ``read_log``."""

    mapping: Mappings = None
    degrees: Degrees = False
    rows: Rows = None
    rate: Rate = None
    gain: Gain = None
    topic: Topic = None

    @property
    def single_mapping(self) -> str | None:
        """The mapping of a command that reads one log."""
        if self.mapping and len(self.mapping) > 1:
            raise InputError(f"--mapping is given {len(self.mapping)} times for one log; give it once")
        return self.mapping[0] if self.mapping else None


def take_log_options(command: Command) -> Command:
    """Return the command with the options of LogOptions in place of its argument ``log_options``."""
    return take_group(command, "log_options", LogOptions)


def take_prefixed_log_options(command: Command) -> Command:
    """Return the command as ``take_log_options`` does, with --log-rate and --log-gain instead of --rate and --gain."""
    return take_group(command, "log_options", LogOptions, renamed=PREFIXED)


def read_prefixed_logs(
    robot: yt.Robot, logs: Sequence[str], log_options: LogOptions, *, log_option: str
) -> list[yt.Log]:
    """Read the logs of a command with --log-rate and --log-gain; ``log_option`` is the option that names the logs."""
    if not logs:
        _refuse_options(log_options, log_option)
    mappings: Sequence[str | None] = log_options.mapping or [None]
    if len(mappings) not in (1, len(logs)) and logs:
        raise InputError(
            f"there are {len(mappings)} mappings for {len(logs)} logs; give one for all of them, or one for each"
        )
    return [_read(robot, log, mappings[k % len(mappings)], log_options) for k, log in enumerate(logs)]


def _read(robot: yt.Robot, log: str, mapping: str | None, log_options: LogOptions) -> yt.Log:
    try:
        read = yt.read_log(
            log,
            robot,
            mapping=mapping,
            degrees=log_options.degrees,
            rows=parse_rows(log_options.rows),
            rate=log_options.rate,
            gain=parse_gain(log_options.gain),
            topic=log_options.topic,
        )
    except InputError as error:
        raise type(error)(_add_prefixes(str(error))) from None
    findings = (
        replace(finding, statement=_add_prefixes(finding.statement), remedy=_add_prefixes(finding.remedy))
        for finding in read.findings
    )
    return replace(read, findings=tuple(findings))


def _refuse_options(log_options: LogOptions, log_option: str) -> None:
    """Raise InputError if an option of a log is given, since there is no log."""
    for field in fields(LogOptions):
        if getattr(log_options, field.name) != field.default:
            option = f"--{PREFIXED.get(field.name, field.name).replace('_', '-')}"
            raise InputError(f"{option} is about a log, but none is given; name it with {log_option} FILE")


def _add_prefixes(text: str) -> str:
    """Return a message about a log with the names that its options have on this command."""
    return re.sub(r"(?<![\w-])--(rate|gain)\b", r"--log-\1", text)
