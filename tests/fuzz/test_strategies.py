"""Structured inputs drawn by Hypothesis: only errors of ytheta come out, and what is accepted is right or finite."""

from __future__ import annotations

import contextlib
import math
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.support.log_files import ARM, ARM_COLUMNS, ARM_LOG, name_columns
from ytheta.errors import YthetaError
from ytheta.files.expressions import FUNCTIONS, parse_expression
from ytheta.files.xml_document import parse_xml
from ytheta.logs.reading.mapping import read_mapping
from ytheta.logs.reading.read import read_log
from ytheta.robot.reading.mjcf.reader import read_mjcf
from ytheta.robot.reading.toml import parse_robot
from ytheta.robot.reading.urdf import read_urdf

NAMES = ("q1", "l1", "pi", "x")
floats = st.floats(allow_subnormal=True)
words = st.sampled_from(("t", "q", "qd", "tau", "current", "q1", "tau2", "q{}", "deg", "ms", "pi/2", "")) | st.text(
    max_size=5
)
scalars = st.none() | st.booleans() | st.integers() | floats | words
values: st.SearchStrategy[Any] = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3), max_leaves=8
)


def join(*parts: str) -> str:
    return "(" + " ".join(parts) + ")"


expressions = st.recursive(
    st.sampled_from(NAMES) | st.floats(allow_nan=False, allow_infinity=False).map(repr),
    lambda inner: st.one_of(
        st.builds(join, inner, st.sampled_from(["+", "-", "*", "/", "**"]), inner),
        st.builds(lambda name, a: f"{name}({a})", st.sampled_from(sorted(FUNCTIONS)), inner),
        st.builds(lambda a: f"-{a}", inner),
    ),
    max_leaves=12,
)


@given(expressions | st.text(max_size=30))
def test_expressions_agree_with_python(text: str) -> None:
    """What is accepted has the value that Python's own arithmetic gives."""
    try:
        expression = parse_expression(text)
        numbers = dict.fromkeys(expression.names, 0.5)
        value = expression.evaluate(numbers, dict.fromkeys(expression.positions, 0.5))
    except YthetaError:
        return
    assert isinstance(value, float | np.ndarray | int)
    library = {name: getattr(np, name) for name in FUNCTIONS} | {"pi": math.pi, "q": lambda _name: 0.5} | numbers
    with np.errstate(all="ignore"):
        expected = eval(text.strip(), {"__builtins__": {}}, library)
    np.testing.assert_allclose(float(value), float(expected), rtol=1e-12)


sections = st.fixed_dictionaries(
    {},
    optional={
        "columns": st.dictionaries(st.sampled_from(("t", "q", "qd", "tau", "current")), values, max_size=3) | values,
        "scale": st.dictionaries(st.sampled_from(("t", "q", "qd", "tau")), values, max_size=2) | values,
        "sign": st.dictionaries(st.sampled_from(("q", "tau")), st.sampled_from((1, -1, [1, -1], 2)), max_size=2),
        "offset": st.dictionaries(st.sampled_from(("t", "q")), floats | st.lists(floats, max_size=3), max_size=2),
        "motor": st.dictionaries(st.just("matrix"), st.lists(st.lists(floats, max_size=2), max_size=2) | values),
        "rate": scalars,
        "rows": st.lists(st.integers(), max_size=3) | values,
        "skip": scalars,
        "topic": scalars,
        "other": values,
    },
)


@given(sections)
def test_mappings_of_any_form(mapping: dict[str, Any]) -> None:
    with contextlib.suppress(YthetaError):
        log = read_log(ARM_COLUMNS, ARM, mapping=read_mapping(mapping))
        assert np.isfinite(log.t).all()
        assert np.isfinite(log.q).all()


@given(
    st.dictionaries(
        st.sampled_from(tuple(ARM_COLUMNS)),
        st.tuples(st.integers(0, len(ARM_LOG) - 1), st.integers(1, 20), floats),
        max_size=3,
    )
)
def test_logs_with_any_numbers(changes: dict[str, tuple[int, int, float]]) -> None:
    """Rows that are kept and untouched have the numbers of the log."""
    columns = {name: values.copy() for name, values in name_columns(ARM_LOG).items()}
    for name, (first, count, number) in changes.items():
        columns[name][first : first + count] = number
    with contextlib.suppress(YthetaError):
        log = read_log(columns, ARM)
        assert np.isfinite(log.t).all()
        assert np.isfinite(log.q).all()
        kept = np.isin(ARM_LOG.t, log.t)
        touched = {row for first, count, _ in changes.values() for row in range(first, first + count)}
        for row in np.flatnonzero(kept).tolist():
            if row not in touched:
                np.testing.assert_array_equal(log.q[np.searchsorted(log.t, ARM_LOG.t[row])], ARM_LOG.q[row])


attributes = st.dictionaries(
    st.sampled_from(("name", "type", "link", "xyz", "rpy", "value", "joint", "lower", "pos", "size", "axis", "mass")),
    st.sampled_from(("a", "b", "revolute", "fixed", "0 0 1", "1 2", "nan", "1e300", "hinge", "")) | floats.map(repr),
    max_size=4,
)
TAGS = (
    *(
        "link",
        "joint",
        "inertial",
        "mass",
        "inertia",
        "origin",
        "parent",
        "child",
        "axis",
        "limit",
        "mimic",
        "dynamics",
    ),
    *("body", "geom", "worldbody", "compiler", "default", "equality", "connect", "actuator", "motor", "site"),
)
elements = st.recursive(
    st.builds(lambda tag, a: _make_element(tag, a, ""), st.sampled_from(TAGS), attributes),
    lambda inner: st.builds(
        lambda tag, a, content: _make_element(tag, a, "".join(content)),
        st.sampled_from(TAGS),
        attributes,
        st.lists(inner, max_size=4),
    ),
    max_leaves=12,
)


def _make_element(tag: str, attributes: dict[str, str], content: str) -> str:
    written = " ".join([tag, *(f'{key}="{value}"' for key, value in attributes.items())])
    return f"<{written}>{content}</{tag}>"


@given(st.lists(elements, max_size=5))
def test_documents_of_any_structure(content: list[str]) -> None:
    for root, read in (("robot", read_urdf), ("mujoco", read_mjcf)):
        path = Path("robot.xml")
        node = parse_xml(f"<{root}>{''.join(content)}</{root}>".encode(), path)
        with contextlib.suppress(YthetaError):
            assert np.isfinite(read(node, path, 1e-4, fix_base=False).theta).all()


@given(st.text() | st.binary())
def test_texts_of_any_content(content: str | bytes) -> None:
    data = content if isinstance(content, bytes) else content.encode("utf-8", errors="surrogatepass")
    with contextlib.suppress(YthetaError):
        parse_robot(data, Path("robot.toml"), 1e-4)
    with contextlib.suppress(YthetaError):
        parse_xml(data, Path("robot.xml"))
