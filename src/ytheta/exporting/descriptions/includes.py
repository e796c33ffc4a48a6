"""Included files of MJCF: those that change are inserted in place of their ``<include>``, the others stay included."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ytheta.exporting.descriptions.xml_edit import Edit, apply_edits, find_inner_span, replace_element
from ytheta.files.xml_document import Node, parse_xml


@dataclass(frozen=True)
class _Files:
    """The main file, and the contents and edits of all files."""

    main: Path
    contents: Mapping[Path, bytes]
    edits: Mapping[Path, Sequence[Edit]]

    def find(self, node: Node) -> Path:
        """Return the file of an ``<include>``: searched for as the reader does."""
        folders = (self.main.resolve().parent, node.path.resolve().parent)
        candidates = [(folder / node.text("file")).resolve() for folder in folders]
        return next(path for path in candidates if path in self.contents)

    def list_included(self, path: Path) -> list[tuple[Node, Path]]:
        root = parse_xml(self.contents[path], path)
        return [(node, self.find(node)) for node in root.descendants() if node.tag == "include"]

    def changes(self, path: Path) -> bool:
        """Whether a file or a file that it includes changes."""
        return bool(self.edits.get(path)) or any(self.changes(included) for _, included in self.list_included(path))

    def render(self, path: Path, *, insert_all: bool) -> bytes:
        own = list(self.edits.get(path, ()))
        for node, included in self.list_included(path):
            if insert_all or self.changes(included):
                # An inserted file has no folder of its own any more, so that the files it includes are inserted, too.
                text = self.render(included, insert_all=True)
                start, end = find_inner_span(text, parse_xml(text, included).start)
                own.append(replace_element(self.contents[path], node.start, text[start:end].strip()))
        return apply_edits(self.contents[path], own)


def insert_edited_files(main: Path, contents: Mapping[Path, bytes], edits: Mapping[Path, Sequence[Edit]]) -> bytes:
    """Return the main file with its edits; ``contents`` and ``edits`` are those of all files, by path."""
    return _Files(main, contents, edits).render(main, insert_all=False)
