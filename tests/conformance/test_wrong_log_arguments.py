"""Arguments of the wrong kind: functions about logs answer with one sentence that says what to give."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

CALLS = {
    "yt.identify(robot, table, settings={'cutoff': 3})": "give PreparationSettings, such as PreparationSettings(cutoff",
    "yt.identify(robot, table, cutoff='high')": "cutoff is 'high'; give a positive number of Hz, or \"auto\"",
    "yt.identify(robot, table, settings=yt.PreparationSettings(cutoff=None))": "cutoff is None; give a positive number",
    "yt.identify(robot, table, settings=yt.PreparationSettings(decimate=1.5))": "decimate is 1.5; give n to keep every",
    "yt.identify(robot, table, estimator=None)": "estimator is None; give an estimator or a name: auto, ",
    "yt.identify(robot, table, estimator='recursive', forgetting='a')": "forgetting is 'a'; give a factor per sample",
    "yt.identify(robot, table, hold_out='a')": "hold_out is 'a'; give a percentage",
    "yt.identify(robot, table, hold_out=99)": "99, which leaves 10 of 1000 samples for the fit; hold out less",
    "yt.identify(robot, table, hold_out=1)": "leaves 10 of 1000 samples for the validation; hold out more",
    "yt.identify(robot, table, threads='a')": "threads is 'a'",
    "yt.identify(robot, table, friction='viscous,coulomb')": "such as ('viscous', 'coulomb'), not a single string",
    "yt.identify(robot, table, parameters=[3])": "parameters is [3]; give a list of names or patterns",
    "yt.predict(robot, table, settings={'cutoff': 3})": "give PreparationSettings, such as",
    "yt.predict(robot, table).save(None)": "the path of the file to write is None; give the name of a file",
    "yt.predict(robot, table).report(None)": "the path of the file to write is None",
    "yt.read_log(table, robot, mapping=3)": "mapping is a value of type int; give a TOML file, or a dict",
    "yt.read_log('', robot)": "the path of the log is empty",
    "yt.read_model(None)": "the path of the model is None",
    "yt.write_log(None, 'a.csv')": "None is not a Log; read it with read_log(path, robot)",
    "yt.write_log(yt.read_log(table, robot), None)": "the path of the file to write is None",
    "yt.find_repeated_motion('run.csv', yt.read_log(table, robot))": "'run.csv' is not a Log; read it with read_log",
}

# In a process of its own, because the tests check types before the functions do.
SCRIPT = """
import json, sys
import numpy as np
import ytheta as yt

robot, t = yt.load("lu-two-link"), np.arange(1000) / 100.0
q = np.stack([np.sin(2.0 * t), np.cos(3.0 * t)], axis=1)
table = {"t": t, "q": q, "tau": 5.0 * np.cos(q)}
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


def test_wrong_arguments_are_one_sentence(tmp_path: Path) -> None:
    command = [sys.executable, "-c", SCRIPT, json.dumps(list(CALLS))]
    result = subprocess.run(command, check=True, cwd=tmp_path, capture_output=True, text=True)
    answers = json.loads(result.stdout)
    assert {call: answers[call] for call, expected in CALLS.items() if expected not in answers[call]} == {}
