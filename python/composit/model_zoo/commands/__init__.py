"""`python -m composit.model_zoo NAME`: models run from the command line."""
