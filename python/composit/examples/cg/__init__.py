"""Five modules of composit.cg, trained on handwritten digits from the command line."""
