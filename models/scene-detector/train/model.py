"""The network: a depthwise-separable backbone, a feature pyramid and anchor-free heads."""

import torch
from torch import nn
from torch.nn import functional as F

CLASSES = ("person", "car")
STRIDES = (4, 8, 16)
MIN_LOG_SIZE, MAX_LOG_SIZE = -4.0, 5.0


def conv(inputs, outputs, kernel=3, stride=1, groups=1):
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias=False),
        nn.BatchNorm2d(outputs),
    )


class Separable(nn.Module):
    """A depthwise and a pointwise convolution, with a shortcut where the shape allows one."""

    def __init__(self, inputs, outputs, stride=1, kernel=3):
        super().__init__()
        self.depthwise = conv(inputs, inputs, kernel, stride, groups=inputs)
        self.pointwise = conv(inputs, outputs, 1)
        self.shortcut = stride == 1 and inputs == outputs

    def forward(self, x):
        y = self.pointwise(F.relu(self.depthwise(x)))
        return F.relu(y + x if self.shortcut else y)


def stage(inputs, outputs, kernels):
    """Halves the resolution, then refines it with one block per kernel size."""
    blocks = [Separable(outputs, outputs, 1, kernel) for kernel in kernels]
    return nn.Sequential(Separable(inputs, outputs, 2), *blocks)


def upsample(x):
    return F.interpolate(x, scale_factor=2.0, mode="nearest")


class Head(nn.Module):
    """
    Predicts for every cell: class logits, and the offset of the centre and the log size, both in
    strides.
    """

    def __init__(self, channels, blocks):
        super().__init__()
        self.tower = nn.Sequential(*[Separable(channels, channels, 1, 5) for _ in range(blocks)])
        self.out = nn.Conv2d(channels, len(CLASSES) + 4, 1)
        nn.init.constant_(self.out.bias[: len(CLASSES)], -4.6)  # a prior of one cell in a hundred

    def forward(self, x):
        return self.out(self.tower(x)).flatten(2).transpose(1, 2)


class Detector(nn.Module):
    """Maps RGB images [B,3,H,W] in 0..1 to class logits [B,N,C] and boxes [B,N,4] of N cells.

    H and W must be multiples of 32. Boxes are centre x, centre y, width and height in input pixels.
    Cells are ordered by stride, then row by row.
    """

    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(conv(3, 16, 3, 2), nn.ReLU())
        self.stage4 = stage(16, 32, (3,))
        self.stage8 = stage(32, 64, (3, 5))
        self.stage16 = stage(64, 112, (3, 5, 5))
        self.stage32 = stage(112, 144, (5, 5))
        self.lateral4, self.lateral8 = conv(32, 32, 1), conv(64, 64, 1)
        self.lateral16, self.lateral32 = conv(112, 64, 1), conv(144, 64, 1)
        self.narrow = conv(64, 32, 1)
        self.merge4, self.merge8, self.merge16 = (Separable(c, c, 1, 5) for c in (32, 64, 64))
        self.heads = nn.ModuleList([Head(32, 1), Head(64, 2), Head(64, 2)])

    def features(self, image):
        c4 = self.stage4(self.stem(image))
        c8 = self.stage8(c4)
        c16 = self.stage16(c8)
        p16 = self.merge16(self.lateral16(c16) + upsample(self.lateral32(self.stage32(c16))))
        p8 = self.merge8(self.lateral8(c8) + upsample(p16))
        p4 = self.merge4(self.lateral4(c4) + upsample(self.narrow(p8)))
        return p4, p8, p16

    def forward(self, image):
        raw = torch.cat([head(f) for head, f in zip(self.heads, self.features(image))], 1)
        centre_x, centre_y, stride = cells(image)
        logits, offset, log_size = raw.split((len(CLASSES), 2, 2), 2)
        x = centre_x + offset[..., 0] * stride
        y = centre_y + offset[..., 1] * stride
        size = log_size.clamp(MIN_LOG_SIZE, MAX_LOG_SIZE).exp() * stride[:, None]
        return logits, torch.cat((x[..., None], y[..., None], size), 2)


def cells(image):
    """
    Returns the centres x and y and the strides of all cells of an image, each [N], in input pixels.
    """
    xs, ys, strides = [], [], []
    for stride in STRIDES:
        height, width = image.shape[2] // stride, image.shape[3] // stride
        y, x = torch.meshgrid(torch.arange(height), torch.arange(width), indexing="ij")
        xs.append((x.flatten() + 0.5) * stride)
        ys.append((y.flatten() + 0.5) * stride)
        strides.append(torch.full_like(xs[-1], stride))
    return torch.cat(xs), torch.cat(ys), torch.cat(strides)
