"""The steps of an identification: preparing the logs, choosing the model, estimating, judging, finding the bodies."""
