"""Random changes to training images that imitate cameras, encoders and weather.

Images are [3,H,W] in 0..1.
"""

import math
import random

import torch
from torch.nn import functional as F


def chance(probability):
    return random.random() < probability


def distort(image):
    """Applies random changes of exposure, colour, sharpness, compression and noise."""
    if chance(0.7):
        image = image.clamp(0, 1) ** random.uniform(0.7, 1.4)
    if chance(0.7):
        gain = torch.empty(3, 1, 1).uniform_(0.88, 1.12) * random.uniform(0.75, 1.25)
        image = image * gain + random.uniform(-0.06, 0.06)
    if chance(0.3):
        grey = image.mean(0, keepdim=True)
        image = grey + (image - grey) * random.uniform(0.1, 1.4)
    if chance(0.3):
        image = blur(image, random.uniform(0.2, 0.9))
    if chance(0.6):
        image = compress(image, random.uniform(0.02, 0.12))
    if chance(0.3):
        image = image + torch.randn_like(image[:1]) * random.uniform(0.005, 0.03)
    return image.clamp(0, 1)


def blur(image, amount):
    """Mixes the image with a 3x3 box blur of itself; an amount of 1 is the blur alone."""
    return image + (F.avg_pool2d(image[None], 3, 1, 1)[0] - image) * amount


def cosine_basis():
    """Returns the orthonormal basis of the 8x8 discrete cosine transform (DCT-II), [64,1,8,8]."""
    rows = [
        [
            math.sqrt((2 if u else 1) / 8) * math.cos((2 * x + 1) * u * math.pi / 16)
            for x in range(8)
        ]
        for u in range(8)
    ]
    basis = torch.tensor(rows)
    return torch.einsum("ux,vy->uvxy", basis, basis).reshape(64, 1, 8, 8)


BASIS = cosine_basis()
# As in video encoders, higher frequencies are quantised more coarsely.
COARSENESS = torch.tensor([1 + (u + v) * 0.35 for u in range(8) for v in range(8)])[:, None, None]


def compress(image, step):
    """
    Imitates a lossy video encoder, with chroma at half resolution and quantised 8x8 DCT blocks.
    """
    _, height, width = image.shape
    image = F.pad(image[None], (0, -width % 8, 0, -height % 8), mode="replicate")
    luma = image.mean(1, keepdim=True)
    colour = F.interpolate(F.avg_pool2d(image - luma, 2), scale_factor=2.0, mode="nearest")
    levels = F.conv2d(luma, BASIS, stride=8)
    quantum = COARSENESS * step
    luma = F.conv_transpose2d((levels / quantum).round() * quantum, BASIS, stride=8)
    return (luma + colour)[0, :, :height, :width]
