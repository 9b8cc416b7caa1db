"""The networks of Stable Diffusion (Rombach et al. 2022): the U-Net that takes noise away, and the
autoencoder between images and latents."""

from composit.model_zoo.stable_diffusion import autoencoder_kl, denoising, unet

__all__ = ["autoencoder_kl", "denoising", "unet"]
