"""Settings of controllers and simulators: loads, friction tables, actuator parameters."""
