"""LLVM assembly of sums over groups of rows: products between the rows of a group, and combinations of rows.

Rows are taken in tiles of T. The products of two tiles are T² running sums of vectors, which stay in registers while
the samples pass by. At the end the lanes of these sums are added. Tiles are filled up with copies of the right side, so
every group has a whole number of tiles.
"""

from __future__ import annotations

from ytheta.native.codegen.assembly import FunctionBody


def emit_add_products(lanes: int, tile: int, samples_in_cache: int) -> list[str]:
    """Return ``@add_products`` and the functions that it calls.

    All products of ``samples_in_cache`` samples are computed before those of the next ones.
    """
    return [_emit_add_tile(lanes, tile), _emit_add_group(tile), _emit_add_all_groups(tile, samples_in_cache)]


def _emit_add_tile(lanes: int, tile: int) -> str:
    """Return ``@add_tile(left, right, samples, out, stride)``: adds the products of two tiles to a square of ``out``.

    ``left`` and ``right`` point to the addresses of the rows of the two tiles.
    """
    code = FunctionBody(lanes)
    v, square = code.vector, range(tile * tile)
    code.emit("entry:")
    rows = [_load_pointer(code, side, k) for side in ("%left", "%right") for k in range(tile)]
    whole = code.assign(f"and i64 %samples, {-lanes}")
    code.emit(f"br i1 {code.assign(f'icmp eq i64 {whole}, 0')}, label %reduce, label %loop")
    code.emit("loop:")
    code.emit("%j = phi i64 [0, %entry], [%j.next, %loop]")
    for k in square:
        code.emit(f"%sum{k} = phi {v} [zeroinitializer, %entry], [%sum{k}.next, %loop]")
    values = [code.assign(f"load {v}, ptr {code.compute_address(row, '%j')}, align 8") for row in rows]
    for k in square:
        a, b = values[k // tile], values[tile + k % tile]
        code.emit(
            f"%sum{k}.next = call {v} @llvm.fmuladd.{code.suffix}({v} {a}, {v} {b}, {v} %sum{k})",
        )
    code.emit(f"%j.next = add i64 %j, {lanes}")
    code.emit(f"br i1 {code.assign(f'icmp ult i64 %j.next, {whole}')}, label %loop, label %reduce")
    code.emit("reduce:")
    for k in square:
        code.emit(f"%total{k} = phi {v} [zeroinitializer, %entry], [%sum{k}.next, %loop]")
    totals = _add_lanes(code, [f"%total{k}" for k in square])
    code.emit(f"br i1 {code.assign(f'icmp eq i64 {whole}, %samples')}, label %store, label %rest")
    code.emit("rest:")  # samples that do not fill a vector
    code.emit(f"%r = phi i64 [{whole}, %reduce], [%r.next, %rest]")
    for k in square:
        code.emit(f"%scalar{k} = phi double [{totals[k]}, %reduce], [%scalar{k}.next, %rest]")
    scalars = [code.assign(f"load double, ptr {code.compute_address(row, '%r')}, align 8") for row in rows]
    for k in square:
        a, b = scalars[k // tile], scalars[tile + k % tile]
        code.emit(f"%scalar{k}.next = call double @llvm.fmuladd.f64(double {a}, double {b}, double %scalar{k})")
    code.emit("%r.next = add i64 %r, 1")
    code.emit("br i1 " + code.assign("icmp ult i64 %r.next, %samples") + ", label %rest, label %store")
    code.emit("store:")
    for k in square:
        code.emit(f"%final{k} = phi double [{totals[k]}, %reduce], [%scalar{k}.next, %rest]")
    for i in range(tile):
        line = code.compute_address("%out", code.assign(f"mul i64 %stride, {i}"))
        for j in range(tile):
            address = code.compute_address(line, j)
            before = code.assign(f"load double, ptr {address}, align 8")
            code.emit(
                f"store double {code.assign(f'fadd double {before}, %final{tile * i + j}')}, ptr {address}, align 8"
            )
    code.emit("ret void")
    arguments = "ptr %left, ptr %right, i64 %samples, ptr %out, i64 %stride"
    return f"define internal void @add_tile({arguments}) #0 {{\n{code}\n}}"


def _emit_add_group(tile: int) -> str:
    """Return ``@add_group(values, stride, count, right, samples, tiles, only_right, out)``.

    It adds the products of one group to ``out``, a square matrix in tiles of which those on and below the diagonal are
    used; if ``only_right``, only the last row of tiles is computed, which contains the right side.
    """
    return f"""define internal void @add_group(ptr %values, i64 %stride, i64 %count, ptr %right, i64 %samples,
                                i64 %tiles, i64 %only_right, ptr %out) #0 {{
entry:
  %length = mul i64 %tiles, {tile}
  %band = mul i64 %length, {tile}
  %rows = alloca ptr, i64 %length, align 8
  br label %address
address:
  %k = phi i64 [0, %entry], [%k.next, %address]
  %offset = mul i64 %k, %stride
  %row = getelementptr double, ptr %values, i64 %offset
  %is_value = icmp ult i64 %k, %count
  %chosen = select i1 %is_value, ptr %row, ptr %right
  %place = getelementptr ptr, ptr %rows, i64 %k
  store ptr %chosen, ptr %place, align 8
  %k.next = add i64 %k, 1
  %more.addresses = icmp ult i64 %k.next, %length
  br i1 %more.addresses, label %address, label %begin
begin:
  %last = sub i64 %tiles, 1
  %is_short = icmp ne i64 %only_right, 0
  %first = select i1 %is_short, i64 %last, i64 0
  br label %line
line:
  %i = phi i64 [%first, %begin], [%i.next, %line.end]
  %left.index = mul i64 %i, {tile}
  %left = getelementptr ptr, ptr %rows, i64 %left.index
  %line.offset = mul i64 %i, %band
  %target.line = getelementptr double, ptr %out, i64 %line.offset
  br label %square
square:
  %j = phi i64 [0, %line], [%j.next, %square]
  %column = mul i64 %j, {tile}
  %upper = getelementptr ptr, ptr %rows, i64 %column
  %target = getelementptr double, ptr %target.line, i64 %column
  call void @add_tile(ptr %left, ptr %upper, i64 %samples, ptr %target, i64 %length)
  %j.next = add i64 %j, 1
  %more.squares = icmp ule i64 %j.next, %i
  br i1 %more.squares, label %square, label %line.end
line.end:
  %i.next = add i64 %i, 1
  %more.lines = icmp ult i64 %i.next, %tiles
  br i1 %more.lines, label %line, label %done
done:
  ret void
}}"""


def _emit_add_all_groups(tile: int, samples_in_cache: int) -> str:
    """Return ``@add_products``, which adds the products of all groups to their matrices, one after the other."""
    return f"""define void @add_products(ptr %values, i64 %stride, ptr %right, i64 %right.stride, i64 %samples,
                          ptr %groups, i64 %count, i64 %only_right, ptr %out) #0 {{
entry:
  %any = icmp ne i64 %count, 0
  br i1 %any, label %chunk, label %done
chunk:
  %s = phi i64 [0, %entry], [%s.next, %chunk.end]
  %left = sub i64 %samples, %s
  %is_short = icmp ult i64 %left, {samples_in_cache}
  %width = select i1 %is_short, i64 %left, i64 {samples_in_cache}
  br label %group
group:
  %g = phi i64 [0, %chunk], [%g.next, %group]
  %matrix = phi ptr [%out, %chunk], [%matrix.next, %group]
  {LOAD_GROUP}
  %filled = add i64 %rows, {tile}
  %tiles = udiv i64 %filled, {tile}
  %right.offset = mul i64 %g, %right.stride
  %right.start = add i64 %right.offset, %s
  %right.row = getelementptr double, ptr %right, i64 %right.start
  %row.start = getelementptr double, ptr %row, i64 %s
  call void @add_group(ptr %row.start, i64 %stride, i64 %rows, ptr %right.row, i64 %width, i64 %tiles, i64 %only_right,
                       ptr %matrix)
  %length = mul i64 %tiles, {tile}
  %area = mul i64 %length, %length
  %matrix.next = getelementptr double, ptr %matrix, i64 %area
  %g.next = add i64 %g, 1
  %more = icmp ult i64 %g.next, %count
  br i1 %more, label %group, label %chunk.end
chunk.end:
  %s.next = add i64 %s, %width
  %more.samples = icmp ult i64 %s.next, %samples
  br i1 %more.samples, label %chunk, label %done
done:
  ret void
}}"""


def _load_pointer(code: FunctionBody, table: str, k: int) -> str:
    address = code.assign(f"getelementptr ptr, ptr {table}, i64 {k}")
    return code.assign(f"load ptr, ptr {address}, align 8")


def _add_lanes(code: FunctionBody, vectors: list[str]) -> list[str]:
    """Return the sums of the lanes of every vector: neighbours of two vectors are added until one lane is left each."""
    v, lanes = code.vector, code.lanes
    sums: list[str] = []
    for first in range(0, len(vectors), lanes):
        group = vectors[first : first + lanes]
        used = len(group)
        group += [group[-1]] * (lanes - used)
        while len(group) > 1:
            group = [_add_neighbours(code, a, b) for a, b in zip(group[::2], group[1::2], strict=True)]
        sums += [code.assign(f"extractelement {v} {group[0]}, i32 {k}") for k in range(used)]
    return sums


def _add_neighbours(code: FunctionBody, a: str, b: str) -> str:
    v, lanes = code.vector, code.lanes
    halves = []
    for offset in (0, 1):
        mask = ", ".join(f"i32 {2 * k + offset}" for k in range(lanes))
        halves.append(code.assign(f"shufflevector {v} {a}, {v} {b}, <{lanes} x i32> <{mask}>"))
    return code.assign(f"fadd {v} {halves[0]}, {halves[1]}")


# LLVM assembly of combinations of rows: the rows of every group, times their coefficients, are added to one row.


_ROWS_AT_ONCE = 4  # the sums are loaded and stored once for this number of rows


def emit_add_combinations(lanes: int) -> list[str]:
    """Return ``@add_combinations`` and the functions that it calls."""
    return [*(_emit_add_rows(lanes, rows) for rows in (_ROWS_AT_ONCE, 1)), _emit_add_all_rows()]


def _emit_add_rows(lanes: int, rows: int) -> str:
    """Return ``@add_rows<n>(values, stride, coefficients, samples, out)``: adds a combination of n rows to a row."""
    code = FunctionBody(lanes)
    v = code.vector
    code.emit("entry:")
    starts = [code.compute_address("%values", code.assign(f"mul i64 %stride, {k}")) for k in range(rows)]
    factors = [
        code.assign(f"load double, ptr {code.compute_address('%coefficients', k)}, align 8") for k in range(rows)
    ]
    vectors = [code.splat(factor) for factor in factors]
    whole = code.assign(f"and i64 %samples, {-lanes}")
    code.emit(f"br i1 {code.assign(f'icmp eq i64 {whole}, 0')}, label %check, label %loop")
    for label, kind, factor_names, step, end, suffix in (
        ("loop", v, vectors, lanes, whole, code.suffix),
        ("rest", "double", factors, 1, "%samples", "f64"),
    ):
        before, after = ("entry", "check") if label == "loop" else ("check", "done")
        start = "0" if label == "loop" else whole
        code.emit(f"{label}:")
        code.emit(f"%{label}.j = phi i64 [{start}, %{before}], [%{label}.next, %{label}]")
        target = code.compute_address("%out", f"%{label}.j")
        total = code.assign(f"load {kind}, ptr {target}, align 8")
        for row, factor in zip(starts, factor_names, strict=True):
            value = code.assign(f"load {kind}, ptr {code.compute_address(row, f'%{label}.j')}, align 8")
            total = code.assign(f"call {kind} @llvm.fmuladd.{suffix}({kind} {value}, {kind} {factor}, {kind} {total})")
        code.emit(f"store {kind} {total}, ptr {target}, align 8")
        code.emit(f"%{label}.next = add i64 %{label}.j, {step}")
        code.emit(f"br i1 {code.assign(f'icmp ult i64 %{label}.next, {end}')}, label %{label}, label %{after}")
        if label == "loop":
            code.emit("check:")
            code.emit(f"br i1 {code.assign(f'icmp eq i64 {whole}, %samples')}, label %done, label %rest")
    code.emit("done:")
    code.emit("ret void")
    arguments = "ptr %values, i64 %stride, ptr %coefficients, i64 %samples, ptr %out"
    return f"define internal void @add_rows{rows}({arguments}) #0 {{\n{code}\n}}"


def _emit_add_all_rows() -> str:
    """Return ``@add_combinations``: adds the rows of every group, times their coefficients, to one row of ``out``."""
    return f"""define void @add_combinations(ptr %values, i64 %stride, ptr %coefficients, i64 %samples, ptr %groups,
                              i64 %count, ptr %out, i64 %out.stride) #0 {{
entry:
  %any = icmp ne i64 %count, 0
  br i1 %any, label %group, label %done
group:
  %g = phi i64 [0, %entry], [%g.next, %group.end]
  {LOAD_GROUP}
  %out.offset = mul i64 %g, %out.stride
  %target = getelementptr double, ptr %out, i64 %out.offset
  %factors = getelementptr double, ptr %coefficients, i64 %first
  br label %check
check:
  %k = phi i64 [0, %group], [%k.wide, %wide], [%k.narrow, %narrow]
  %left = sub i64 %rows, %k
  %offset = mul i64 %k, %stride
  %start = getelementptr double, ptr %row, i64 %offset
  %factor = getelementptr double, ptr %factors, i64 %k
  %is_wide = icmp uge i64 %left, {_ROWS_AT_ONCE}
  br i1 %is_wide, label %wide, label %remaining
wide:
  call void @add_rows{_ROWS_AT_ONCE}(ptr %start, i64 %stride, ptr %factor, i64 %samples, ptr %target)
  %k.wide = add i64 %k, {_ROWS_AT_ONCE}
  br label %check
remaining:
  %any.left = icmp ne i64 %left, 0
  br i1 %any.left, label %narrow, label %group.end
narrow:
  call void @add_rows1(ptr %start, i64 %stride, ptr %factor, i64 %samples, ptr %target)
  %k.narrow = add i64 %k, 1
  br label %check
group.end:
  %g.next = add i64 %g, 1
  %more = icmp ult i64 %g.next, %count
  br i1 %more, label %group, label %done
done:
  ret void
}}"""


# LLVM assembly that reads the table of row groups.
#
# A group is ``count`` successive rows of a matrix, and one more row, its right side. The table has two integers per
# group: the first row and the count.


# The first row and the number of rows of group %g, and the address of its first row.
LOAD_GROUP = """%entry.index = shl i64 %g, 1
  %entry.address = getelementptr i64, ptr %groups, i64 %entry.index
  %first = load i64, ptr %entry.address, align 8
  %rows.address = getelementptr i64, ptr %entry.address, i64 1
  %rows = load i64, ptr %rows.address, align 8
  %row.offset = mul i64 %first, %stride
  %row = getelementptr double, ptr %values, i64 %row.offset"""
