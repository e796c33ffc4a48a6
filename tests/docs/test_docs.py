"""README and docs: their commands print what is shown, and their snippets run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import ytheta as yt
from tests.support.command import ytheta
from tests.support.paths import ROOT
from ytheta.robot.loops.closure import close_loops
from ytheta.robot.reading.load import load

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def find_blocks(language: str) -> list[tuple[str, str]]:
    """Return page and content of every fenced block of a language."""
    return [
        (page.name, content)
        for page in PAGES
        for content in re.findall(rf"^```{language}\n(.*?)^```", page.read_text(), flags=re.DOTALL | re.MULTILINE)
    ]


def matches(shown: str, printed: str) -> bool:
    """Whether a text was printed as shown; a line that only consists of … stands for any lines."""
    pieces = [re.escape(piece.strip("\n")) for piece in re.split(r"^…$", shown, flags=re.MULTILINE)]
    trimmed = "\n".join(line.rstrip() for line in printed.splitlines())
    return (
        re.fullmatch(r"(.*\n)?".join(pieces), trimmed.strip("\n") + "\n" * shown.endswith("…\n"), re.DOTALL) is not None
    )


def test_there_is_something_to_run() -> None:
    assert find_blocks("console")
    assert find_blocks("python")
    assert find_blocks("toml")


@pytest.mark.parametrize(("page", "content"), find_blocks("console"))
def test_commands_print_what_is_shown(page: str, content: str) -> None:
    command, _, shown = content.partition("\n")
    assert command.startswith("$ ytheta "), page
    result = ytheta(*command.split()[2:])
    assert result.returncode == 0
    assert matches(shown, result.stdout), result.stdout
    assert not matches(shown.replace("link1", "link9"), result.stdout)


@pytest.mark.parametrize(("page", "content"), find_blocks("python"))
def test_snippets_run(page: str, content: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    exec(compile(content, page, "exec"), {})


def find_deep_imports(content: str) -> list[str]:
    """Return the lines that import from inside of the package; the public names need only ``import ytheta``."""
    return re.findall(r"^\s*(?:from ytheta[\w.]* import .*|import ytheta\.[\w.]+.*)$", content, flags=re.MULTILINE)


def test_pages_need_only_the_package() -> None:
    for page in PAGES:
        assert find_deep_imports(page.read_text()) == [], page.name
    assert find_deep_imports("import ytheta as yt\nfrom ytheta.control import Walker\nimport ytheta.robot\n") == [
        "from ytheta.control import Walker",
        "import ytheta.robot",
    ]


def find_public_names(text: str) -> set[str]:
    """Return the names after ``yt.``, in snippets and in sentences, such as ``control.SlotineLi``."""
    return set(re.findall(r"\byt\.((?:[A-Za-z_]\w*)(?:\.[A-Za-z_]\w*)*)", text))


def is_public(name: str) -> bool:
    value: object = yt
    for part in name.split("."):
        if part not in dir(value):  # dir() is what a reader sees in a shell
            return False
        value = getattr(value, part)
    return True


def test_every_name_works_after_a_bare_import() -> None:
    names = {name for page in PAGES for name in find_public_names(page.read_text())}
    assert len(names) > 20
    assert {name for name in names if not is_public(name)} == set()
    assert not is_public("errors.NoSuchError")
    assert find_public_names("`yt.a.b` and yt.c(1).d, pyt.e") == {"a.b", "c"}


@pytest.mark.parametrize("page", sorted({page for page, _ in find_blocks("shell")}))
def test_sessions_print_what_is_shown(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run the commands of a page one after the other, in a folder with the files that its first snippet writes."""
    monkeypatch.chdir(tmp_path)
    first = next(content for name, content in find_blocks("python") if name == page)
    exec(compile(first, page, "exec"), {})
    for name, content in find_blocks("shell"):
        if name == page:
            command, _, shown = content.partition("\n")
            assert command.startswith("$ ytheta "), page
            result = ytheta(*command.split()[2:], cwd=tmp_path)
            assert result.returncode == 0, result.stderr
            assert matches(mask_numbers(shown), mask_numbers(result.stdout)), result.stdout
            assert not matches(mask_numbers(shown).replace("joint", "hinge"), mask_numbers(result.stdout))


def mask_numbers(text: str) -> str:
    """Return a text without its numbers, whose last digits differ between machines."""
    masked = re.sub(r"[-×]?\d+(\.\d+)?(e[-+]?\d+)?", "#", text.replace("─", ""))
    return "".join(f"{' '.join(line.split())}\n" for line in masked.splitlines())


@pytest.mark.parametrize(("page", "content"), find_blocks("toml"))
def test_robots_in_the_docs_are_robots(page: str, content: str, tmp_path: Path) -> None:
    path = tmp_path / f"{page}.toml"
    path.write_text(content)
    robot = load(path)
    if robot.loops:
        close_loops(robot).or_raise()
