"""The loop that makes latents of noise: DDIM (Song et al. 2021)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

TRAINING_STEPS, FIRST_BETA, LAST_BETA = 1000, 0.00085, 0.012


def kept_signal(training_steps: int = TRAINING_STEPS) -> np.ndarray:
    """How much of an image's variance is left after each step of adding noise: float64
    (training_steps,), as Stable Diffusion was trained."""
    betas = np.linspace(FIRST_BETA**0.5, LAST_BETA**0.5, training_steps) ** 2
    return np.cumprod(1 - betas)


def times(steps: int, training_steps: int = TRAINING_STEPS) -> np.ndarray:
    """The times at which noise is taken away, from the last one: int64 (steps,). ValueError: steps
    is not between 1 and training_steps."""
    if not 1 <= steps <= training_steps:
        raise ValueError(f"times: steps is {steps}. It must be from 1 to {training_steps}.")
    return (np.arange(steps) * (training_steps // steps)).astype(np.int64)[::-1] + 1


def denoise(
    noise_of: Callable[[Any, Any, Any], Any],
    latents: Any,
    text: Any,
    *,
    steps: int = 50,
    guidance: float = 1.0,
    no_text: Any = None,
    progress: Callable[[Iterable[int]], Iterable[int]] = iter,
) -> np.ndarray:
    """Latents from noise. `noise_of(latents, time, text)` is the U-Net, compiled or not. With
    guidance > 1, noise is taken away as the text says, against what `no_text` says (Ho and Salimans
    2022). `progress` wraps the times, as tqdm does."""
    if guidance != 1 and no_text is None:
        raise ValueError(f"denoise: guidance is {guidance} without no_text. It needs the text.")
    kept, latents = kept_signal(), np.asarray(latents)
    distance = TRAINING_STEPS // steps
    for time in progress(times(steps)):
        noise = np.asarray(noise_of(latents, np.int64(time), text))
        if guidance != 1:
            without = np.asarray(noise_of(latents, np.int64(time), no_text))
            noise = without + np.float32(guidance) * (noise - without)
        now, after = kept[time], kept[max(time - distance, 0)]
        image = (latents - np.float32((1 - now) ** 0.5) * noise) / np.float32(now**0.5)
        latents = np.float32(after**0.5) * image + np.float32((1 - after) ** 0.5) * noise
    return latents
