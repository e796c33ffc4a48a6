"""Closed-form regressor by Lagrange's equation: link Jacobians, assembly, the general link, short formulas."""

from ytheta.dynamics.formulations.lagrange.lagrange import explain_refusal as explain_refusal
from ytheta.dynamics.formulations.lagrange.lagrange import link_jacobian as link_jacobian
from ytheta.dynamics.formulations.lagrange.lagrange import momentum as momentum
from ytheta.dynamics.formulations.lagrange.lagrange import momentum_rate as momentum_rate
from ytheta.dynamics.formulations.lagrange.lagrange import point_mass_columns as point_mass_columns
from ytheta.dynamics.formulations.lagrange.lagrange import regressor as regressor
from ytheta.dynamics.formulations.lagrange.lagrange import regressor_sixteen as regressor_sixteen
from ytheta.dynamics.formulations.lagrange.lagrange import remainder as remainder
from ytheta.dynamics.formulations.lagrange.lagrange import sixteen_columns as sixteen_columns
from ytheta.dynamics.formulations.lagrange.principal_axes import principal_axes_columns as principal_axes_columns
