"""fernandez2000: the regressor by Kronecker products, and adaptive control of a PUMA with six joints."""

from ytheta.reproduction.fernandez2000.paper import reproduce as reproduce
