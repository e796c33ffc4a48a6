"""Export to C99: functions of a robot and steps of controllers, with a header, a self-test and a CMake file."""
