"""lu1993: the example of the arm with two joints, and the adaptive control of the arm with four joints."""

from ytheta.reproduction.lu1993.paper import reproduce as reproduce
