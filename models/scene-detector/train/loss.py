"""Assignment of cells to objects, and the training loss.

Assignment: for each object, task alignment (Feng et al., TOOD, 2021) selects the cells with the
best combination of score and IoU.

Loss: the quality focal loss (Li et al., Generalized Focal Loss, 2020) trains the scores to predict
the IoU. The generalised IoU (Rezatofighi et al., 2019) trains the boxes.
"""

import torch
from torch.nn import functional as F

from model import CLASSES, cells

CELLS_PER_OBJECT = 10
SCORE_POWER, OVERLAP_POWER = 0.5, 4.0
BOX_WEIGHT = 2.0


def corners(boxes):
    """Converts boxes from centre and size to left, top, right, bottom."""
    half = boxes[..., 2:] / 2
    return torch.cat((boxes[..., :2] - half, boxes[..., :2] + half), -1)


def overlap(a, b, generalised=False):
    """
    Returns the IoU of boxes with corners, or the generalised IoU. Broadcasts over the leading axes.
    """
    size = (torch.min(a[..., 2:], b[..., 2:]) - torch.max(a[..., :2], b[..., :2])).clamp(0)
    common = size[..., 0] * size[..., 1]
    union = box_area(a) + box_area(b) - common + 1e-6
    if not generalised:
        return common / union
    hull = (torch.max(a[..., 2:], b[..., 2:]) - torch.min(a[..., :2], b[..., :2])).clamp(0)
    hull_area = hull[..., 0] * hull[..., 1] + 1e-6
    return common / union - (hull_area - union) / hull_area


def box_area(boxes):
    return (boxes[..., 2] - boxes[..., 0]) * (boxes[..., 3] - boxes[..., 1])


@torch.no_grad()
def assign(scores, predicted, objects, grid):
    """Returns the assigned object of each cell [B,N] (-1: none) and its target score [B,N]."""
    x, y, stride = grid
    classes, boxes = objects[..., 0].long(), objects[..., 1:]
    present = (classes >= 0)[..., None]
    iou = overlap(boxes[:, :, None], predicted[:, None])
    chosen = classes.clamp(0)[..., None].expand(-1, -1, scores.shape[1])
    score = scores.transpose(1, 2).gather(1, chosen)
    centre, size = (boxes[..., :2] + boxes[..., 2:]) / 2, boxes[..., 2:] - boxes[..., :2]
    reach_x = torch.max(size[..., :1] / 2, stride)
    reach_y = torch.max(size[..., 1:] / 2, stride)
    near = ((x - centre[..., :1]).abs() < reach_x) & ((y - centre[..., 1:]).abs() < reach_y)
    alignment = (score**SCORE_POWER * iou**OVERLAP_POWER + 1e-9) * (near & present)
    best = alignment.topk(CELLS_PER_OBJECT, 2)
    selected = torch.zeros_like(alignment).scatter_(2, best.indices, (best.values > 0).float())
    alignment = alignment * selected
    # The target score of an object's best cell is its IoU; the others are scaled proportionally.
    top = alignment.amax(2, keepdim=True).clamp(1e-9)
    target = alignment / top * (iou * selected).amax(2, keepdim=True)
    owner_alignment, owner = (iou * (alignment > 0)).max(1)
    target_score = target.gather(1, owner[:, None])[:, 0]
    return torch.where(owner_alignment > 0, owner, -1), target_score


def detection_loss(logits, predicted, objects, ignored, image):
    """Returns the loss of a batch. Background cells inside ignored boxes do not contribute."""
    grid = cells(image)
    predicted = corners(predicted)
    scores = logits.sigmoid()
    owner, target_score = assign(scores.detach(), predicted.detach(), objects, grid)
    positive = owner >= 0
    row = owner.clamp(0)
    classes = objects[..., 0].long().clamp(0).gather(1, row)
    target = F.one_hot(classes, len(CLASSES)) * (target_score * positive)[..., None]

    x, y, _ = (g[None, None] for g in grid)
    left, top, right, bottom = ignored[..., None].unbind(2)
    unclear = ((x > left) & (x < right) & (y > top) & (y < bottom)).any(1) & ~positive
    weight = (scores.detach() - target).abs() ** 2 * (~unclear)[..., None]
    entropy = F.binary_cross_entropy_with_logits(logits, target, reduction="none")

    true_boxes = objects[..., 1:].gather(1, row[..., None].expand(-1, -1, 4))[positive]
    box_loss = (1 - overlap(predicted[positive], true_boxes, generalised=True)) * target_score[
        positive
    ]
    total = target.sum().clamp(1)
    return ((entropy * weight).sum() + BOX_WEIGHT * box_loss.sum()) / total
