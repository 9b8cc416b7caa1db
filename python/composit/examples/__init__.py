"""Programs to run and to read: `python -m composit.examples.digits`."""
