"""torch.utils.tensorboard: scalars, histograms, pictures and texts for TensorBoard, whose package
writes the files."""

from __future__ import annotations

import importlib
import io
import os
import time
from typing import Any, NoReturn

import numpy as np

import composit._core as _core
from composit._core import not_implemented, value_error

_aten = _core.aten
_load = importlib.import_module
try:
    Event = _load("tensorboard.compat.proto.event_pb2").Event
    _summaries = _load("tensorboard.compat.proto.summary_pb2")
    _tensors = _load("tensorboard.compat.proto.tensor_pb2")
    _shapes = _load("tensorboard.compat.proto.tensor_shape_pb2")
    Summary, HistogramProto = _summaries.Summary, _summaries.HistogramProto
    SummaryMetadata, TensorProto = _summaries.SummaryMetadata, _tensors.TensorProto
    EventFileWriter = _load("tensorboard.summary.writer.event_file_writer").EventFileWriter
except ImportError as _error:
    raise ModuleNotFoundError(
        f"torch.utils.tensorboard needs the package tensorboard: {_error}", name="tensorboard"
    ) from None

__path__: list[str] = []  # modules below are found by composit.torch.parts
__all__ = ["FileWriter", "SummaryWriter"]

FileWriter = EventFileWriter


def _values(given: Any) -> Any:
    """The values of a tensor, an array or numbers."""
    return np.asarray(given.detach().cpu().numpy() if hasattr(given, "detach") else given)


def _edges(bins: Any) -> Any:
    """PyTorch's bins by their name, or NumPy's."""
    return _aten.edges_of_bins() if bins == "tensorflow" else bins


def _histogram(values: Any, bins: Any, max_bins: int | None) -> Any:
    """The bins from the first to the last that have values, by their upper edges, behind an empty
    one."""
    values = values.reshape(-1).astype(float)
    if values.size == 0:
        raise value_error("The input has no element.")
    counts, edges = np.histogram(values, bins=_edges(bins))
    limits, shown = _aten.shown_bins(counts.tolist(), edges.tolist(), max_bins)
    return HistogramProto(
        min=values.min(), max=values.max(), num=len(values), sum=values.sum(),
        sum_squares=values.dot(values), bucket_limit=limits, bucket=shown,
    )  # fmt: skip


def _in_colours(pixels: Any) -> Any:
    return np.repeat(pixels, 3, axis=-1) if pixels.shape[-1] == 1 else pixels


def _picture(given: Any, formats: str) -> Any:
    from PIL import Image

    pixels = _values(given)
    scale = 1 if pixels.dtype == np.uint8 else 255
    bytes_of = (pixels.astype(np.float32) * scale).clip(0, 255).astype(np.uint8)
    bytes_of = _in_colours(_aten.pixel_rows(bytes_of, formats))
    height, width, channels = bytes_of.shape
    file = io.BytesIO()
    Image.fromarray(bytes_of).save(file, format="PNG")
    return Summary.Image(height=height, width=width, colorspace=channels,
                         encoded_image_string=file.getvalue())  # fmt: skip


def _number(number: float, is_double: bool) -> Any:
    if is_double:
        return TensorProto(double_val=[number], dtype="DT_DOUBLE")
    return TensorProto(float_val=[number], dtype="DT_FLOAT")


def _metadata(plugin: str) -> Any:
    return SummaryMetadata(plugin_data=SummaryMetadata.PluginData(plugin_name=plugin))


class SummaryWriter:
    """Writes scalars, histograms, pictures and texts into a folder."""

    def __init__(
        self, log_dir: Any = None, comment: str = "", purge_step: Any = None, max_queue: int = 10,
        flush_secs: int = 120, filename_suffix: str = "",
    ) -> None:  # fmt: skip
        if not log_dir:
            stamp = time.strftime("%b%d_%H-%M-%S")
            log_dir = os.path.join("runs", f"{stamp}_{os.uname().nodename}{comment}")
        self.log_dir = str(log_dir)
        self._options = (max_queue, flush_secs, filename_suffix)
        self._file = EventFileWriter(self.log_dir, *self._options)
        self._below: dict[str, Any] = {}  # writers of add_scalars, by folder

    def get_logdir(self) -> str:
        """The folder."""
        return self.log_dir

    def _add(self, value: Any, step: Any, walltime: Any, file: Any = None) -> None:
        event = Event(wall_time=time.time() if walltime is None else walltime,
                      summary=Summary(value=[value]))  # fmt: skip
        if step is not None:
            event.step = int(step)
        (file or self._file).add_event(event)

    def add_scalar(
        self, tag: str, scalar_value: Any, global_step: Any = None, walltime: Any = None,
        new_style: bool = False, double_precision: bool = False,
    ) -> None:  # fmt: skip
        """A number at a step; with new_style as a tensor."""
        number = float(scalar_value)
        value = Summary.Value(tag=tag, simple_value=number)
        if new_style:
            tensor = _number(number, double_precision)
            value = Summary.Value(tag=tag, tensor=tensor, metadata=_metadata("scalars"))
        self._add(value, global_step, walltime)

    def add_scalars(
        self, main_tag: str, tag_scalar_dict: Any, global_step: Any = None, walltime: Any = None
    ) -> None:
        """Numbers of one step under one tag, each in a folder of its own."""
        for tag, number in tag_scalar_dict.items():
            folder = f"{self.log_dir}/{main_tag.replace('/', '_')}_{tag}"
            if folder not in self._below:
                self._below[folder] = EventFileWriter(folder, *self._options)
            value = Summary.Value(tag=main_tag, simple_value=float(number))
            self._add(value, global_step, walltime, self._below[folder])

    def add_histogram(
        self, tag: str, values: Any, global_step: Any = None, bins: Any = "tensorflow",
        walltime: Any = None, max_bins: int | None = None,
    ) -> None:  # fmt: skip
        """How often values lie in bins: PyTorch's, by default, or NumPy's names of bins."""
        histogram = _histogram(_values(values), bins, max_bins)
        self._add(Summary.Value(tag=tag, histo=histogram), global_step, walltime)

    def add_image(
        self, tag: str, img_tensor: Any, global_step: Any = None, walltime: Any = None,
        dataformats: str = "CHW",
    ) -> None:  # fmt: skip
        """A picture of numbers from 0 to 1, or of bytes."""
        value = Summary.Value(tag=tag, image=_picture(img_tensor, dataformats))
        self._add(value, global_step, walltime)

    def add_images(
        self, tag: str, img_tensor: Any, global_step: Any = None, walltime: Any = None,
        dataformats: str = "NCHW",
    ) -> None:  # fmt: skip
        """Pictures of a batch as one."""
        self.add_image(tag, img_tensor, global_step, walltime, dataformats)

    def add_figure(
        self, tag: str, figure: Any, global_step: Any = None, close: bool = True,
        walltime: Any = None,
    ) -> None:  # fmt: skip
        """A figure of Matplotlib's, or several as pictures of a batch."""
        import matplotlib.backends.backend_agg as agg
        import matplotlib.pyplot as plt

        figures = figure if isinstance(figure, list) else [figure]
        drawn = []
        for each in figures:
            canvas = agg.FigureCanvasAgg(each)
            canvas.draw()
            drawn.append(np.asarray(canvas.buffer_rgba())[..., :3])
            if close:
                plt.close(each)
        self.add_image(tag, np.stack(drawn), global_step, walltime, "NHWC")

    def add_text(
        self, tag: str, text_string: str, global_step: Any = None, walltime: Any = None
    ) -> None:
        """A text."""
        size = _shapes.TensorShapeProto.Dim(size=1)
        tensor = TensorProto(
            dtype="DT_STRING", string_val=[text_string.encode("utf_8")],
            tensor_shape=_shapes.TensorShapeProto(dim=[size]),
        )  # fmt: skip
        value = Summary.Value(tag=f"{tag}/text_summary", tensor=tensor, metadata=_metadata("text"))
        self._add(value, global_step, walltime)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("add_"):
            self._refuse(name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def _refuse(self, name: str) -> NoReturn:
        raise not_implemented(
            f"SummaryWriter.{name} is not built. Scalars, histograms, images, figures and "
            "texts are."
        )

    def flush(self) -> None:
        """Writes what waits."""
        for file in (self._file, *self._below.values()):
            file.flush()

    def close(self) -> None:
        """Writes what waits, and ends."""
        for file in (self._file, *self._below.values()):
            file.close()

    def __enter__(self) -> SummaryWriter:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()
