"""The structure of a robot, as functions of its parts: tree, geometry, coordinates, symbols, merged links."""
