"""LLVM assembly of combinations of rows: the rows of every group, times their coefficients, are added to one row."""

from __future__ import annotations

from ytheta.native.codegen.assembly import FunctionBody
from ytheta.native.products.group_assembly import LOAD_GROUP

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
