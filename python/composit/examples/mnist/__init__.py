"""Small networks of composit.torch, trained on handwritten digits of 28 x 28."""
