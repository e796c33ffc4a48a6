"""A URDF with one joint, for tests of the command."""

from __future__ import annotations

FIXED_TOOL = """
  <link name="tool">
    <inertial><mass value="0.1"/><inertia ixx="1e-4" ixy="0" ixz="0" iyy="1e-4" iyz="0" izz="3e-4"/></inertial>
  </link>
  <joint name="flange" type="fixed"><parent link="upper"/><child link="tool"/></joint>
"""


ARM = """<robot name="arm">
  <link name="base"/>
  <link name="upper">
    <inertial><mass value="2"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>
  </link>
  <joint name="q1" type="revolute">
    <parent link="base"/><child link="upper"/><axis xyz="0 0 1"/>
    <limit lower="-1" upper="1" velocity="2" effort="3"/>
  </joint>
  <gazebo reference="upper"/><transmission name="t"><type>x</type></transmission>
</robot>
"""
