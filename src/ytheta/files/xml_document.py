"""XML documents as frozen nodes with line numbers; DOCTYPE and entities are refused.

The parser is expat of the standard library. It stops at a document type declaration, before reading the content of the
declaration, so that no entity is expanded and no file is fetched.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from xml.parsers import expat

from ytheta.errors import RobotFileError

# Largest number of nested elements. Chosen on: rule of thumb.
MAX_DEPTH = 500
WEB_PAGE = "html"  # the root element, and the name of the document type, of a web page
_WEB_PAGE_ADVICE = "this is a web page (HTML), not a robot description; download the file itself (on GitHub: Raw)"
_LARGE_FILE_POINTER = b"version https://git-lfs"


@dataclass(frozen=True)
class Node:
    """One element: its attributes, its children in order, its text, and its place in the file.

    ``content`` is the text between its tags without that of its children, and without spaces at both ends. ``start``
    is the index of its first byte in the file, so that ``path`` and ``start`` identify an element.
    """

    tag: str
    attributes: dict[str, str]
    line: int
    path: Path
    children: tuple[Node, ...] = field(default=(), repr=False)
    start: int = field(default=0, repr=False)
    content: str = field(default="", repr=False)

    @property
    def where(self) -> str:
        """The place of the element for error messages, such as ``panda.urdf, line 12, <joint name='q1'>``."""
        name = self.attributes.get("name")
        return f"{self.path.name}, line {self.line}, <{self.tag}{f' name={name!r}' if name is not None else ''}>"

    def all(self, tag: str) -> Iterator[Node]:
        """Return the children with this tag."""
        return (child for child in self.children if child.tag == tag)

    def first(self, tag: str) -> Node | None:
        """Return the first child with this tag, if there is one."""
        return next(self.all(tag), None)

    def descendants(self) -> Iterator[Node]:
        """Yield all elements below this one, in the order of the document."""
        waiting = list(reversed(self.children))
        while waiting:
            node = waiting.pop()
            yield node
            waiting.extend(reversed(node.children))

    def error(self, text: str) -> RobotFileError:
        return RobotFileError(f"{self.where}: {text}")

    def get(self, key: str, default: str) -> str:
        return self.attributes.get(key, default)

    def text(self, key: str) -> str:
        """Return a required attribute."""
        value = self.attributes.get(key)
        if value is None:
            raise self.error(f"the attribute '{key}' is missing; add it")
        return value

    def number(self, key: str, default: float | None = None) -> float:
        """Return an attribute that is one finite number. Without a default, the attribute is required."""
        if default is not None and key not in self.attributes:
            return default
        return self.numbers(key, 1)[0]

    def numbers(
        self,
        key: str,
        count: int | None = None,
        default: tuple[float, ...] | None = None,
        *,
        may_be_infinite: bool = False,
    ) -> tuple[float, ...]:
        """Return an attribute that is a list of finite numbers, with ``count`` entries if ``count`` is given."""
        if default is not None and key not in self.attributes:
            return default
        text = self.text(key)
        try:
            values = tuple(float(piece) for piece in text.split())
        except ValueError:
            if _is_template(text):
                raise self.error(
                    f"{key}={text[:60]!r} is an expression of xacro, and this file is not expanded; rename it to .xacro"
                ) from None
            hint = ", with points in place of commas" if "," in text else ""
            raise self.error(f"{key}={text[:60]!r} should contain numbers separated by spaces{hint}") from None
        if not all(math.isfinite(value) or (may_be_infinite and math.isinf(value)) for value in values):
            raise self.error(f"{key}={text[:60]!r} should contain finite numbers")
        if count is not None and len(values) != count:
            raise self.error(f"{key}={text[:60]!r} should contain {count} number{'s' if count > 1 else ''}")
        return values


def _is_template(text: str) -> bool:
    return "${" in text or "$(" in text


class _OpenElement:
    """An element whose end tag has not been read yet."""

    def __init__(self, tag: str, attributes: dict[str, str], line: int, start: int) -> None:
        self.tag, self.attributes, self.line, self.start = tag, attributes, line, start
        self.children: list[Node] = []
        self.text: list[str] = []


def parse_xml(content: bytes, path: Path) -> Node:
    """Parse a document and return its root element."""
    content = _blank_late_declaration(content)
    parser = expat.ParserCreate()
    open_elements = [_OpenElement("", {}, 0, 0)]

    def start(tag: str, attributes: dict[str, str]) -> None:
        if len(open_elements) > MAX_DEPTH:
            raise RobotFileError(
                f"{path.name}, line {parser.CurrentLineNumber}: elements are nested too deeply; flatten the document"
            )
        open_elements.append(_OpenElement(tag, attributes, parser.CurrentLineNumber, parser.CurrentByteIndex))

    def end(_tag: str) -> None:
        closed = open_elements.pop()
        content = "".join(closed.text).strip()
        node = Node(closed.tag, closed.attributes, closed.line, path, tuple(closed.children), closed.start, content)
        open_elements[-1].children.append(node)

    def doctype(name: str, *_declaration: object) -> None:
        if name.lower() == WEB_PAGE:
            raise RobotFileError(f"{path.name}: {_WEB_PAGE_ADVICE}")
        raise RobotFileError(
            f"{path.name}, line {parser.CurrentLineNumber}: the file has a DOCTYPE, which may define entities and is "
            "refused; remove it (no robot description needs one)"
        )

    def text(characters: str) -> None:
        open_elements[-1].text.append(characters)

    parser.buffer_text = True
    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = text
    parser.StartDoctypeDeclHandler = doctype
    try:
        parser.Parse(content, True)
    except expat.ExpatError as error:
        blanked = _blank_comments(content) if _is_in_comment(content, parser.ErrorByteIndex) else content
        if blanked != content:
            return parse_xml(blanked, path)
        root = open_elements[0].children[0] if open_elements[0].children else None
        raise RobotFileError(_explain(error, content, path, root, has_begun=len(open_elements) > 1)) from None
    except (LookupError, ValueError) as error:  # an encoding that Python does not know
        raise RobotFileError(f"{path.name}: this is not XML that can be read ({error}); save it as UTF-8") from None
    root = open_elements[0].children[0]
    if root.tag.lower() == WEB_PAGE:
        raise RobotFileError(f"{path.name}: {_WEB_PAGE_ADVICE}")
    return root


def _blank_late_declaration(content: bytes) -> bytes:
    """Return a document whose ``<?xml …?>`` comes after blank lines or comments with spaces in place of it.

    XML forbids this, but such files are common, and other readers of URDF accept them. Bytes keep their places.
    """
    start = _skip_spaces(content, 0)
    while content.startswith(b"<!--", start):
        end = content.find(b"-->", start)
        if end < 0:
            return content
        start = _skip_spaces(content, end + 3)
    match = re.compile(rb"<\?xml\s[^>]*\?>").match(content, start) if start else None
    if match is None:
        return content
    encoding = re.search(rb"encoding\s*=\s*[\"']([^\"']*)", match[0])
    if encoding is not None and encoding[1].lower() not in (b"utf-8", b"us-ascii"):
        return content
    return content[:start] + b" " * len(match[0]) + content[match.end() :]


def _is_in_comment(content: bytes, index: int) -> bool:
    return content.rfind(b"<!--", 0, index + 4) > content.rfind(b"-->", 0, index)


def _blank_comments(content: bytes) -> bytes:
    """Return a document with spaces in place of comments; lines and bytes keep their places.

    XML forbids two hyphens inside of a comment, but comments with lines of hyphens are common in files of vendors, and
    the parsers of MuJoCo and ROS accept them.
    """
    pieces: list[bytes] = []
    position = 0
    while (start := content.find(b"<!--", position)) >= 0:
        end = content.find(b"-->", start + 4)
        if end < 0:
            break
        pieces += [content[position:start], re.sub(rb"[^\r\n]", b" ", content[start : end + 3])]
        position = end + 3
    return b"".join([*pieces, content[position:]])


def _skip_spaces(content: bytes, start: int) -> int:
    match = re.compile(rb"\s*").match(content, start)
    return start if match is None else match.end()


def _explain(error: expat.ExpatError, content: bytes, path: Path, root: Node | None, *, has_begun: bool) -> str:
    """Return why a document is not XML, and what to do.

    ``root`` is its root element, if its end was reached. ``has_begun`` tells whether the mistake is inside an element.
    """
    place = f"{path.name}, line {error.lineno}"
    if content.startswith(_LARGE_FILE_POINTER):
        return f"{path.name}: this is a pointer of Git LFS, not the file itself; fetch the file with: git lfs pull"
    start = content.lstrip()[:20].lower()
    if start.startswith(b"<!doctype html"):
        return f"{path.name}: {_WEB_PAGE_ADVICE}"
    if root is not None:
        return f"{place}: there is more text after the end of <{root.tag}>; remove it"
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        if start.startswith(b"<") and error.code == expat.errors.codes[expat.errors.XML_ERROR_INVALID_TOKEN]:
            return f"{place}: this is not UTF-8; save the file as UTF-8, or name its encoding in <?xml …?>"
    if error.code == expat.errors.codes[expat.errors.XML_ERROR_XML_DECL]:
        return f'{place}: the declaration <?xml …?> is not well-formed; write <?xml version="1.0"?>'
    reason = expat.ErrorString(error.code)
    if has_begun:
        return (
            f"{place}, column {error.offset + 1}: this is not XML ({reason}); correct the file there; often, a space "
            "between two attributes, a quotation mark or the end of an element is missing"
        )
    return (
        f"{place}: this is not XML ({reason}); check the file: a URDF starts with <robot>, an MJCF with <mujoco>, an "
        "SDF with <sdf>"
    )
