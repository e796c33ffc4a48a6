"""Checks of a URDF document before it is read: it is not a template, has links, and is a tree."""

from __future__ import annotations

from ytheta.files.xml_document import Node


def check_document(root: Node) -> None:
    """Raise RobotFileError if a document with the root ``<robot>`` is not the description of a robot."""
    _refuse_xacro(root)
    if root.first("link") is None:
        raise root.error(
            "there is no <link>, so this is not the description of a robot, but perhaps an SRDF or a xacro file that "
            "only defines macros; give the file of the whole robot"
        )
    _refuse_loops(root)


def _refuse_xacro(root: Node) -> None:
    for node in (root, *root.descendants()):
        if node.tag.startswith("xacro:"):
            raise node.error("this is a xacro file, a template; rename it to .xacro, so that it is expanded")


def _refuse_loops(root: Node) -> None:
    """Raise an error if two joints have the same child: URDF describes trees only."""
    above: dict[str, str] = {}
    for node in root.all("joint"):
        for child in node.all("child"):
            link, name = child.get("link", ""), node.get("name", "")
            if link in above:
                raise node.error(
                    f"link {link!r} is the child of two joints, {above[link]!r} and {name!r}, but URDF has no closed "
                    "loops; remove one of them, and close the loop in a robot.yaml or a TOML file that extends this one"
                )
            above[link] = name
