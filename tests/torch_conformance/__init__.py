"""composit.torch beside the installed PyTorch: names, signatures, values, gradients."""
