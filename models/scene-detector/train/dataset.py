"""Loads frames with ground-truth boxes and cuts random training crops from them.

`generate.ts` writes shards. A shard is a pair of files: NAME.rgb contains raw RGB frames, and
NAME.json the objects in each frame, with boxes in 0..1 of the picture:
{"width", "height", "frames": [{"seed", "objects": [{"class", "bbox": {x, y, w, h}, "visibility"}]}]}
"""

import json
import random
from pathlib import Path

import numpy as np
import torch
from torch.nn import functional as F

from augment import distort
from model import CLASSES

MIN_VISIBILITY = 0.25
MIN_HEIGHT = 7  # pixels of the crop
MAX_OBJECTS = 32


class Shards:
    """The memory-mapped frames of all complete shards in a folder."""

    def __init__(self, folder):
        self.folder, self.loaded, self.frames = Path(folder), set(), []
        self.refresh()

    def refresh(self):
        """Loads shards that were completed since the last call."""
        for path in sorted(set(self.folder.glob("*.json")) - self.loaded):
            self.loaded.add(path)
            truth = json.loads(path.read_text())
            shape = (len(truth["frames"]), truth["height"], truth["width"], 3)
            pixels = np.memmap(path.with_suffix(".rgb"), np.uint8, "r", shape=shape)
            self.frames += [
                (image, to_rows(frame, truth["width"], truth["height"]))
                for image, frame in zip(pixels, truth["frames"])
            ]

    def __len__(self):
        return len(self.frames)


def to_rows(frame, width, height):
    """Returns rows of class, left, top, right, bottom (pixels) and visibility."""
    rows = []
    for true_object in frame["objects"]:
        box = true_object["bbox"]
        left, top = box["x"] * width, box["y"] * height
        right, bottom = left + box["w"] * width, top + box["h"] * height
        label = CLASSES.index(true_object["class"])
        rows.append([label, left, top, right, bottom, true_object["visibility"]])
    return np.array(rows, np.float32).reshape(-1, 6)


def crop(image, truth, width, height):
    """Returns a random training crop: pixels [3,height,width] in 0..1, objects [n,5], and ignored
    boxes [m,4].

    Scales vary around two thirds, because the demo scene is analysed at two thirds of the stored
    960 pixels. Half of the crops are centred near a person, because people are small and rare.
    """
    frame_height, frame_width = image.shape[:2]
    scale = 0.667 * random.choice((random.uniform(0.8, 1.25), random.uniform(0.6, 1.5)))
    scale_x, scale_y = scale * random.uniform(0.93, 1.07), scale
    span_x, span_y = min(frame_width, width / scale_x), min(frame_height, height / scale_y)
    centre_x, centre_y = random.uniform(0, frame_width), random.uniform(0, frame_height)
    people = truth[truth[:, 0] == CLASSES.index("person")]
    if len(people) and random.random() < 0.5:
        person = random.choice(people)
        centre_x = (person[1] + person[3]) / 2 + random.uniform(-0.4, 0.4) * span_x
        centre_y = (person[2] + person[4]) / 2 + random.uniform(-0.4, 0.4) * span_y
    left = int(min(max(0, centre_x - span_x / 2), frame_width - span_x))
    top = int(min(max(0, centre_y - span_y / 2), frame_height - span_y))
    region = image[top : top + int(span_y), left : left + int(span_x)]
    out_width, out_height = round(region.shape[1] * scale_x), round(region.shape[0] * scale_y)
    out_width, out_height = min(width, out_width), min(height, out_height)
    pixels = torch.from_numpy(region.astype(np.float32) / 255).permute(2, 0, 1)[None]
    pixels = F.interpolate(pixels, (out_height, out_width), mode="bilinear", antialias=True)[0]

    boxes = (truth[:, 1:5] - (left, top, left, top)) * np.float32([scale_x, scale_y] * 2)
    inside = boxes.clip(0, (out_width, out_height) * 2)
    if random.random() < 0.5:
        pixels = pixels.flip(2)
        inside[:, [0, 2]] = out_width - inside[:, [2, 0]]
    visible_share = area(inside) / np.maximum(area(boxes), 1e-6)
    is_visible = (truth[:, 5] * visible_share >= MIN_VISIBILITY) & (
        inside[:, 3] - inside[:, 1] >= MIN_HEIGHT
    )
    ignored = ~is_visible & (area(inside) > 4)
    canvas = torch.full((3, height, width), 114 / 255)
    canvas[:, :out_height, :out_width] = distort(pixels)
    labels = np.concatenate((truth[is_visible, :1], inside[is_visible]), 1)[:MAX_OBJECTS]
    return canvas, torch.from_numpy(labels), torch.from_numpy(inside[ignored])


def area(boxes):
    return (boxes[:, 2] - boxes[:, 0]).clip(0) * (boxes[:, 3] - boxes[:, 1]).clip(0)


def batch(shards, size, width, height):
    """Returns images [B,3,H,W], objects [B,M,5] padded with class -1, and ignored boxes [B,M,4]."""
    images, labels, ignored = zip(
        *(crop(*random.choice(shards.frames), width, height) for _ in range(size))
    )
    return torch.stack(images), pad(labels, 5, -1), pad(ignored, 4, 0)


def pad(tables, columns, fill):
    """Stacks tables of different lengths and fills the missing rows."""
    length = max(1, *(len(table) for table in tables))
    padded = torch.full((len(tables), length, columns), float(fill))
    for target, table in zip(padded, tables):
        target[: len(table)] = table
    return padded
