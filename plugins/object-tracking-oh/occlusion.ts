import type { BBox } from '@eyrie/element'

/** Which part of a box is hidden is determined on a grid with this many cells along each axis. */
const GRID_SIZE = 12

/**
 * How much of the box of a tracked object is visible, because it is not hidden behind
 * other tracked objects.
 */
export interface Visibility {
  /** Share of the box that is visible, 0..1. */
  share: number
  /** Bounding box of the visible part. If nothing is visible, this is the whole box. */
  bbox: BBox
}

/**
 * Whether `a` is closer to the camera than `b`. Seen by a camera that looks down on a floor, the
 * feet of closer objects are lower in the picture (pseudo-depth of SparseTrack, Liu et al. 2023).
 */
export function isCloser(a: BBox, b: BBox): boolean {
  return a.y + a.h > b.y + b.h
}

/**
 * Computes which part of a box is visible behind `occluders`, with the precision of one grid cell.
 */
export function computeVisibility(bbox: BBox, occluders: readonly BBox[]): Visibility {
  const { x, y, w, h } = bbox
  const overlapping = occluders.filter(other => overlaps(other, bbox))
  if (overlapping.length === 0) return { share: 1, bbox }

  // The rows and columns with visible cells. `right` and `bottom` are exclusive.
  let left = GRID_SIZE
  let right = 0
  let top = GRID_SIZE
  let bottom = 0
  let visibleCells = 0
  for (let row = 0; row < GRID_SIZE; row++) {
    for (let column = 0; column < GRID_SIZE; column++) {
      const centerX = x + ((column + 0.5) * w) / GRID_SIZE
      const centerY = y + ((row + 0.5) * h) / GRID_SIZE
      if (overlapping.some(other => contains(other, centerX, centerY))) continue

      left = Math.min(left, column)
      right = Math.max(right, column + 1)
      top = Math.min(top, row)
      bottom = Math.max(bottom, row + 1)
      visibleCells += 1
    }
  }

  if (visibleCells === 0) return { share: 0, bbox }
  const visiblePart = {
    x: x + (left * w) / GRID_SIZE,
    y: y + (top * h) / GRID_SIZE,
    w: ((right - left) * w) / GRID_SIZE,
    h: ((bottom - top) * h) / GRID_SIZE,
  }
  return { share: visibleCells / GRID_SIZE ** 2, bbox: visiblePart }
}

function overlaps(a: BBox, b: BBox): boolean {
  return a.x < b.x + b.w && a.x + a.w > b.x && a.y < b.y + b.h && a.y + a.h > b.y
}

function contains(box: BBox, x: number, y: number): boolean {
  return x > box.x && x < box.x + box.w && y > box.y && y < box.y + box.h
}

/**
 * Restores the full box of a partly occluded object: an occluded edge is placed at the predicted
 * distance from the visible edge on the opposite side. If both edges of an axis are visible, or
 * both are occluded, they remain as detected.
 *
 * @param detected The box from the detector.
 * @param predicted The full box predicted for this frame.
 * @param visible The part of `predicted` that should be visible.
 */
export function restoreOccludedEdges(detected: BBox, predicted: BBox, visible: BBox): BBox {
  const horizontal = restoreOccludedEdge(
    { start: detected.x, size: detected.w },
    { start: predicted.x, size: predicted.w },
    { start: visible.x, size: visible.w },
  )
  const vertical = restoreOccludedEdge(
    { start: detected.y, size: detected.h },
    { start: predicted.y, size: predicted.h },
    { start: visible.y, size: visible.h },
  )
  return { x: horizontal.start, y: vertical.start, w: horizontal.size, h: vertical.size }
}

/** Extent of a box along one axis. */
interface Extent {
  start: number
  size: number
}

function restoreOccludedEdge(detected: Extent, predicted: Extent, visible: Extent): Extent {
  const halfCell = predicted.size / GRID_SIZE / 2
  const hiddenAtStart = visible.start - predicted.start
  const hiddenAtEnd = predicted.start + predicted.size - visible.start - visible.size
  const isStartOccluded = hiddenAtStart > halfCell
  const isEndOccluded = hiddenAtEnd > halfCell
  const isOneOccluded = isStartOccluded !== isEndOccluded
  if (!isOneOccluded || detected.size >= predicted.size) return detected

  const detectedEnd = detected.start + detected.size
  const start = isStartOccluded ? detectedEnd - predicted.size : detected.start
  return { start, size: predicted.size }
}
