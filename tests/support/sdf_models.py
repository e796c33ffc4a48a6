"""SDF models, each with a hard feature of the format, and the torques that Drake computes for them.

The constants TORQUES were printed once by Drake 1.51 (``Parser`` and ``CalcInverseDynamics``, with its gravity of
9.81 m/s2 and without dry friction, which it ignores). They belong to joint k in the order of the list, all at position
0.3 - 0.2 k, velocity 0.5 - 0.3 k and acceleration 0.2 + 0.4 k.
"""

from __future__ import annotations

from pathlib import Path

INERTIAL = """<inertial><pose>0.05 -0.02 0.11 0.3 -0.4 0.5</pose><mass>{mass}</mass><inertia><ixx>0.02</ixx>
<ixy>0.001</ixy><ixz>-0.002</ixz><iyy>0.03</iyy><iyz>0.0015</iyz><izz>0.025</izz></inertia></inertial>"""


def make_link(name: str, pose: str = "", mass: float = 2.0, *, attributes: str = "", extra: str = "") -> str:
    """Return a link with a rotated inertia; ``attributes`` are those of its pose."""
    place = f"<pose {attributes}>{pose}</pose>" if pose else ""
    return f'<link name="{name}">{place}{INERTIAL.format(mass=mass)}{extra}</link>'


def make_joint(
    name: str, parent: str, child: str, *, kind: str = "revolute", axis: str = "<xyz>0 0 1</xyz>", extra: str = ""
) -> str:
    axis = f"<axis>{axis}</axis>" if axis else ""
    return f'<joint name="{name}" type="{kind}"><parent>{parent}</parent><child>{child}</child>{axis}{extra}</joint>'


def make_document(content: str, version: str = "1.9", *, name: str = "r") -> str:
    return f'<sdf version="{version}"><model name="{name}">{content}</model></sdf>'


ON_WORLD = make_joint("fix", "world", "base", kind="fixed", axis="")

MODELS = {
    "poses": make_document(
        "<pose>0.3 -0.2 0.5 0.2 0.1 -0.3</pose>"
        + make_link("base")
        + make_link("a", "0.1 0.2 0.3 0.4 0.5 0.6")
        + make_link("b", "-0.2 0.3 0.4 -0.7 0.2 0.1", attributes='relative_to="a"')
        + ON_WORLD
        + make_joint("j1", "base", "a", axis="<xyz>0.6 0 0.8</xyz>")
        + make_joint("j2", "a", "b", kind="prismatic", axis="<xyz>0 1 0</xyz>")
    ),
    "joint pose": make_document(
        make_link("base")
        + make_link("a", "0.1 0.2 0.3 0.4 0.5 0.6")
        + make_link("b", "0.2 0.3 0.7 -0.4 0.1 0.2")
        + ON_WORLD
        + make_joint("j1", "base", "a", extra="<pose>0.05 0.06 -0.07 0.3 0.2 0.1</pose>")
        + make_joint("j2", "a", "b", extra='<pose relative_to="a">0.1 -0.06 0.07 -0.3 0.2 0.1</pose>')
    ),
    "expressed in": make_document(
        make_link("base")
        + make_link("a", "0.1 0.2 0.3 0.4 0.5 0.6")
        + make_link("b", "0.2 0.3 0.7 -0.4 0.1 0.2")
        + ON_WORLD
        + make_joint("j1", "base", "a", axis='<xyz expressed_in="__model__">0.6 0 0.8</xyz>')
        + make_joint("j2", "a", "b", axis='<xyz expressed_in="a">0.6 0.8 0</xyz>')
    ),
    "version 1.4": make_document(
        make_link("base")
        + make_link("a", "0.1 0.2 0.3 0.4 0.5 0.6")
        + make_link("b", "0.2 0.3 0.7 -0.4 0.1 0.2")
        + ON_WORLD
        + make_joint("j1", "base", "a", axis="<xyz>0.6 0 0.8</xyz>")
        + make_joint("j2", "a", "b", axis="<xyz>0 1 0</xyz>"),
        "1.4",
    ),
    "version 1.6": make_document(
        make_link("base")
        + make_link("a", "0.1 0.2 0.3 0.4 0.5 0.6")
        + make_link("b", "0.2 0.3 0.7 -0.4 0.1 0.2", attributes='frame=""')
        + ON_WORLD
        + make_joint("j1", "base", "a", axis="<xyz>0.6 0 0.8</xyz><use_parent_model_frame>1</use_parent_model_frame>")
        + make_joint("j2", "a", "b", axis="<xyz>0 1 0</xyz><use_parent_model_frame>0</use_parent_model_frame>"),
        "1.6",
    ),
    "degrees and quaternions": make_document(
        make_link("base")
        + make_link("a", "0.1 0.2 0.3 20 -40 60", attributes='degrees="true"')
        + make_link("b", "0.2 0.3 0.7 0.1 0.3 0.3 0.9", attributes='rotation_format="quat_xyzw"')
        + ON_WORLD
        + make_joint("j1", "base", "a")
        + make_joint("j2", "a", "b")
    ),
    "frames": make_document(
        make_link("base")
        + make_link("a", "0.1 0.2 0.3 0.4 0.5 0.6")
        + '<frame name="flange" attached_to="a"><pose>0.1 0 0.2 0.3 0 0</pose></frame>'
        + '<frame name="tool" attached_to="flange"><pose>0 0.1 0 0 0.2 0</pose></frame>'
        + '<frame name="table"><pose relative_to="a">0 0 -0.3 0 0 1</pose></frame>'
        + make_link("b", "0 0.02 0.1 0 0 0.4", attributes='relative_to="tool"')
        + '<frame name="grip" attached_to="b"><pose>0.01 0.02 0.03 0.1 0.2 0.3</pose></frame>'
        + make_link("c", "0.1 0 0 0 1 0", attributes='relative_to="table"')
        + ON_WORLD
        + make_joint("j1", "base", "a")
        + make_joint("j2", "tool", "grip", axis="<xyz>1 0 0</xyz>")
        + make_joint("j3", "a", "c", axis='<xyz expressed_in="grip">0 1 0</xyz>')
    ),
    "nested models": make_document(
        make_link("base")
        + make_link("a", "0.1 0.2 0.3 0.4 0.5 0.6")
        + '<model name="hand" placement_frame="mount"><pose relative_to="a">0.1 0.2 0.3 0 0.5 0</pose>'
        + make_link("palm", "0.1 0 0 0.2 0 0")
        + '<frame name="mount" attached_to="palm"><pose>0 0 -0.1 0 0 0.3</pose></frame>'
        + make_link("finger", "0.1 0.1 0.2 0 0 0.7", 0.5)
        + make_joint("slide", "palm", "finger", kind="prismatic", axis='<xyz expressed_in="__model__">0 1 0</xyz>')
        + "</model>"
        + ON_WORLD
        + make_joint("j1", "base", "a")
        + make_joint("j2", "a", "hand::palm", axis='<xyz expressed_in="hand::mount">0 0 1</xyz>')
    ),
    "names of models and joints": make_document(
        make_link("base")
        + '<model name="arm" canonical_link="inner::z"><pose>0.1 0 0.2 0.1 0.2 0.3</pose>'
        + make_link("y", "0.1 0 0 0.2 0 0")
        + '<model name="inner"><pose relative_to="k">0 0.1 0.1 0 0.4 0</pose>'
        + make_link("z", "0 0 0.1 0 0 0.7", 0.5)
        + '<frame name="top"><pose>0.2 0 0 0 0 0.1</pose></frame></model>'
        + make_joint("k", "inner", "y", extra="<pose>0 0.05 0 0 0 0.2</pose>", axis="<xyz>1 0 0</xyz>")
        + "</model>"
        + make_link("b", "0.1 0.2 0 0 0 0.3", attributes='relative_to="arm::k"')
        + '<frame name="f" attached_to="arm::inner::top"><pose relative_to="j1">0 0 0.3 0.2 0 0</pose></frame>'
        + ON_WORLD
        + make_joint("j1", "base", "arm", axis='<xyz expressed_in="arm::k">0 0.6 0.8</xyz>')
        + make_joint("j2", "f", "b", axis='<xyz expressed_in="arm::inner::__model__">1 0 0</xyz>')
    ),
    "rotor": make_document(
        make_link("base")
        + make_link("a", "0.1 0.2 0.3 0.4 0.5 0.6")
        + ON_WORLD
        + make_joint(
            "j1",
            "base",
            "a",
            extra="<drake:rotor_inertia>0.002</drake:rotor_inertia><drake:gear_ratio>50</drake:gear_ratio>",
        )
    ).replace("<sdf ", '<sdf xmlns:drake="http://drake.mit.edu" '),
    "planar": make_document(
        make_link("base")
        + make_link("a", "0.1 0.2 0.3 0.4 0.5 0.6")
        + make_link("b", "0.2 0.3 0.7 -0.4 0.1 0.2")
        + ON_WORLD
        + '<drake:joint name="j1" type="planar"><drake:parent>base</drake:parent><drake:child>a</drake:child>'
        "<drake:damping>0.3 0.4 0.5</drake:damping></drake:joint>" + make_joint("j2", "a", "b")
    ).replace("<sdf ", '<sdf xmlns:drake="http://drake.mit.edu" '),
    "universal": make_document(
        make_link("base")
        + make_link("a", "0.1 0.2 0.3 0.4 0.5 0.6")
        + ON_WORLD
        + make_joint(
            "j1",
            "base",
            "a",
            kind="universal",
            axis="<xyz>1 0 0</xyz>",
            extra="<axis2><xyz>0 1 0</xyz></axis2><pose>0 0 -0.1 0.1 0.2 0</pose>",
        )
    ),
    "springs": make_document(
        make_link("base")
        + make_link("a", "0.1 0.2 0.3 0.4 0.5 0.6")
        + ON_WORLD
        + make_joint(
            "j1",
            "base",
            "a",
            axis="<xyz>0 0 1</xyz><dynamics><damping>0.7</damping><friction>0.2</friction>"
            "<spring_stiffness>40</spring_stiffness><spring_reference>0.1</spring_reference></dynamics>",
        )
    ),
    "defaults": make_document(
        make_link("base")
        + '<link name="a"><pose>0.1 0.2 0.3 0.4 0.5 0.6</pose></link>'
        + '<link name="b"><pose>0.4 0.2 0.3 0 0.5 0.6</pose><inertial><mass>3</mass></inertial></link>'
        + ON_WORLD
        + make_joint("j1", "base", "a", axis="<xyz>0.6 0 0.8</xyz>")
        + make_joint("j2", "a", "b", axis="<xyz>1 0 0</xyz>")
    ),
    "screw": make_document(
        make_link("base")
        + make_link("a", "0.1 0.2 0.3 0.4 0.5 0.6")
        + ON_WORLD
        + make_joint("j1", "base", "a", kind="screw", extra="<screw_thread_pitch>0.3</screw_thread_pitch>")
    ),
    "old screw": make_document(
        make_link("base")
        + make_link("a", "0.1 0.2 0.3 0.4 0.5 0.6")
        + ON_WORLD
        + make_joint("j1", "base", "a", kind="screw", extra="<thread_pitch>20</thread_pitch>")
    ),
    "reversed": make_document(
        make_link("a", "0.1 0.2 0.3 0.4 0.5 0.6")
        + make_link("base")
        + make_link("b", "0.2 0.3 0.7 -0.4 0.1 0.2")
        + ON_WORLD
        + make_joint("j1", "a", "base", extra="<pose>0.05 0.06 -0.07 0.3 0.2 0.1</pose>")
        + make_joint("j2", "b", "a", kind="prismatic", axis="<xyz>0.6 0.8 0</xyz>")
    ),
    "box": make_document(
        make_link("base")
        + '<link name="a"><pose>0.1 0.2 0.3 0.4 0.5 0.6</pose><inertial auto="true"><density>600</density></inertial>'
        + '<collision name="c"><pose>0.1 0 0.05 0.2 0 0.4</pose><geometry><box><size>0.1 0.2 0.3</size></box>'
        + '</geometry></collision><collision name="d"><pose>0 0.1 0.2 0 0.3 0</pose><density>900</density>'
        + "<geometry><cylinder><radius>0.06</radius><length>0.2</length></cylinder></geometry></collision></link>"
        + ON_WORLD
        + make_joint("j1", "base", "a", axis="<xyz>0.6 0 0.8</xyz>"),
        "1.11",
    ),
}

MODELS["joint of a world"] = (
    '<sdf version="1.11"><world name="w"><model name="arm"><pose>0.1 0.2 0.3 0.1 0.2 0.3</pose>'
    + make_link("base")
    + make_link("a", "0.1 0.2 0.3 0.4 0.5 0.6")
    + ON_WORLD
    + make_joint("j1", "base", "a")
    + '</model><model name="tool" placement_frame="tip"><pose relative_to="arm">0.3 0 0.5 0 0.1 0</pose>'
    + make_link("tip", "0.1 0 0.1 0 0 0.4")
    + "</model>"
    + make_joint("hold", "arm::a", "tool", kind="fixed", axis="")
    + "</world></sdf>"
)

HAND = make_document(
    "<pose>9 9 9 0 0 0</pose>"
    + make_link("palm", "0.1 0 0 0.2 0 0")
    + '<frame name="mount" attached_to="palm"><pose>0 0 -0.1 0 0 0.3</pose></frame>'
    + make_link("finger", "0.1 0.1 0.2 0 0 0.7", 0.5)
    + make_joint("slide", "palm", "finger", kind="prismatic", axis="<xyz>0 1 0</xyz>"),
    "1.4",
    name="hand",
)
_ARM = make_link("base") + make_link("a", "0.1 0.2 0.3 0.4 0.5 0.6") + ON_WORLD + make_joint("j1", "base", "a")
# Files that include HAND, which is called hand/model.sdf in the same folder.
INCLUDING = {
    "include": make_document(
        _ARM
        + '<include><uri>model://hand/model.sdf</uri><name>gripper</name><pose relative_to="a">0.1 0.2 0.3 0 0.5 0'
        + "</pose><placement_frame>mount</placement_frame></include>"
        + make_joint("j2", "a", "gripper::palm", axis="<xyz>0 1 0</xyz>")
    ),
    "merge": make_document(
        _ARM
        + '<include merge="true"><uri>model://hand/model.sdf</uri><pose relative_to="a">0.1 0.2 0.3 0 0.5 0</pose>'
        + "</include>"
        + make_joint("j2", "a", "palm", axis="<xyz>0 1 0</xyz>"),
        "1.10",
    ),
}

WORLD = (
    '<sdf version="1.9"><world name="w"><model name="table"><static>true</static><link name="top"/></model>'
    + '<frame name="corner"><pose>0.5 0.6 0.7 0.1 0.2 0.3</pose></frame>'
    + '<include><uri>model://hand/model.sdf</uri><pose relative_to="corner">0.1 0.2 0.3 0 0.5 0</pose></include>'
    + '<model name="ball"><link name="ball"/></model></world></sdf>'
)

TORQUES: dict[str, dict[str, float]] = {
    "poses": {"j1": -1.3556500950182435, "j2": 5.634714322064177},
    "joint pose": {"j1": -1.3448358624466352, "j2": 0.10780361323955955},
    "expressed in": {"j1": 1.1081349452462919, "j2": -1.1155612372171706},
    "version 1.4": {"j1": 1.1227577835675717, "j2": -1.1725092124732424},
    "version 1.6": {"j1": 1.1176152351782458, "j2": -1.2106803127849186},
    "degrees and quaternions": {"j1": 1.5023743415359392, "j2": 0.1548177946825694},
    "frames": {"j1": 5.030657364022885, "j2": -1.8915076719376096, "j3": -1.0123701567412196},
    "nested models": {"hand::slide": -0.0233679511957727, "j1": 6.197757654735577, "j2": 2.0419243099872633},
    "names of models and joints": {"arm::k": -2.485801109376073, "j1": -2.4708864349947324, "j2": -0.662122315526847},
    "rotor": {"j1": 1.3251678843321422},
    "joint of a world": {"arm::j1": -1.7312498738589905},
    "planar": {
        "j1.x": 0.6705542353719316,
        "j1.y": 2.5354535263934874,
        "j1.turn": 0.010911117613577367,
        "j2": -0.02792362999629605,
    },
    "universal": {"j1.1": -2.4365874717495406, "j1.2": -2.8695319928547627},
    "springs": {"j1": 8.675167884332142},
    "defaults": {"j1": -0.4064764874209543, "j2": 0.720000000000004},
    "screw": {"j1": 1.083290514830099},
    "old screw": {"j1": -0.4667813481734906},
    "reversed": {"j1": -4.219598049125967, "j2": 3.325107933916025},
    "box": {"j1": 1.104622542798062},
    "include": {"gripper::slide": 0.2803549984553334, "j1": 5.875662143099124, "j2": -3.2966067164780593},
    "merge": {"j1": 5.661291599018695, "slide": 2.5070266374933463, "j2": -2.8048146803825897},
}


def write_models(folder: Path) -> dict[str, Path]:
    """Write all models into a folder, with the hand that some of them include; return their paths by name."""
    (folder / "hand").mkdir()
    (folder / "hand" / "model.sdf").write_text(HAND)
    paths = {}
    for name, text in (MODELS | INCLUDING).items():
        paths[name] = folder / f"{name}.sdf"
        paths[name].write_text(text)
    return paths
