"""Extensions of vendors' URDFs by motors, couplings and forces, which URDF cannot describe."""

from __future__ import annotations

TX40 = """
extends = "tx40.urdf"
[[motor]]                       # drives joint 6 and also turns with joint 5
name = "motor_6"
turns_with = { joint_5 = 1.0, joint_6 = 1.0 }
"""


KR300 = """
extends = "kr300.urdf"
[[force]]
name = "counterbalance"
value = 1.0
torque = { joint_2 = "h*p*A" }
[force.where]
D = "0.8"
d = "0.2"
delta = "joint_2 + 95*pi/180"
c = "sqrt(D**2 + d**2 - 2*D*d*cos(delta))"
s = "c - (D - d)"
h = "D*d*sin(delta)/c"
A = "pi*(0.055**2 - 0.030**2)/4"
p = "1.01*296.8*328*0.159/(9.6e-4 - s*A)"
"""


MTM = """
extends = "mtm_tree.urdf"
actuated = ["joint_1", "joint_2", "joint_31", "motor_4", "joint_5", "joint_6", "joint_7"]
[[motor]]                       # of joint 4, through cables that the parallelogram winds up
name = "motor_4"
[[coupling]]
joint = "joint_30"
terms = { joint_2 = -1.0, joint_31 = 1.0 }
[[coupling]]
joint = "joint_32"
terms = { joint_2 = 1.0, joint_31 = -1.0 }
[[coupling]]
joint = "joint_4"
terms = { joint_2 = 0.6697, joint_31 = -0.6697, motor_4 = 1.0 }
[[force]]
name = "spring"
torque = { joint_5 = "-arm*(l - 0.0613)" }
[force.where]
r = "0.0075"
h = "0.1035"
angle = "pi + 23*pi/180 - joint_5"
l = "sqrt(r**2 + h**2 - 2*r*h*cos(angle))"
arm = "r*h*sin(angle)/l"
"""
