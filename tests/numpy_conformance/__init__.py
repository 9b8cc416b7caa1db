"""Every function of NumPy with composit's: what they are tried with, and what comes of it."""
