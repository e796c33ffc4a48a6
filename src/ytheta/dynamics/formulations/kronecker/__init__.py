"""Lagrange–Euler regressor by Kronecker products: operators, homogeneous transforms, and the regressor."""

from ytheta.dynamics.formulations.kronecker.kronecker import explain_refusal as explain_refusal
from ytheta.dynamics.formulations.kronecker.kronecker import regressor as regressor
