"""The command in its shell: first steps, versions, completion, layout of the help."""
