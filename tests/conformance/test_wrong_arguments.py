"""Arguments of the wrong kind: functions about robots answer with one sentence that says what to give."""

from __future__ import annotations

import json
import subprocess
import sys

from tests.support.paths import ROOT

CALLS = {
    "yt.load(None)": "source is None; give the name of a robot in the catalog",
    "yt.load('')": "the name of the robot is empty; give the name of a robot in the catalog",
    "yt.load('ur10', snap='a')": "snap is 'a'; give an angle in rad",
    "yt.load('lu-two-link', lengths='l1')": "lengths is 'l1'; give a dictionary",
    "yt.load('lu-two-link', lengths={'l1': 'a'})": "the length 'l1' is 'a'; give a finite number in metres",
    "yt.load('lu-two-link', lengths={1: 2.0})": "has no length '1'; did you mean 'l1'?",
    "yt.load('lu-two-link', angles='alpha')": "angles is 'alpha'; give a dictionary of numbers in radians",
    "yt.load('lu-two-link', angles={'alpha': 0.5})": "has no angle 'alpha'",
    "yt.inspect(loops, at='left')": "at is 'left'; give a dictionary of positions",
    "yt.inspect(loops, at={'q5': 'a'})": "the position of 'q5' is 'a'; give a number in rad or m",
    "yt.close_loops(loops, 'left')": "actuated is 'left'; give a dictionary of positions",
    "yt.base_parameters(robot, friction=3)": "friction is 3; give a list of kinds",
    "yt.base_parameters(robot, parameters=[3])": "parameters is [3]; give a list of names or patterns",
    "yt.base_parameters(robot, parameters='link*, *.fv')": "such as ('link*', '*.fv'), not a single string",
    "yt.base_parameters(robot, friction='viscous,coulomb')": "such as ('viscous', 'coulomb'), not a single string",
    "yt.base_parameters(robot).minimum_norm('a')": "beta must be 6 finite numbers, not 'a'",
    "yt.regressor(robot, 'x')": "base is 'x'; give the value of base_parameters(robot)",
    "yt.inverse_dynamics(robot, wrench_at='tool')": "robot 'lu-two-link' has no link or marker 'tool'; choose from: ",
    "yt.inverse_dynamics(robot, wrench_at=3)": "wrench_at is 3; give a list of names of links or markers",
    "yt.forward_dynamics(robot, wrench_at='load', wrench_axes=3)": "wrench_axes is 3; choose from: base, frame",
    "yt.forward_dynamics(robot, method=3)": "forward dynamics has no method 3; choose from: composite-body, "
    "inertia-constants, regressor",
    "yt.jacobian(robot, 3)": "frame is 3; give the name of a link or marker",
    "yt.jacobian(robot, ['load'])": "frame is ['load']; give the name of a link or marker",
    "yt.gravity(robot)([[0.0, 0.0]], threads='x')": "threads is 'x'; give a whole number of at least 1",
    "yt.gravity(robot)([[0.0, 0.0]], threads=2.5)": "threads is 2.5; give a whole number of at least 1",
    "yt.gravity(robot)([[0.0, 0.0]], threads=True)": "threads is True; give a whole number of at least 1",
    "yt.gravity(robot)([[0.0, 0.0]], threads=0)": "threads is 0; give a whole number of at least 1",
    "yt.gravity(robot)([[0.0, 0.0]], threads=float('nan'))": "threads is nan; give a whole number of at least 1",
    "yt.gravity(yt.load('five-bar'))([[0.0, 0.0]], threads=1.5)": "threads is 1.5; give a whole number of at least 1",
    "yt.gravity(yt.load('five-bar'))([[0.0, 0.0]], threads=-1)": "threads is -1; give a whole number of at least 1",
    "yt.regressor(robot)(*3 * [[[0.0, 0.0]]], threads=1.5)": "threads is 1.5; give a whole number of at least 1",
    "yt.gravity(robot).blocks([[0.0, 0.0]], size=2.5)": "size is 2.5; give a whole number of at least 1",
    "yt.save_robot(robot, None)": "the path of the file to write is None; give the name of a file",
    "robot.with_load(None, name='tool')": "the inertia of link 'tool' is None; give an Inertia",
    "robot.with_load(yt.Inertia(), name=3)": "the name of a link is 3; give a text",
    "robot.with_load(yt.Inertia(), name='tool', frame=3)": "is 3; give a Frame",
    "robot.with_inertias(3)": "inertias is 3; give a dictionary",
    "yt.Frame.turn('z', 1.0)": "axis is 'z'; give three finite numbers",
    "yt.Inertia.point_mass('a', (0.0, 0.0, 0.0))": "mass is 'a'; give a mass in kg",
    "yt.reduce_parameters(1.7, 'general')": "inertia is 1.7; give an Inertia, such as robot.link(name).inertia",
    "yt.reduce_parameters(yt.Inertia(), None)": "case is None; give one of general, point-mass, center-on-x, center-on",
    "yt.derive_link_regressor(robot, 'load', case=3)": "case is 3; give one of general, point-mass",
    "yt.derive_link_regressor(robot, 3)": "robot 'lu-two-link' has no moving link 3; choose from: link1, link2, load",
    "yt.reproduce(3)": "paper is 3; give the name of a paper, such as 'lu1993'",
    "yt.reproduce('lu')": "there is no paper 'lu'; choose from: all, fernandez2000, ha1989",
    "yt.Reproduction(()).report(3)": "path is 3; give the name of a file",
    "yt.gravity(yt.base_parameters(robot))": "by lin) is not a robot, but has one; give its attribute 'robot'",
}

# In a process of its own, because the tests check types before the functions do.
SCRIPT = """
import json, sys
import ytheta as yt

robot, loops = yt.load("lu-two-link"), yt.load("walker")
assert len(yt.base_parameters(robot, friction=None, parameters=None)) == len(yt.base_parameters(robot))
answers = {}
for call in json.loads(sys.argv[1]):
    try:
        answers[call] = repr(eval(call))
    except yt.errors.InputError as error:
        answers[call] = str(error)
    except Exception as error:
        answers[call] = repr(error)
print(json.dumps(answers))
"""


def test_wrong_arguments_are_one_sentence() -> None:
    command = [sys.executable, "-c", SCRIPT, json.dumps(list(CALLS))]
    result = subprocess.run(command, check=True, cwd=ROOT, capture_output=True, text=True)
    answers = json.loads(result.stdout)
    assert {call: answers[call] for call, expected in CALLS.items() if expected not in answers[call]} == {}
