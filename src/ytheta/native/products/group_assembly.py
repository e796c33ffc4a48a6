"""LLVM assembly that reads the table of row groups.

A group is ``count`` successive rows of a matrix, and one more row, its right side. The table has two integers per
group: the first row and the count.
"""

from __future__ import annotations

# The first row and the number of rows of group %g, and the address of its first row.
LOAD_GROUP = """%entry.index = shl i64 %g, 1
  %entry.address = getelementptr i64, ptr %groups, i64 %entry.index
  %first = load i64, ptr %entry.address, align 8
  %rows.address = getelementptr i64, ptr %entry.address, i64 1
  %rows = load i64, ptr %rows.address, align 8
  %row.offset = mul i64 %first, %stride
  %row = getelementptr double, ptr %values, i64 %row.offset"""
