"""Findings about the columns of a log: which were chosen, what is unusual about them, and what is missing."""

from __future__ import annotations

from ytheta.findings import Finding, Severity
from ytheta.logs.finding_codes import LogFindingCode
from ytheta.logs.origin import LogOrigin
from ytheta.logs.reading.columns.families import contradict_numbers
from ytheta.logs.reading.columns.joint_labels import JointLabels
from ytheta.logs.reading.columns.messages import describe_missing
from ytheta.logs.reading.columns.search import LogColumns
from ytheta.logs.reading.conversions import EPOCH_UNITS
from ytheta.logs.reading.table import ColumnTable


def report_origin(origin: LogOrigin) -> Finding:
    """Return the finding about the chosen columns and rows, in brief."""
    groups: dict[str, list[str]] = {}
    for column in origin.columns:
        groups.setdefault(column.quantity, []).append(column.column or "rate")
    shown = {key: names[0] if len(names) == 1 else f"{names[0]} … {names[-1]}" for key, names in groups.items()}
    where = f" of topic {origin.topic}" if origin.topic else ""
    chosen = f"; {rows}" if (rows := origin.describe_rows()) else ""
    return Finding(
        LogFindingCode.COLUMNS,
        Severity.NOTE,
        f"read {', '.join(f'{key} from {names}' for key, names in shown.items())}{where}{chosen}",
        remedy="ytheta check shows all columns, units and signs",
        fields={key: list(names) for key, names in groups.items()},
    )


def report_columns(columns: LogColumns, table: ColumnTable, joints: tuple[str, ...], source: str) -> list[Finding]:
    """Return the findings about guessed columns and missing torques."""
    findings: list[Finding] = []
    if columns.guessed:
        finding = Finding(
            LogFindingCode.HEADER,
            Severity.WARNING,
            f"no header: the {len(table.names)} columns were interpreted as "
            f"{'t, q, qd, tau' if columns.qd else 't, q, tau'}, with the joints in the robot's order",
            remedy="name the columns in a mapping",
            fields={"columns": len(table.names)},
        )
        findings.append(finding)
    if table.spellings:
        pairs = [f"{name} is {joint}" for joint, name in table.spellings.items()]
        statement = f"the joints have other names than in the robot: {', '.join(pairs)}"
        findings.append(
            Finding(LogFindingCode.ORDER, Severity.NOTE, statement, fields={"names": dict(table.spellings)})
        )
    if columns.labels is not None:
        findings.append(report_labels(columns.labels, joints))
    elif columns.by_number and contradict_numbers(joints):
        first = table.names[columns.q[0]]
        finding = Finding(
            LogFindingCode.ORDER,
            Severity.WARNING,
            f"the columns are numbered in the order of the robot's joints ({first} is of {joints[0]}), although the "
            f"names of the joints contain other numbers ({', '.join(joints)})",
            remedy="if the columns have the numbers of the joints, choose them in a mapping: [columns] q = […], in the "
            "order of the robot's joints",
        )
        findings.append(finding)
    if columns.computed_torque:
        name = table.names[columns.tau[0]]
        finding = Finding(
            LogFindingCode.COMPUTED_TORQUE,
            Severity.WARNING,
            f"the torques ({name} …) were computed by the controller from its own model, not measured",
            remedy="a model identified from them is the controller's; record currents or measured torques instead",
        )
        findings.append(finding)
    if not columns.tau and not columns.current:
        used = (*columns.q, *columns.qd, columns.t)
        unused = [name for k, name in enumerate(table.names) if k not in used]
        statement, remedy = describe_missing("tau", joints, unused)
        contents = f" ({table.contents})" if table.contents else ""
        statement = f"{source} contains no torque{contents}: no {statement}"
        if table.message_type:
            statement = f"{source} contains no torque: its messages have no efforts, or only some that are not numbers"
            remedy = "record the efforts of the joints too, or choose another topic with --topic"
        findings.append(Finding(LogFindingCode.TORQUE, Severity.WARNING, statement, remedy))
    return findings


def report_epoch(name: str, unit: str) -> Finding:
    return Finding(
        LogFindingCode.UNITS,
        Severity.NOTE,
        f"the time {name!r} counts {EPOCH_UNITS[unit]} since 1970, as its numbers show",
        remedy='if it does not, write [scale] t = "s" in a mapping',
        fields={"quantity": "t", "unit": unit},
    )


def report_labels(labels: JointLabels, joints: tuple[str, ...]) -> Finding:
    """Return the finding about joint names that the file contains as texts."""
    if labels.is_known(joints):
        return Finding(
            LogFindingCode.ORDER,
            Severity.NOTE,
            f"the joints of numbered columns are those in {labels.describe()}",
            fields={"labels": list(labels.texts)},
        )
    return Finding(
        LogFindingCode.ORDER,
        Severity.WARNING,
        f"the columns are numbered in the order of the robot's joints ({', '.join(joints)}), although the file has "
        f"other names for them in {labels.describe()}",
        remedy="if the order differs, choose the columns in a mapping: [columns] q = […], in the order of the robot's "
        "joints",
        fields={"labels": list(labels.texts)},
    )
