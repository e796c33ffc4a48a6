"""xacro files: the expansion against xacro itself, packages, arguments and limits."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from xacrodoc import XacroDoc

from tests.support.command import refused
from tests.support.log_files import ARM_LOG, format_csv, name_columns
from tests.support.paths import SHARED_ROBOTS
from ytheta.engine.limited_process import ProcessLimits
from ytheta.errors import InputError, MissingExtraError, RobotFileError
from ytheta.files.xml_document import parse_xml
from ytheta.robot.reading import xacro as expand
from ytheta.robot.reading.load import load
from ytheta.robot.reading.urdf import read_urdf

FR3 = SHARED_ROBOTS / "franka_description" / "robots" / "fr3" / "fr3.urdf.xacro"
HEADER = '<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">'
ARM = (
    HEADER + '<xacro:arg name="length" default="0.5"/><xacro:property name="half" value="${{$(arg length) / 2}}"/>'
    '{extra}<link name="base"/><link name="a"/><joint name="q1" type="continuous"><parent link="base"/>'
    '<child link="a"/><origin xyz="0 0 ${{half}}"/><axis xyz="0 0 1"/></joint></robot>'
)


def write(folder: Path, extra: str = "", name: str = "arm.urdf.xacro") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(ARM.format(extra=extra))
    return folder / name


@pytest.mark.skipif(not FR3.is_file(), reason="franka_description is not in ../shared/robots")
@pytest.mark.parametrize("hand", ["true", "false"])
def test_the_arm_of_franka_is_that_of_xacro(hand: str) -> None:
    robot = load(FR3, xacro_args={"hand": hand})
    document = XacroDoc.from_file(FR3, subargs={"hand": hand}, resolve_packages=False)
    root = parse_xml(document.to_urdf_string().encode(), Path("fr3.urdf"))
    expected = read_urdf(root, FR3, 1e-4)
    assert robot.joints == expected.joints
    assert robot.links == expected.links
    assert len(robot.movable) == (9 if hand == "true" else 7)


def test_arguments_are_set(tmp_path: Path) -> None:
    path = write(tmp_path)
    assert load(path).joint("q1").placement.translation == (0.0, 0.0, 0.25)
    assert load(path, xacro_args={"length": "2"}).joint("q1").placement.translation == (0.0, 0.0, 1.0)


def test_unknown_arguments_are_named_with_those_that_exist(tmp_path: Path) -> None:
    with pytest.raises(RobotFileError, match=r"has no xacro argument 'lenght'; its arguments are length$"):
        load(write(tmp_path), xacro_args={"lenght": "2"})


def test_arguments_of_included_files_exist(tmp_path: Path) -> None:
    (tmp_path / "more.xacro").write_text(f'{HEADER}<xacro:arg name="other" default="1"/></robot>')
    path = write(tmp_path, '<xacro:include filename="more.xacro"/>')
    assert load(path, xacro_args={"other": "2"}).movable


@pytest.mark.parametrize("declaration", ["", '<xacro:arg name="kind" default="y"/>'])
def test_an_argument_without_a_value_is_named(declaration: str, tmp_path: Path) -> None:
    """UR's ur.urdf.xacro uses an argument in <robot>, before it declares its default."""
    path = write(tmp_path, '<material name="$(arg kind)"/>' + declaration)
    with pytest.raises(RobotFileError, match=r"uses the xacro argument 'kind' before .*--xacro-arg kind=VALUE"):
        load(path)
    assert load(path, xacro_args={"kind": "x"}).movable


def test_an_argument_that_chooses_a_file_that_does_not_exist_is_named(tmp_path: Path) -> None:
    """As UR's ur.urdf.xacro does with ur_type, whose default names no robot."""
    kind = '<xacro:arg name="kind" default="none"/>'
    table = '<xacro:property name="t" value="${xacro.load_yaml(\'config/$(arg kind)/sizes.yaml\')}"/>'
    path = write(tmp_path, kind + table + """<material name="${t['a']}"/>""")
    with pytest.raises(RobotFileError) as caught:
        load(path)
    assert str(caught.value) == (
        f"arm.urdf.xacro needs the file '{tmp_path / 'config/none/sizes.yaml'}', which does not exist; check the path "
        "in it, or the xacro argument kind=none"
    )
    (tmp_path / "config" / "small").mkdir(parents=True)
    (tmp_path / "config" / "small" / "sizes.yaml").write_text("a: 1")
    assert load(path, xacro_args={"kind": "small"}).movable


def test_packages_are_found_in_given_folders_and_around_the_file(tmp_path: Path) -> None:
    include = '<xacro:include filename="$(find parts)/parts.xacro"/>'
    path = write(tmp_path / "elsewhere" / "robot", include)
    write(tmp_path / "src" / "parts", name="unused.xacro")
    (tmp_path / "src" / "parts" / "parts.xacro").write_text(f"{HEADER}</robot>")
    with pytest.raises(RobotFileError, match=r"package 'parts' is not found; looked in .*elsewhere.*--package-path"):
        load(path)
    assert load(path, package_paths=[tmp_path / "src"]).movable
    (tmp_path / "src" / "parts" / "package.xml").write_text("<package><name>parts</name></package>")
    assert load(path, package_paths=[tmp_path / "src" / "parts"]).movable
    beside = write(tmp_path / "src" / "robot", include)
    assert load(beside).movable


def test_folders_around_the_file_are_packages_without_a_manifest(tmp_path: Path) -> None:
    folder = tmp_path / "arm_description"
    path = write(folder / "robots" / "left", '<xacro:include filename="$(find arm_description)/parts.xacro"/>')
    (folder / "parts.xacro").write_text(f"{HEADER}</robot>")
    assert load(path).movable


def test_relative_includes_are_relative_to_the_including_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the current folder is."""
    monkeypatch.chdir(tmp_path)
    path = write(tmp_path / "robot", '<xacro:include filename="parts/a.xacro"/><material name="m${a}${b}"/>')
    parts = tmp_path / "robot" / "parts"
    parts.mkdir()
    (parts / "a.xacro").write_text(
        f'{HEADER}<xacro:property name="a" value="1"/><xacro:include filename="b.xacro"/></robot>'
    )
    (parts / "b.xacro").write_text(f'{HEADER}<xacro:property name="b" value="2"/></robot>')
    assert b'material name="m12"' in expand.expand_xacro(path, {}, ())
    (parts / "b.xacro").unlink()
    with pytest.raises(RobotFileError) as caught:
        load(path)
    assert str(caught.value) == (
        f"arm.urdf.xacro needs the file '{parts / 'b.xacro'}', which does not exist; check the path in it"
    )


def test_includes_by_package_scheme_are_told_what_xacro_reads(tmp_path: Path) -> None:
    with pytest.raises(RobotFileError, match=r"write \$\(find parts\)/urdf/a.xacro$"):
        load(write(tmp_path, '<xacro:include filename="package://parts/urdf/a.xacro"/>'))


@pytest.mark.parametrize(
    ("extra", "message"),
    [
        ('<xacro:property name="x" value="${1/0}"/><link name="${x}"/>', "cannot be expanded: .*division by zero"),
        ("<xacro:unknown/>", "cannot be expanded: .*unknown macro name"),
        ('<xacro:include filename="missing.xacro"/>', "needs the file '.*missing.xacro', which does not exist"),
        ("<xacro:if", "cannot be expanded"),
        ('<link name="a"/>', "used 2 times"),
    ],
)
def test_faulty_files_are_errors(tmp_path: Path, extra: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        load(write(tmp_path, extra))


def test_messages_of_xacro_are_printed_once_and_without_classes(tmp_path: Path) -> None:
    with pytest.raises(RobotFileError) as caught:
        load(write(tmp_path, '<link name="$(foo bar)"/>'))
    assert str(caught.value).count("Unknown substitution command [foo bar]") == 1
    assert "<class" not in str(caught.value)


def test_files_without_links_are_not_robots(tmp_path: Path) -> None:
    path = tmp_path / "macros.xacro"
    path.write_text(f'{HEADER}<xacro:macro name="arm" params="x"><link name="${{x}}"/></xacro:macro></robot>')
    with pytest.raises(InputError, match=r"it only defines macros; load the file of the whole robot$"):
        load(path)
    (tmp_path / "whole.xacro").write_text(f'{HEADER}<xacro:include filename="$(find x)/macros.xacro"/></robot>')
    (tmp_path / "other.xacro").write_text(f'{HEADER}<xacro:include filename="more_macros.xacro"/></robot>')
    with pytest.raises(InputError, match=r"it only defines macros; load a file that includes it: whole\.xacro$"):
        load(path)
    path.write_text(path.read_text().replace("</robot>", '<xacro:arm x="a"/></robot>'))
    assert [link.name for link in load(path).links] == ["a"]


@pytest.mark.parametrize(
    "old",
    [
        '<include filename="more.xacro"/>',
        '<property name="x" value="1"/>',
        '<macro name="arm" params="x"><link name="y"/></macro><arm x="1"/>',
    ],
)
def test_elements_without_the_prefix_are_refused(old: str, tmp_path: Path) -> None:
    """xacro leaves them as they are, so that a part of the robot would be missing."""
    tag = old[1:].split()[0]
    with pytest.raises(RobotFileError, match=rf"has <{tag}> in place of <xacro:{tag}>, which xacro does not expand"):
        load(write(tmp_path, old))


def test_a_macro_that_is_called_without_the_prefix_is_named(tmp_path: Path) -> None:
    path = tmp_path / "whole.xacro"
    macro = '<xacro:macro name="arm"><link name="a"/></xacro:macro>'
    path.write_text(f"{HEADER}{macro}<arm/></robot>")
    with pytest.raises(
        RobotFileError, match=r"has no <link> after its expansion, but <arm>; if it is a macro, write <xacro:arm>$"
    ):
        load(path)
    path.write_text(f"{HEADER}{macro}<xacro:arm/></robot>")
    assert load(path).links


def test_an_srdf_is_called_so(tmp_path: Path) -> None:
    path = tmp_path / "arm.srdf.xacro"
    path.write_text(f'{HEADER}<group name="arm"><joint name="q1"/></group></robot>')
    with pytest.raises(
        RobotFileError, match=r"arm\.srdf\.xacro is an SRDF, with groups of joints for MoveIt; load the URDF"
    ):
        load(path)


def test_a_part_of_a_robot_names_the_file_that_includes_it(tmp_path: Path) -> None:
    hand = '<link name="hand"/><joint name="h" type="fixed"><parent link="a"/><child link="hand"/></joint>'
    (tmp_path / "hand.xacro").write_text(f"{HEADER}{hand}</robot>")
    with pytest.raises(InputError, match=r"joint 'h': its parent link 'a' does not exist"):
        load(tmp_path / "hand.xacro")
    whole = write(tmp_path, '<xacro:include filename="hand.xacro"/>')
    with pytest.raises(RobotFileError) as caught:
        load(tmp_path / "hand.xacro")
    assert str(caught.value) == (
        "hand.xacro is only a part of a robot: its joint 'h' connects the link 'a' of another file; load a file that "
        "includes it: arm.urdf.xacro"
    )
    assert [link.name for link in load(whole).links] == ["base", "a", "hand"]


def test_folders_are_named_by_their_option(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"--package-path \(package_paths\): '.*gone' is not a folder"):
        load(write(tmp_path), package_paths=[tmp_path / "gone"])
    with pytest.raises(InputError, match=r"--allow-path \(allow_paths\): '.*gone' is not a folder"):
        load(write(tmp_path), allow_paths=[tmp_path / "gone"])


def test_time_and_memory_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(expand, "MAX_SECONDS", 3)
    with pytest.raises(RobotFileError, match="its expansion takes more than 3 s; check its macros and expressions"):
        load(write(tmp_path, '<xacro:property name="x" value="${9**9**9}"/><link name="n${x}"/>'))
    monkeypatch.setattr(expand, "MAX_SECONDS", 60)
    monkeypatch.setattr(expand, "MAX_MEMORY", 1024**3)
    with pytest.raises(RobotFileError, match="its expansion needs more than 1 GB; check it"):
        load(write(tmp_path, """<xacro:property name="x" value="${len('a' * 10**10)}"/><link name="n${x}"/>"""))


def test_the_size_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path)
    size = len(expand.expand_xacro(path, {}, []))
    monkeypatch.setattr(expand, "MAX_ROBOT_SIZE", size)
    assert load(path).movable
    monkeypatch.setattr(expand, "MAX_ROBOT_SIZE", size - 1)
    with pytest.raises(RobotFileError, match=r"its expansion exceeds 0\.\d+ MB; check its macros"):
        load(path)


def test_a_crash_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path)
    monkeypatch.setattr(expand, "CHILD", "tests.support.child_functions")
    with pytest.raises(RobotFileError, match="the expansion of this xacro file failed; check the file"):
        load(path)


def test_arguments_of_other_files_are_errors(tmp_path: Path) -> None:
    path = tmp_path / "r.urdf"
    path.write_text('<robot name="r"><link name="a"/></robot>')
    for source in (path, "ur10"):
        with pytest.raises(InputError, match=r"xacro_args: this is not a \.xacro file"):
            load(source, xacro_args={"a": "b"})


def test_without_xacrodoc_the_message_contains_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path)
    (tmp_path / "hidden" / "xacrodoc").mkdir(parents=True)
    (tmp_path / "hidden" / "xacrodoc" / "__init__.py").write_text("raise ImportError")
    monkeypatch.syspath_prepend(tmp_path / "hidden")
    with pytest.raises(MissingExtraError, match=r"pip install 'ytheta\[xacro\]'"):
        load(path)


# An expression that gets past the check of names in xacro's expressions, and runs any code.
CODE = (
    "(lambda c: [k for k in ''.__class__.__base__.__subclasses__() if k.__name__ == '_wrap_close'][0]"
    ".__init__.__globals__['{call}'](*c))({arguments})"
)


def write_attack(folder: Path, call: str, arguments: str) -> Path:
    code = CODE.format(call=call, arguments=arguments)
    return write(folder, f'<material name="n${{{code}}}"/>', name="evil.xacro")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("arm.toml", 'extends = "evil.xacro"\n'),
        ("arm.toml", 'extends = "link.urdf"\n'),  # a symbolic link to the xacro file
        ("arm.xml", '<mujoco><include file="evil.xacro"/></mujoco>'),
        ("arm.sdf", '<sdf version="1.9"><model name="m"><include><uri>evil.xacro</uri></include></model></sdf>'),
    ],
)
def test_only_the_user_can_have_a_xacro_file_expanded(name: str, content: str, tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    write_attack(tmp_path, "mkdir", f"['{marker}']")
    (tmp_path / "link.urdf").symlink_to(tmp_path / "evil.xacro")
    (tmp_path / name).write_text(content)
    with pytest.raises(RobotFileError, match=r"is a xacro file, which can run code, so it is expanded only if you"):
        load(tmp_path / name)
    assert not marker.exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ["predict", "evil.model.toml", "run.csv"],
        ["check", "evil.model.toml", "run.csv"],
        ["inspect", "evil.model.toml"],
        ["identify", "ur10", "run.csv", "--prior", "evil.model.toml"],
        ["export", "evil.model.toml", "--to", "urdf", "-o", "new.urdf"],
        ["export", "ur10", "--to", "urdf", "-o", "new.urdf", "--description", "evil.model.toml"],
    ],
)
def test_no_command_runs_code_of_a_model_file(
    arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_attack(tmp_path, "mkdir", f"['{tmp_path / 'marker'}']")
    Path("evil.model.toml").write_text('extends = "evil.xacro"\n')
    Path("run.csv").write_text(format_csv(name_columns(ARM_LOG)))
    assert "is a xacro file, which can run code" in refused(*arguments, cwd=tmp_path)
    assert not Path("marker").exists()


@pytest.mark.skipif(sys.platform != "linux", reason="other systems isolate no process")
@pytest.mark.parametrize(
    ("call", "arguments"),
    [("system", "['mkdir {marker}']"), ("mkdir", "['{marker}']"), ("listdir", "['{home}']"), ("remove", "['{file}']")],
)
def test_a_xacro_file_that_runs_code_changes_and_reaches_nothing(
    call: str, arguments: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, marker = tmp_path / "home", tmp_path / "home" / "robots" / "marker"
    file = home / "robots" / "file"
    file.parent.mkdir(parents=True)
    file.write_text("text")
    monkeypatch.setenv("HOME", str(home))
    path = write_attack(home / "robots", call, arguments.format(marker=marker, home=home, file=file))
    if call == "system":
        load(path)  # the exit code of the shell, which did not start, is part of a name
    else:
        with pytest.raises(RobotFileError, match=r"cannot be expanded: .*Permission denied"):
            load(path)
    assert not marker.exists()
    assert file.read_text() == "text"
    monkeypatch.setattr("ytheta.robot.reading.xacro.ProcessLimits", make_open_limits)  # the twin: without isolation
    load(path)
    assert marker.exists() or not file.exists() or call == "listdir"


def make_open_limits(*limits: Any, **more: Any) -> ProcessLimits:
    return ProcessLimits(*limits, **{**more, "readable": None})


def test_home_is_hidden_from_a_xacro_file_in_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only visible files beside it can be read, and packages."""
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "secrets").mkdir()
    (tmp_path / "arm_description").mkdir()
    (tmp_path / "arm_description" / "package.xml").write_text("<package><name>arm_description</name></package>")
    for name in (".secrets.yaml", "secrets/secrets.yaml", "beside.yaml", "arm_description/sizes.yaml"):
        (tmp_path / name).write_text("a: 1")
        path = write(tmp_path, f"""<material name="${{xacro.load_yaml('{name}')['a']}}"/>""")
        if "secrets" in name and sys.platform == "linux":
            with pytest.raises(RobotFileError, match="Permission denied"):
                load(path)
        else:
            assert load(path).movable
