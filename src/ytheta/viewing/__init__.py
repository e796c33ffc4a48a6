"""``view``: a robot in 3-D in the browser, with inertia ellipsoids, collision capsules and motion."""
