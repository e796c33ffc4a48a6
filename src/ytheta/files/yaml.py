"""YAML documents as lists, dictionaries and texts.

Of YAML, only the structure is read. Tags (``!!timestamp``) have no effect, and numbers, dates and switches stay texts:
what a tag or a number would make of a text could fail in any way or take any time. Aliases, which can make a small file
huge, and deep nesting are refused while the document is read.
"""

from __future__ import annotations

from typing import Any

from ytheta.errors import InputError, MissingExtraError

# Largest depth of lists and mappings within each other. Chosen on: rule of thumb.
MAX_DEPTH = 32


def parse_yaml(content: bytes, name: str) -> Any:
    """Return the content of a YAML document; ``name`` is the name of its file in error messages."""
    try:
        import yaml
    except ImportError:
        raise MissingExtraError(
            f"{name} is read by PyYAML, which is not installed; install it with: pip install 'ytheta[xacro]'"
        ) from None
    try:
        text, depth = content.decode("utf-8-sig"), 0
        for event in yaml.parse(text, Loader=yaml.BaseLoader):
            if isinstance(event, yaml.AliasEvent):
                raise InputError(f"{name} has aliases (*name), which are refused; write the lists in full")
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > MAX_DEPTH:
                raise InputError(f"{name}: lists or tables are nested too deeply; flatten them")
        return yaml.load(text, Loader=yaml.BaseLoader)
    except (yaml.YAMLError, UnicodeDecodeError, ValueError, RecursionError) as error:
        reason = " ".join(str(error).split())[:200]
        raise InputError(f"{name} is not valid YAML: {reason}; check the file") from None
