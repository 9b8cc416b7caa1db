"""Names of devices, dtypes and operations."""

from enum import Enum

from composit import devices


class DEVICE(str, Enum):  # noqa: UP042, its str() is DTYPE.FLOAT32
    """Devices that have a name of their own; others are registered under any string."""

    CPU = "cpu"
    CUDA = "cuda"
    OPENCL = "opencl"


class DTYPE(str, Enum):  # noqa: UP042, its str() is DTYPE.FLOAT32
    """What tensors hold."""

    FLOAT32 = "float32"
    FLOAT64 = "float64"
    INT32 = "int32"
    INT64 = "int64"
    BOOL = "bool"


class OP(str, Enum):  # noqa: UP042, its str() is DTYPE.FLOAT32
    """The operations that a device may register."""

    ADD = "add"
    SUB = "sub"
    MUL = "mul"
    DIV = "div"
    INVERT = "invert"
    POW = "pow"
    EXP = "exp"
    LOG = "log"
    MASKED_FILL_ = "masked_fill_"
    SUM_REDUCE = "sum_reduce"
    MEAN_REDUCE = "mean_reduce"
    MAX_REDUCE = "max_reduce"
    MIN_REDUCE = "min_reduce"
    SQUEEZE = "squeeze"
    UNSQUEEZE = "unsqueeze"
    RESHAPE = "reshape"
    PERMUTE = "permute"
    SELECT = "select"
    LOOKUP = "lookup"
    CONCAT = "concat"
    RELU = "relu"
    SIGMOID = "sigmoid"
    SOFTMAX = "softmax"
    MATMUL = "matmul"
    CONV2D = "conv2d"
    MAX_POOL2D = "max_pool2d"
    AVG_POOL2D = "avg_pool2d"


def device_of(value: "DEVICE | str | None") -> "DEVICE | str":
    """The device of a name: a DEVICE where there is one. None is the device of the innermost
    `with composit.device(name):`, else the CPU."""
    if value is None:
        value = devices.present() or DEVICE.CPU
    try:
        return DEVICE(value)
    except ValueError:
        name = str(value)
        return device_of(name[:-2]) if name.endswith(":0") else name
