"""Around the chunks, tile by tile: samples become rows, rows of values become blocks or a dense array.

A tile is a few groups of lanes, so that all of it stays in the nearest cache. ``@pack`` turns arrays of shape
(samples, size) into rows and sees on the way whether every number is finite. A ragged end repeats its last sample: the
chunks always work on full groups, and nothing is read or written out of bounds. ``@unpack`` turns rows of values into
the dense array, zeros included. Both turn squares of lanes x lanes in registers.
"""

from __future__ import annotations

from ytheta.native.codegen.array_access import data, item
from ytheta.native.codegen.assembly import Code
from ytheta.native.codegen.chunks import ARGUMENTS
from ytheta.native.codegen.layout import Layout

_SUMS = 4  # that grow side by side: one alone would wait for every addition


def pack(layout: Layout) -> str:
    """``@pack(arrays of the inputs …, valid, groups, to)``: true where a number is not finite."""
    lanes, code = layout.lanes, Code(layout.lanes)
    v = code.vector
    code.put("entry:")
    code.put("%top = sub i64 %valid, 1")
    code.put("br label %group")
    code.put("group:")
    code.put("%g = phi i64 [0, %entry], [%g.next, %group]")
    code.put(f"%seen = phi {v} [zeroinitializer, %entry], [%seen.next, %group]")
    code.put(f"%j = mul i64 %g, {lanes}")
    indices = [code.do(f"add i64 %j, {lane}") for lane in range(lanes)]
    samples = [code.do(f"call i64 @llvm.umin.i64(i64 {index}, i64 %top)") for index in indices]
    to = code.at("%to", "%j")
    sums = ["zeroinitializer"] * _SUMS
    for k in _packed(layout):
        size, first = layout.inputs[k].size, layout.first_row(k)
        rows = [code.at(f"%x{k}", code.do(f"mul i64 {sample}, {size}")) for sample in samples]
        for element, value in enumerate(_columns(code, rows, size)):
            code.store(value, code.at(to, (first + element) * layout.tile))
            # x times zero is zero, or not a number where x is not finite; then the sum stays so.
            nothing = code.do(f"fmul contract {v} {value}, zeroinitializer")
            sums.append(code.do(f"fadd contract {v} {sums.pop(0)}, {nothing}"))
    total = "%seen"
    for one in sums:
        total = code.do(f"fadd {v} {total}, {one}")
    code.put(f"%seen.next = fadd {v} {total}, zeroinitializer")
    code.put("%g.next = add i64 %g, 1")
    code.put("%g.more = icmp ult i64 %g.next, %groups")
    code.put("br i1 %g.more, label %group, label %done")
    code.put("done:")
    strange = code.do(f"fcmp uno {v} %seen.next, zeroinitializer")
    word = code.do(f"bitcast {code.flags} {strange} to i{lanes}")
    code.put(f"ret i1 {code.do(f'icmp ne i{lanes} {word}, 0')}")
    arrays = "".join(f"ptr noalias %x{k}, " for k in _packed(layout))
    return f"define internal i1 @pack({arrays}i64 %valid, i64 %groups, ptr noalias %to) #0 {{\n{code}\n}}"


def _packed(layout: Layout) -> list[int]:
    """The inputs that are new in every sample and not empty."""
    return [k for k, argument in enumerate(layout.inputs) if argument.size and not argument.shared]


def _columns(code: Code, rows: list[str], size: int) -> list[str]:
    """Elements 0 … size - 1 of the rows at these addresses, one vector each."""
    lanes, v = code.lanes, code.vector
    if size < lanes:
        return [code.gathered([code.at(row, element) for row in rows]) for element in range(size)]
    columns: list[str] = []
    while len(columns) < size:
        first = min(len(columns), size - lanes)  # the last square may overlap the one before it
        square = [code.do(f"load {v}, ptr {code.at(row, first)}, align 8") for row in rows]
        columns += code.transposed(square)[len(columns) - first :]
    return columns


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
    # Two squares at once: what belongs to one cache line is written together.
    squares = 2 if size >= 2 * lanes else 1
    columns = [code.transposed(_rows(code, layout, here, k * lanes)) for k in range(squares)]
    for lane in range(lanes):
        for k in range(squares):
            to = code.at(code.at(first, lane * size + k * lanes), "%p")
            code.put(f"store {code.vector} {columns[k][lane]}, ptr {to}, align 8")
    # The last squares may overlap those before them.
    last = max(size - squares * lanes, 0)
    code.put(f"%p.next = call i64 @llvm.umin.i64(i64 {code.do(f'add i64 %p, {squares * lanes}')}, i64 {last})")
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


def _rows(code: Code, layout: Layout, here: str, begin: int) -> list[str]:
    """The values of as many entries as there are lanes, from entry %p + begin on."""
    places = [code.do(f"add i64 %p, {begin + lane}") for lane in range(layout.lanes)]
    return [code.load(code.at(here, _offset(code, place))) for place in places]


def _offset(code: Code, place: str) -> str:
    address = code.do(f"getelementptr i32, ptr @offsets, i64 {place}")
    return code.do(f"zext i32 {code.do(f'load i32, ptr {address}, align 4, !invariant.load !0')} to i64")


# What an entry is told, one word each.
_TOLD = ("first", "last", "out", "scratch", "inputs")


def entry(layout: Layout, chunks: int, *, dense: bool) -> str:
    """``@dense`` or ``@block`` (address of: first, last, out, scratch, inputs): 1 if an input is not finite, else 0.

    Inputs are a tuple of plain arrays (see ``objects``). ``@dense`` writes the arrays of samples first … last - 1 to
    their places in ``out``, which is such an array too; ``@block`` writes value k of sample s to ``out[k * stride + s -
    first]``, with the stride of the layout, where ``out`` is an address. There is at least one sample. One argument
    instead of many: the way of each from Python takes as long as several samples.
    """
    tile, code = layout.tile, Code(layout.lanes)
    code.put("entry:")
    for k, name in enumerate(_TOLD):
        kind = "i64" if name in ("first", "last") else "ptr"
        code.put(f"%{name} = load {kind}, ptr {code.at('%told', k)}, align 8")
    out = data(code, "%out") if dense else "%out"
    for name, place in zip(("shared", "slots", "values"), layout.starts, strict=False):
        code.put(f"%{name} = getelementptr double, ptr %scratch, i64 {place}")
    wrong = "false"
    arrays: dict[int, str] = {}
    for k, argument in enumerate(layout.inputs):
        if argument.size:
            arrays[k] = data(code, item(code, "%inputs", k))
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
    if _packed(layout):
        rows = [code.at(arrays[k], code.do(f"mul i64 %s, {layout.inputs[k].size}")) for k in _packed(layout)]
        given = "".join(f"ptr {row}, " for row in rows)
        wrong = code.do(f"call i1 @pack({given}i64 %valid, i64 %groups, ptr %scratch)")
    code.put(f"br i1 {wrong}, label %refuse, label %work")

    code.put("work:")
    to = "%values" if dense else code.at(out, code.do("sub i64 %s, %first"))
    kinds = [argument.split()[0] for argument in ARGUMENTS.split(", ")]
    for number in range(chunks):
        tables = (f"@chunk{number}.numbers", "@sine_cosine.numbers")
        values = ("%scratch", "%shared", "%slots", to, *tables, "%groups")
        arguments = ", ".join(f"{kind} {value}" for kind, value in zip(kinds, values, strict=True))
        code.put(f"call void @chunk{number}({arguments})")
    if dense and layout.size:
        to = code.at(out, code.do(f"mul i64 %s, {layout.size}"))
        code.put(f"call void @unpack(ptr %values, ptr {to}, i64 %valid)")
    code.put("%s.next = add i64 %s, %valid")
    code.put("%s.more = icmp ult i64 %s.next, %last")
    code.put("br i1 %s.more, label %tile, label %accept")
    code.put("accept:")
    code.put("ret i64 0")
    code.put("refuse:")
    code.put("ret i64 1")
    return f"define i64 @{'dense' if dense else 'block'}(ptr %told) #0 {{\n{code}\n}}"


def single(layout: Layout) -> str:
    """``@one(address of: out, scratch, inputs)``: ``@dense`` for one sample in vectors; 2 if these are not plain."""
    code = Code(layout.lanes)
    code.put("entry:")
    out, scratch, inputs = (code.do(f"load i64, ptr {code.at('%told', k)}, align 8") for k in range(3))
    code.put(f"%all = alloca i64, i64 {len(_TOLD)}, align 8")
    places = [code.at("%all", k) for k in range(len(_TOLD))]
    for place, word in zip(places, ("-1", "0", inputs), strict=False):
        code.put(f"store i64 {word}, ptr {place}, align 8")
    code.put(f"br i1 {code.do('call i1 @look(ptr %all)')}, label %work, label %refuse")
    code.put("work:")
    for place, word in zip(places, ("0", "1", out, scratch, inputs), strict=True):
        code.put(f"store i64 {word}, ptr {place}, align 8")
    code.put("%result = call i64 @dense(ptr %all)")
    code.put("ret i64 %result")
    code.put("refuse:")
    code.put("ret i64 2")
    return f"define i64 @one(ptr %told) #0 {{\n{code}\n}}"
