"""Exports the trained detector as an ONNX file: python3 export.py WEIGHTS.pt model.onnx

Input: `frame`, uint8 [1,3,H,W], planar RGB, H and W any multiples of 32.
Output: `detections`, float32 [1,N,5+C]: centre x, centre y, width and height in input pixels,
objectness (always 1), and a score per class. The caller must apply non-maximum suppression.
"""

import sys

import onnx
import torch
from torch import nn

from model import CLASSES, Detector

OPSET = 13
EXAMPLE_HEIGHT, EXAMPLE_WIDTH = 384, 640

# The detector is trained to predict the IoU, which is lower than the probability of an object.
# Platt scaling (Platt, 1999) converts the scores to probabilities. The coefficients are fitted on
# the demo scene.
CALIBRATION = {"person": (3.5, 2.74), "car": (2.8, 1.55)}


class Exported(nn.Module):
    """The detector with bytes as input and calibrated scores as output."""

    def __init__(self, detector):
        super().__init__()
        self.detector = detector
        scale, offset = zip(*(CALIBRATION[name] for name in CLASSES))
        self.register_buffer("scale", torch.tensor(scale))
        self.register_buffer("offset", torch.tensor(offset))

    def forward(self, frame):
        logits, boxes = self.detector(frame.float() / 255)
        scores = (logits * self.scale + self.offset).sigmoid()
        return torch.cat((boxes, torch.ones_like(scores[..., :1]), scores), 2)


def export(weights, path):
    detector = Detector()
    detector.load_state_dict(torch.load(weights, map_location="cpu"))
    frame = torch.zeros(1, 3, EXAMPLE_HEIGHT, EXAMPLE_WIDTH, dtype=torch.uint8)
    torch.onnx.export(
        Exported(detector).eval(),
        frame,
        path,
        opset_version=OPSET,
        input_names=["frame"],
        output_names=["detections"],
        dynamic_axes={"frame": {2: "height", 3: "width"}, "detections": {1: "cells"}},
    )
    onnx.checker.check_model(path)


if __name__ == "__main__":
    export(*sys.argv[1:3])
