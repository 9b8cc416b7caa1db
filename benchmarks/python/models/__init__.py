"""The models of the benchmarks, by hand: in composit, in PyTorch and in jax.numpy."""
