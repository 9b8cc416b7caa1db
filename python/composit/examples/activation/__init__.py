"""A new activation function, from its lines in Python to its C++, its plots and a network."""
