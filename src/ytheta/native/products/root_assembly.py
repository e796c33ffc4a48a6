"""LLVM assembly of the square-root update of a covariance: the function ``@update_root``.

Reference   J. E. Potter, in R. Battin, "Astronautical Guidance", McGraw-Hill 1964, pp. 338-340: one scalar equation
Notation    S       root of the covariance, P = S Sᵀ                        n x n, row by row
            a       row of the equations                                    n
            phi     Sᵀ a                                                    n
            s       variance of the equation's residual: noise + phi·phi
Equations   x += S phi (residual - a·x) / s;    S -= S phi phiᵀ / (s + sqrt(noise · s))
"""

from __future__ import annotations

from ytheta.native.codegen.assembly import FunctionBody


def emit_root_update(lanes: int) -> list[str]:
    """Return the declarations and functions of ``@update_root``; it uses the functions of ``emit_products_module``."""
    v = f"<{lanes} x double>"
    return [
        f"declare double @llvm.vector.reduce.fadd.v{lanes}f64(double, {v})",
        "declare double @llvm.sqrt.f64(double)",
        _emit_dot(lanes),
        _UPDATE_ROOT,
    ]


def _emit_dot(lanes: int) -> str:
    """Return ``@dot(a, b, count)``."""
    code = FunctionBody(lanes)
    v = code.vector
    code.emit("entry:")
    whole = code.assign(f"and i64 %count, {-lanes}")
    code.emit(f"br i1 {code.assign(f'icmp eq i64 {whole}, 0')}, label %add, label %loop")
    code.emit("loop:")
    code.emit("%k = phi i64 [0, %entry], [%k.next, %loop]")
    code.emit(f"%sum = phi {v} [zeroinitializer, %entry], [%sum.next, %loop]")
    x, y = (code.assign(f"load {v}, ptr {code.compute_address(pointer, '%k')}, align 8") for pointer in ("%a", "%b"))
    code.emit(f"%sum.next = call {v} @llvm.fmuladd.{code.suffix}({v} {x}, {v} {y}, {v} %sum)")
    code.emit(f"%k.next = add i64 %k, {lanes}")
    code.emit(f"br i1 {code.assign(f'icmp ult i64 %k.next, {whole}')}, label %loop, label %add")
    code.emit("add:")
    code.emit(f"%total = phi {v} [zeroinitializer, %entry], [%sum.next, %loop]")
    start = code.assign(f"call reassoc double @llvm.vector.reduce.fadd.{code.suffix}(double 0.0, {v} %total)")
    code.emit(f"br i1 {code.assign(f'icmp eq i64 {whole}, %count')}, label %done, label %rest")
    code.emit("rest:")
    code.emit(f"%r = phi i64 [{whole}, %add], [%r.next, %rest]")
    code.emit(f"%scalar = phi double [{start}, %add], [%scalar.next, %rest]")
    p, q = (code.assign(f"load double, ptr {code.compute_address(pointer, '%r')}, align 8") for pointer in ("%a", "%b"))
    code.emit(f"%scalar.next = call double @llvm.fmuladd.f64(double {p}, double {q}, double %scalar)")
    code.emit("%r.next = add i64 %r, 1")
    code.emit(f"br i1 {code.assign('icmp ult i64 %r.next, %count')}, label %rest, label %done")
    code.emit("done:")
    code.emit(f"%result = phi double [{start}, %add], [%scalar.next, %rest]")
    code.emit("ret double %result")
    return f"define internal double @dot(ptr %a, ptr %b, i64 %count) #0 {{\n{code}\n}}"


_UPDATE_ROOT = """define void @update_root(ptr %root, i64 %n, ptr %equations, ptr %noise, ptr %residual, i64 %m, ptr %x,
                         ptr %phi) #0 {
entry:
  %group = alloca [2 x i64], align 8
  %factor = alloca double, align 8
  store i64 0, ptr %group, align 8
  %group.count = getelementptr i64, ptr %group, i64 1
  store i64 %n, ptr %group.count, align 8
  %any.equations = icmp ne i64 %m, 0
  %any.unknowns = icmp ne i64 %n, 0
  %any = and i1 %any.equations, %any.unknowns
  br i1 %any, label %equation, label %done
equation:
  %j = phi i64 [0, %entry], [%j.next, %equation.end]
  %offset = mul i64 %j, %n
  %a = getelementptr double, ptr %equations, i64 %offset
  br label %clear
clear:
  %c = phi i64 [0, %equation], [%c.next, %clear]
  %place = getelementptr double, ptr %phi, i64 %c
  store double 0.0, ptr %place, align 8
  %c.next = add i64 %c, 1
  %more.places = icmp ult i64 %c.next, %n
  br i1 %more.places, label %clear, label %project
project:
  call void @add_combinations(ptr %root, i64 %n, ptr %a, i64 %n, ptr %group, i64 1, ptr %phi, i64 %n)
  %square = call double @dot(ptr %phi, ptr %phi, i64 %n)
  %noise.address = getelementptr double, ptr %noise, i64 %j
  %variance = load double, ptr %noise.address, align 8
  %s = fadd double %variance, %square
  %before = call double @dot(ptr %a, ptr %x, i64 %n)
  %residual.address = getelementptr double, ptr %residual, i64 %j
  %measured = load double, ptr %residual.address, align 8
  %innovation = fsub double %measured, %before
  %gain = fdiv double %innovation, %s
  %product = fmul double %variance, %s
  %root.product = call double @llvm.sqrt.f64(double %product)
  %denominator = fadd double %s, %root.product
  %shrink = fdiv double -1.0, %denominator
  br label %row
row:
  %i = phi i64 [0, %project], [%i.next, %row]
  %row.offset = mul i64 %i, %n
  %line = getelementptr double, ptr %root, i64 %row.offset
  %w = call double @dot(ptr %line, ptr %phi, i64 %n)
  %x.address = getelementptr double, ptr %x, i64 %i
  %x.before = load double, ptr %x.address, align 8
  %change = fmul double %w, %gain
  %x.after = fadd double %x.before, %change
  store double %x.after, ptr %x.address, align 8
  %weight = fmul double %w, %shrink
  store double %weight, ptr %factor, align 8
  call void @add_rows1(ptr %phi, i64 0, ptr %factor, i64 %n, ptr %line)
  %i.next = add i64 %i, 1
  %more.rows = icmp ult i64 %i.next, %n
  br i1 %more.rows, label %row, label %equation.end
equation.end:
  %j.next = add i64 %j, 1
  %more = icmp ult i64 %j.next, %m
  br i1 %more, label %equation, label %done
done:
  ret void
}"""
