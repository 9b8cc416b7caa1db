"""torch.version."""

cuda = None
hip = None
xpu = None
debug = False
git_version = "composit"
__version__ = "2.13.0+composit"
