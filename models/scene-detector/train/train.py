"""Trains the detector: python3 train.py SHARDS OUT.pt --minutes 60"""

import argparse
import copy
import math
import random
import time
from concurrent.futures import ThreadPoolExecutor

import torch

from dataset import Shards, batch
from loss import detection_loss
from model import Detector

WIDTH, HEIGHT, BATCH = 384, 256, 16
PEAK_RATE, WEIGHT_DECAY, WARMUP_STEPS = 2.5e-3, 5e-3, 150
AVERAGE_DECAY = 0.998
REPORT_EVERY = 50


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("shards")
    parser.add_argument("out")
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--start", help="initial weights")
    parser.add_argument("--rate", type=float, default=PEAK_RATE)
    return parser.parse_args()


def learning_rate(step, progress, peak):
    """Returns the learning rate: linear warm-up, then cosine decay to 1 % of the peak."""
    cosine = 0.01 + 0.99 * 0.5 * (1 + math.cos(math.pi * min(1, progress)))
    return peak * min(1, (step + 1) / WARMUP_STEPS) * cosine


@torch.no_grad()
def update_average(average, model, step):
    """
    Updates the moving average of the weights, which is more accurate than the weights of the last
    step.
    """
    decay = min(AVERAGE_DECAY, (step + 1) / (step + 10))
    for averaged, new in zip(average.state_dict().values(), model.state_dict().values()):
        if averaged.dtype.is_floating_point:
            averaged.lerp_(new, 1 - decay)
        else:
            averaged.copy_(new)


def train(args):
    torch.manual_seed(0)
    random.seed(0)
    torch.set_num_threads(args.threads)
    shards = Shards(args.shards)
    model = Detector().to(memory_format=torch.channels_last)
    if args.start:
        model.load_state_dict(torch.load(args.start))
    average = copy.deepcopy(model).eval()
    optimizer = torch.optim.AdamW(model.parameters(), args.rate, weight_decay=WEIGHT_DECAY)
    loader = ThreadPoolExecutor(1)
    upcoming = loader.submit(batch, shards, BATCH, WIDTH, HEIGHT)
    start, step, recent = time.monotonic(), 0, 0.0
    while (progress := (time.monotonic() - start) / 60 / args.minutes) < 1:
        images, objects, ignored = upcoming.result()
        upcoming = loader.submit(batch, shards, BATCH, WIDTH, HEIGHT)
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(step, progress, args.rate)
        images = images.contiguous(memory_format=torch.channels_last)
        logits, boxes = model(images)
        loss = detection_loss(logits, boxes, objects, ignored, images)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 10)
        optimizer.step()
        update_average(average, model, step)
        step += 1
        recent += loss.item()
        if step % REPORT_EVERY == 0:
            minutes = (time.monotonic() - start) / 60
            print(
                f"{step} {minutes:.1f} min, {len(shards)} frames, loss {recent / REPORT_EVERY:.3f}"
            )
            recent = 0.0
            shards.refresh()
            torch.save(average.state_dict(), args.out)
    torch.save(average.state_dict(), args.out)


if __name__ == "__main__":
    train(parse_arguments())
