"""Mutation testing: one small change of the source at a time; the tests of the module must fail for it."""
