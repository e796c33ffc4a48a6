"""What ``ytheta`` without arguments prints: the next thing to type."""

from __future__ import annotations

import ytheta

# Command lines in the order of the work, with what each does; the names of files are those that a user would have.
STEPS = (
    ("ytheta robots", "the robots that come with ytheta"),
    ("ytheta inspect ur10", "one of them, or your own .urdf, .xacro, .xml, .sdf or .toml file"),
    ("ytheta base ur10", "the parameters that can be identified"),
    ("ytheta excite ur10 -o motion.csv", "a motion to measure"),
    ("ytheta identify ur10 log.csv -o ur10.model.toml", "the model, from what was measured"),
    ("ytheta export ur10.model.toml --to c -o ur10_c", "the model as C code, URDF, MJCF …"),
)


def format_first_steps() -> str:
    """Return a few lines: what ytheta is, the commands to begin with, and where to read on."""
    width = max(len(command) for command, _ in STEPS)
    lines = [f"  {command:<{width}}   {purpose}" for command, purpose in STEPS]
    return "\n".join(
        [
            f"ytheta {ytheta.__version__} identifies the dynamic model of a robot arm from description and motion.",
            "",
            "To begin, type:",
            *lines,
            "",
            "ytheta --help lists all commands, ytheta COMMAND --help explains one and gives an example.",
            "ytheta --install-completion completes commands, options and names with the Tab key.",
        ]
    )
