"""The passes that every way of running takes a graph through, and how to change them.

    mine = composit.pipeline.standard().without("pack_constants")
    mine = mine.with_pass("count", count, stage="schedule", before="fuse_rows")
    compiled = composit.compile(f, x, pipeline=mine)

Stages, in order: "graph" (a list of LazyTensors to a list of the same shapes and dtypes), then
`lower`; "program" (a program of kernels and the leaf behind each of its inputs, to a program);
"schedule" (a program of one back end's kernels and its Target, to a program), then `plan_buffers`.
A pass gives the same values as it was given. `compiled.passes` has the text before and after each.
A pass of the schedule is left out where the back end refuses a kernel that it makes, and where the
target's part_bytes is 0."""

import composit._core as _core

Pipeline, Target = _core.Pipeline, _core.Target
standard, target_of = _core.standard_pipeline, _core.target_of
inline_calls, simplify = _core.inline_calls, _core.simplify
merge_maps, fuse_rows = _core.merge_maps, _core.fuse_rows
finish_products, pack_constants = _core.finish_products, _core.pack_constants
topological_order, substitute = _core.topological_order, _core.substitute
