"""Around the chunks, tile by tile: samples become rows, rows of values become blocks or a dense array.

A tile is a few groups of lanes, so that all of it stays in the nearest cache. ``@pack`` turns arrays of shape
(samples, size) into rows and sees on the way whether every number is finite. A ragged end repeats its last sample: the
chunks always work on full groups, and nothing is read or written out of bounds. ``@unpack`` turns rows of values into
the dense array, zeros included.
"""

from __future__ import annotations

from ytheta.native.chunks import ARGUMENTS
from ytheta.native.layout import Layout
from ytheta.native.text import Code


def pack(layout: Layout) -> str:
    """``@pack(rows, size, valid, groups, to)``: true where a number is not finite."""
    lanes, code = layout.lanes, Code(layout.lanes)
    v = code.vector
    code.put("entry:")
    code.put("%top = sub i64 %valid, 1")
    code.put("br label %group")
    code.put("group:")
    code.put("%g = phi i64 [0, %entry], [%g.next, %group.end]")
    code.put(f"%seen = phi {v} [zeroinitializer, %entry], [%sum.next, %group.end]")
    code.put(f"%j = mul i64 %g, {lanes}")
    samples = []
    for lane in range(lanes):
        index = code.do(f"add i64 %j, {lane}")
        within = code.do(f"call i64 @llvm.umin.i64(i64 {index}, i64 %top)")
        samples.append(code.at("%rows", code.do(f"mul i64 {within}, %size")))
    to = code.at("%to", "%j")
    code.put("br label %element")
    code.put("element:")
    code.put("%e = phi i64 [0, %group], [%e.next, %element]")
    code.put(f"%sum = phi {v} [%seen, %group], [%sum.next, %element]")
    value = "poison"
    for lane in range(lanes):
        x = code.do(f"load double, ptr {code.at(samples[lane], '%e')}, align 8")
        value = code.do(f"insertelement {v} {value}, double {x}, i32 {lane}")
    code.store(value, code.at(to, code.do(f"mul i64 %e, {layout.tile}")))
    # x times zero is zero, or not a number where x is not finite; then the sum stays so.
    nothing = code.do(f"fmul contract {v} {value}, zeroinitializer")
    code.put(f"%sum.next = fadd contract {v} %sum, {nothing}")
    code.put("%e.next = add i64 %e, 1")
    code.put("%e.more = icmp ult i64 %e.next, %size")
    code.put("br i1 %e.more, label %element, label %group.end")
    code.put("group.end:")
    code.put("%g.next = add i64 %g, 1")
    code.put("%g.more = icmp ult i64 %g.next, %groups")
    code.put("br i1 %g.more, label %group, label %done")
    code.put("done:")
    strange = code.do(f"fcmp uno {v} %sum.next, zeroinitializer")
    word = code.do(f"bitcast {code.flags} {strange} to i{lanes}")
    code.put(f"ret i1 {code.do(f'icmp ne i{lanes} {word}, 0')}")
    head = "ptr noalias %rows, i64 %size, i64 %valid, i64 %groups, ptr noalias %to"
    return f"define internal i1 @pack({head}) #0 {{\n{code}\n}}"


def copy() -> str:
    """``@copy(from, size, to)`` for shared inputs: true where a number is not finite."""
    return """define internal i1 @copy(ptr noalias %from, i64 %size, ptr noalias %to) #0 {
entry:
  br label %element
element:
  %e = phi i64 [0, %entry], [%e.next, %element]
  %sum = phi double [0.0, %entry], [%sum.next, %element]
  %p = getelementptr double, ptr %from, i64 %e
  %x = load double, ptr %p, align 8
  %q = getelementptr double, ptr %to, i64 %e
  store double %x, ptr %q, align 8
  %nothing = fmul double %x, 0.0
  %sum.next = fadd double %sum, %nothing
  %e.next = add i64 %e, 1
  %more = icmp ult i64 %e.next, %size
  br i1 %more, label %element, label %done
done:
  %strange = fcmp uno double %sum.next, 0.0
  ret i1 %strange
}"""


def unpack(layout: Layout) -> str:
    """``@unpack(from, to, valid)``: squares of lanes x lanes for full groups, single samples for the ragged end."""
    lanes, size, code = layout.lanes, layout.size, Code(layout.lanes)
    v = code.vector
    code.put("entry:")
    code.put("br label %group")
    code.put("group:")
    code.put("%j = phi i64 [0, %entry], [%j.next, %group.end]")
    here = code.at("%from", "%j")
    first = code.at("%to", code.do(f"mul i64 %j, {size}"))
    code.put(f"%j.next = add i64 %j, {lanes}")
    code.put("%full = icmp ule i64 %j.next, %valid")
    code.put(f"br i1 {'%full' if size >= lanes else 'false'}, label %square, label %sample")

    code.put("square:")
    code.put("%p = phi i64 [0, %group], [%p.next, %square]")
    rows = [code.load(code.at(here, _offset(code, code.do(f"add i64 %p, {lane}")))) for lane in range(lanes)]
    for lane, column in enumerate(_transposed(code, rows)):
        code.put(f"store {v} {column}, ptr {code.at(code.at(first, lane * size), '%p')}, align 8")
    # The last square may overlap the one before it.
    last = max(size - lanes, 0)
    code.put(f"%p.next = call i64 @llvm.umin.i64(i64 {code.do(f'add i64 %p, {lanes}')}, i64 {last})")
    code.put(f"%p.last = icmp eq i64 %p, {last}")
    code.put("br i1 %p.last, label %group.end, label %square")

    code.put("sample:")
    code.put("%i = phi i64 [0, %group], [%i.next, %sample.end]")
    source = code.at(here, "%i")
    target = code.at(first, code.do(f"mul i64 %i, {size}"))
    code.put("br label %place")
    code.put("place:")
    code.put("%s = phi i64 [0, %sample], [%s.next, %place]")
    value = code.do(f"load double, ptr {code.at(source, _offset(code, '%s'))}, align 8")
    code.put(f"store double {value}, ptr {code.at(target, '%s')}, align 8")
    code.put("%s.next = add i64 %s, 1")
    code.put(f"%s.more = icmp ult i64 %s.next, {size}")
    code.put("br i1 %s.more, label %place, label %sample.end")
    code.put("sample.end:")
    code.put("%i.next = add i64 %i, 1")
    code.put(f"%i.within = icmp ult i64 %i.next, {lanes}")
    code.put(f"%i.valid = icmp ult i64 {code.do('add i64 %j, %i.next')}, %valid")
    code.put("%i.more = and i1 %i.within, %i.valid")
    code.put("br i1 %i.more, label %sample, label %group.end")

    code.put("group.end:")
    code.put("%j.more = icmp ult i64 %j.next, %valid")
    code.put("br i1 %j.more, label %group, label %done")
    code.put("done:")
    code.put("ret void")
    table = ", ".join(f"i32 {offset}" for offset in layout.offsets)
    return (
        f"@offsets = internal constant [{size} x i32] [{table}]\n"
        f"define internal void @unpack(ptr noalias %from, ptr noalias %to, i64 %valid) #0 {{\n{code}\n}}"
    )


def entry(layout: Layout, chunks: int, *, dense: bool) -> str:
    """``@dense`` or ``@block`` (inputs, first, last, out, stride, scratch): 1 if an input is not finite, else 0.

    ``@dense`` writes the arrays of samples first … last - 1 to their places in ``out`` and ignores the stride;
    ``@block`` writes value k of sample s to ``out[k * stride + s - first]``. There is at least one sample.
    """
    tile, code = layout.tile, Code(layout.lanes)
    shared_at, slots_at, values_at, _ = layout.starts
    code.put("entry:")
    for name, place in (("shared", shared_at), ("slots", slots_at), ("values", values_at)):
        code.put(f"%{name} = getelementptr double, ptr %scratch, i64 {place}")
    wrong = "false"
    arrays: dict[int, str] = {}
    for k, argument in enumerate(layout.inputs):
        if argument.size:
            arrays[k] = code.do(f"load ptr, ptr {code.do(f'getelementptr ptr, ptr %inputs, i64 {k}')}, align 8")
            if argument.shared:
                to = code.at("%shared", layout.shared_place(k))
                strange = code.do(f"call i1 @copy(ptr {arrays[k]}, i64 {argument.size}, ptr {to})")
                wrong = code.do(f"or i1 {wrong}, {strange}")
    code.put(f"br i1 {wrong}, label %refuse, label %tile")

    code.put("tile:")
    code.put("%s = phi i64 [%first, %entry], [%s.next, %work]")
    code.put(f"%valid = call i64 @llvm.umin.i64(i64 {code.do('sub i64 %last, %s')}, i64 {tile})")
    code.put(f"%groups = udiv i64 {code.do(f'add i64 %valid, {layout.lanes - 1}')}, {layout.lanes}")
    wrong = "false"
    for k, array in arrays.items():
        argument = layout.inputs[k]
        if not argument.shared:
            rows = code.at(array, code.do(f"mul i64 %s, {argument.size}"))
            to = code.at("%scratch", layout.first_row(k) * tile)
            strange = code.do(f"call i1 @pack(ptr {rows}, i64 {argument.size}, i64 %valid, i64 %groups, ptr {to})")
            wrong = code.do(f"or i1 {wrong}, {strange}")
    code.put(f"br i1 {wrong}, label %refuse, label %work")

    code.put("work:")
    out, stride = ("%values", str(tile)) if dense else (code.at("%out", code.do("sub i64 %s, %first")), "%stride")
    given = ("%scratch", "%shared", "%slots", out, stride, "%groups")
    kinds = [argument.split()[0] for argument in ARGUMENTS.split(", ")]
    arguments = ", ".join(f"{kind} {value}" for kind, value in zip(kinds, given, strict=True))
    for number in range(chunks):
        code.put(f"call void @chunk{number}({arguments})")
    if dense:
        to = code.at("%out", code.do(f"mul i64 %s, {layout.size}"))
        code.put(f"call void @unpack(ptr %values, ptr {to}, i64 %valid)")
    code.put("%s.next = add i64 %s, %valid")
    code.put("%s.more = icmp ult i64 %s.next, %last")
    code.put("br i1 %s.more, label %tile, label %accept")
    code.put("accept:")
    code.put("ret i64 0")
    code.put("refuse:")
    code.put("ret i64 1")
    head = "ptr %inputs, i64 %first, i64 %last, ptr %out, i64 %stride, ptr %scratch"
    return f"define i64 @{'dense' if dense else 'block'}({head}) #0 {{\n{code}\n}}"


def single(layout: Layout) -> str:
    """``@one(context, data)``: ``@dense`` for one sample whose inputs lie one after the other in ``data``.

    The context holds the addresses of the result and of the scratch buffer. Two arguments instead of six save more time
    on the way from Python than the work of a small graph takes.
    """
    code = Code(layout.lanes)
    code.put("entry:")
    code.put(f"%inputs = alloca ptr, i64 {max(1, len(layout.inputs))}, align 8")
    begin = 0
    for k, argument in enumerate(layout.inputs):
        place = code.do(f"getelementptr ptr, ptr %inputs, i64 {k}")
        code.put(f"store ptr {code.at('%data', begin)}, ptr {place}, align 8")
        begin += argument.size
    out = code.do("load ptr, ptr %context, align 8")
    scratch = code.do(f"load ptr, ptr {code.do('getelementptr ptr, ptr %context, i64 1')}, align 8")
    code.put(f"%result = call i64 @dense(ptr %inputs, i64 0, i64 1, ptr {out}, i64 0, ptr {scratch})")
    code.put("ret i64 %result")
    return f"define i64 @one(ptr %context, ptr %data) #0 {{\n{code}\n}}"


def _offset(code: Code, place: str) -> str:
    address = code.do(f"getelementptr i32, ptr @offsets, i64 {place}")
    return code.do(f"zext i32 {code.do(f'load i32, ptr {address}, align 4, !invariant.load !0')} to i64")


def _transposed(code: Code, rows: list[str]) -> list[str]:
    """Rows of a square become its columns by exchanging single entries, then pairs, … between pairs of rows."""
    lanes, v = code.lanes, code.vector
    step = 1
    while step < lanes:
        low = [i if not i & step else lanes + i - step for i in range(lanes)]
        high = [i + step if not i & step else lanes + i for i in range(lanes)]
        exchanged = list(rows)
        for k in range(lanes):
            if not k & step:
                for target, chosen in ((k, low), (k + step, high)):
                    mask = ", ".join(f"i32 {i}" for i in chosen)
                    exchanged[target] = code.do(
                        f"shufflevector {v} {rows[k]}, {v} {rows[k + step]}, <{lanes} x i32> <{mask}>"
                    )
        rows = exchanged
        step *= 2
    return rows
