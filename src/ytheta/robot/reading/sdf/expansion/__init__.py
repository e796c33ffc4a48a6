"""The SDF document with all included models, and the files that it refers to."""
