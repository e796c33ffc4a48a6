"""LLVM assembly of sums over the blocks of a kernel: the function ``@add_block``, a consumer of blocks.

Work        For a few samples at a time: rows of the block are replaced by signals, the right sides are copied, a linear
            combination of rows is added to them, rows and right sides are multiplied by a mask, and their products are
            added to the sums. So the block stays in the cache, and Python is not needed from one block to the next.
Context     integers and addresses in the order of ``CONTEXT``. A signal is an address and two steps in doubles: from
            one sample to the next, and from one channel to the next. The addresses of ``coefficients`` and ``mask`` are
            zero if there are none.
"""

from __future__ import annotations

from ytheta.native.codegen.assembly import FunctionBody

CONTEXT = (
    "groups",  # table of two integers per group, see ``row_assembly``
    "group_count",
    "only_right",
    "sums",
    "right",  # one channel per group
    "right_sample_step",
    "right_channel_step",
    "coefficients",  # one per row
    "mask",  # one channel per group
    "mask_sample_step",
    "mask_channel_step",
    "signals",
    "signals_sample_step",
    "signals_channel_step",
    "replaced",  # table of two integers per replaced row: the row and its channel
    "factors",  # one per replaced row
    "replaced_count",
    "scratch",  # ``group_count + 1`` rows
)
_CACHE_LINE = 8  # doubles


def compute_scratch_stride(samples: int) -> int:
    """Return the length of a row of scratch for this number of samples: an odd number of cache lines."""
    return (samples // _CACHE_LINE + 1 | 1) * _CACHE_LINE


def emit_add_block(lanes: int, samples: int) -> list[str]:
    """Return ``@add_block`` for ``samples`` samples at a time; it uses the functions of ``emit_products_module``."""
    return [_COPY_SIGNAL, _emit_scale_row(lanes), _emit_mask_groups(samples), _emit_body(samples)]


def _emit_body(samples: int) -> str:
    fields = "\n".join(
        f"  %{name}.address = getelementptr i64, ptr %context, i64 {k}\n"
        f"  %{name} = load {'i64' if name.endswith(('count', 'step', 'only_right')) else 'ptr'}, ptr %{name}.address"
        for k, name in enumerate(CONTEXT)
    )
    stride = compute_scratch_stride(samples)
    return f"""define void @add_block(ptr %context, i64 %first, i64 %count, ptr %values, i64 %stride) #0 {{
entry:
{fields}
  %has_mask = icmp ne ptr %mask, null
  %has_coefficients = icmp ne ptr %coefficients, null
  %any = icmp ne i64 %count, 0
  br i1 %any, label %chunk, label %done
chunk:
  %s = phi i64 [0, %entry], [%s.next, %products]
  %left = sub i64 %count, %s
  %is_short = icmp ult i64 %left, {samples}
  %width = select i1 %is_short, i64 %left, i64 {samples}
  %block = getelementptr double, ptr %values, i64 %s
  %sample = add i64 %first, %s
  br label %replace.check
replace.check:
  %k = phi i64 [0, %chunk], [%k.next, %replace]
  %more.replaced = icmp ult i64 %k, %replaced_count
  br i1 %more.replaced, label %replace, label %copy.check
replace:
  %entry.index = shl i64 %k, 1
  %row.address = getelementptr i64, ptr %replaced, i64 %entry.index
  %row = load i64, ptr %row.address
  %channel.address = getelementptr i64, ptr %row.address, i64 1
  %channel = load i64, ptr %channel.address
  %factor.address = getelementptr double, ptr %factors, i64 %k
  %factor = load double, ptr %factor.address
  %row.offset = mul i64 %row, %stride
  %target = getelementptr double, ptr %block, i64 %row.offset
  call void @copy_signal(ptr %signals, i64 %signals_sample_step, i64 %signals_channel_step, i64 %channel, i64 %sample,
                         double %factor, i64 %width, ptr %target)
  %k.next = add i64 %k, 1
  br label %replace.check
copy.check:
  %g = phi i64 [0, %replace.check], [%g.next, %copy]
  %more.groups = icmp ult i64 %g, %group_count
  br i1 %more.groups, label %copy, label %combine.check
copy:
  %right.offset = mul i64 %g, {stride}
  %right.row = getelementptr double, ptr %scratch, i64 %right.offset
  call void @copy_signal(ptr %right, i64 %right_sample_step, i64 %right_channel_step, i64 %g, i64 %sample,
                         double 1.0, i64 %width, ptr %right.row)
  %g.next = add i64 %g, 1
  br label %copy.check
combine.check:
  br i1 %has_coefficients, label %combine, label %mask.check
combine:
  call void @add_combinations(ptr %block, i64 %stride, ptr %coefficients, i64 %width, ptr %groups, i64 %group_count,
                              ptr %scratch, i64 {stride})
  br label %mask.check
mask.check:
  br i1 %has_mask, label %apply, label %products
apply:
  call void @mask_groups(ptr %mask, i64 %mask_sample_step, i64 %mask_channel_step, i64 %sample, ptr %block, i64 %stride,
                         i64 %width, ptr %groups, i64 %group_count, ptr %scratch)
  br label %products
products:
  call void @add_products(ptr %block, i64 %stride, ptr %scratch, i64 {stride}, i64 %width, ptr %groups,
                          i64 %group_count, i64 %only_right, ptr %sums)
  %s.next = add i64 %s, %width
  %more = icmp ult i64 %s.next, %count
  br i1 %more, label %chunk, label %done
done:
  ret void
}}"""


def _emit_mask_groups(samples: int) -> str:
    """Return ``@mask_groups``: multiplies the rows of every group, and its right side in ``scratch``, by its mask."""
    stride = compute_scratch_stride(samples)
    return f"""define internal void @mask_groups(ptr %mask, i64 %sample_step, i64 %channel_step, i64 %sample,
                                  ptr %block, i64 %stride, i64 %width, ptr %groups, i64 %group_count,
                                  ptr %scratch) #0 {{
entry:
  %mask.offset = mul i64 %group_count, {stride}
  %mask.row = getelementptr double, ptr %scratch, i64 %mask.offset
  br label %group.check
group.check:
  %g = phi i64 [0, %entry], [%g.next, %group.end]
  %more.groups = icmp ult i64 %g, %group_count
  br i1 %more.groups, label %group, label %done
group:
  call void @copy_signal(ptr %mask, i64 %sample_step, i64 %channel_step, i64 %g, i64 %sample, double 1.0, i64 %width,
                         ptr %mask.row)
  %entry.index = shl i64 %g, 1
  %first.address = getelementptr i64, ptr %groups, i64 %entry.index
  %first = load i64, ptr %first.address
  %rows.address = getelementptr i64, ptr %first.address, i64 1
  %rows = load i64, ptr %rows.address
  %end = add i64 %first, %rows
  br label %row.check
row.check:
  %k = phi i64 [%first, %group], [%k.next, %row]
  %more.rows = icmp ult i64 %k, %end
  br i1 %more.rows, label %row, label %group.end
row:
  %offset = mul i64 %k, %stride
  %target = getelementptr double, ptr %block, i64 %offset
  call void @scale_row(ptr %mask.row, i64 %width, ptr %target)
  %k.next = add i64 %k, 1
  br label %row.check
group.end:
  %right.offset = mul i64 %g, {stride}
  %right = getelementptr double, ptr %scratch, i64 %right.offset
  call void @scale_row(ptr %mask.row, i64 %width, ptr %right)
  %g.next = add i64 %g, 1
  br label %group.check
done:
  ret void
}}"""


def _emit_scale_row(lanes: int) -> str:
    """Return ``@scale_row(factors, samples, row)``: multiplies a row by one factor per sample; ``samples`` is not 0."""
    code = FunctionBody(lanes)
    code.emit("entry:")
    whole = code.assign(f"and i64 %samples, {-lanes}")
    code.emit(f"br i1 {code.assign(f'icmp eq i64 {whole}, 0')}, label %rest, label %loop")
    for label, kind, step, start, end in (
        ("loop", code.vector, lanes, "[0, %entry]", whole),
        ("rest", "double", 1, f"[{whole}, %check], [0, %entry]", "%samples"),
    ):
        code.emit(f"{label}:")
        code.emit(f"%{label}.j = phi i64 {start}, [%{label}.next, %{label}]")
        target, factor = (code.compute_address(pointer, f"%{label}.j") for pointer in ("%row", "%factors"))
        a, b = (code.assign(f"load {kind}, ptr {address}, align 8") for address in (target, factor))
        code.emit(f"store {kind} {code.assign(f'fmul {kind} {a}, {b}')}, ptr {target}, align 8")
        code.emit(f"%{label}.next = add i64 %{label}.j, {step}")
        code.emit(
            f"br i1 {code.assign(f'icmp ult i64 %{label}.next, {end}')}, label %{label}, "
            f"label %{'check' if label == 'loop' else 'done'}"
        )
        if label == "loop":
            code.emit("check:")
            code.emit(f"br i1 {code.assign(f'icmp eq i64 {whole}, %samples')}, label %done, label %rest")
    code.emit("done:")
    code.emit("ret void")
    return f"define internal void @scale_row(ptr %factors, i64 %samples, ptr %row) #0 {{\n{code}\n}}"


# ``@copy_signal``: copies samples of a channel, times a factor, to a row; ``count`` is not 0.
_COPY_SIGNAL = """define internal void @copy_signal(ptr %signals, i64 %sample_step, i64 %channel_step, i64 %channel,
                                  i64 %sample, double %factor, i64 %count, ptr %row) #0 {
entry:
  %channel.offset = mul i64 %channel, %channel_step
  %sample.offset = mul i64 %sample, %sample_step
  %offset = add i64 %channel.offset, %sample.offset
  %start = getelementptr double, ptr %signals, i64 %offset
  br label %copy
copy:
  %j = phi i64 [0, %entry], [%j.next, %copy]
  %place = phi i64 [0, %entry], [%place.next, %copy]
  %from = getelementptr double, ptr %start, i64 %place
  %value = load double, ptr %from, align 8
  %scaled = fmul double %value, %factor
  %to = getelementptr double, ptr %row, i64 %j
  store double %scaled, ptr %to, align 8
  %j.next = add i64 %j, 1
  %place.next = add i64 %place, %sample_step
  %more = icmp ult i64 %j.next, %count
  br i1 %more, label %copy, label %done
done:
  ret void
}"""
