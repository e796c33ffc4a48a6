"""The default estimator: a prior whose strength, and a model whose parts, the data choose by their evidence."""
