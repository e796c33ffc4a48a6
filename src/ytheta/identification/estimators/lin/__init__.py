"""Lin's identification procedure: the estimator, its model of a serial arm, and the recursion over the joints."""
