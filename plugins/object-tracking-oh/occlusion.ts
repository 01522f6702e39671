import type { BBox } from '@eyrie/element'

/** Occlusion is sampled on a grid of this many cells per axis of a box. */
const GRID_SIZE = 12

export interface Visibility {
  /** Share of the box that is not occluded, 0..1. */
  share: number
  /** Bounding box of the part that is not occluded; the whole box if all of it is. */
  bbox: BBox
}

/**
 * Whether `a` is closer to the camera than `b`. Seen by a camera that looks down on a floor, the feet of closer objects
 * are lower in the picture (pseudo-depth of SparseTrack, Liu et al. 2023).
 */
export function isCloser(a: BBox, b: BBox): boolean {
  return a.y + a.h > b.y + b.h
}

/** Computes which part of a box is visible behind `occluders`, to a twelfth of its width and height. */
export function computeVisibility(bbox: BBox, occluders: readonly BBox[]): Visibility {
  const { x, y, w, h } = bbox
  const overlapping = occluders.filter(o => o.x < x + w && o.x + o.w > x && o.y < y + h && o.y + o.h > y)
  if (overlapping.length === 0) return { share: 1, bbox }
  let [left, right, top, bottom, visibleCells] = [GRID_SIZE, 0, GRID_SIZE, 0, 0]
  for (let row = 0; row < GRID_SIZE; row++)
    for (let column = 0; column < GRID_SIZE; column++) {
      const px = x + ((column + 0.5) * w) / GRID_SIZE
      const py = y + ((row + 0.5) * h) / GRID_SIZE
      if (overlapping.some(o => px > o.x && px < o.x + o.w && py > o.y && py < o.y + o.h)) continue
      left = Math.min(left, column)
      right = Math.max(right, column + 1)
      top = Math.min(top, row)
      bottom = Math.max(bottom, row + 1)
      visibleCells += 1
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

/**
 * Restores the full box of a partly occluded object. Along each axis on which exactly one edge is occluded, the occluded
 * edge is reconstructed from the visible edge and the predicted size.
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
  const tolerance = predicted.size / GRID_SIZE / 2
  const isStartOccluded = visible.start - predicted.start > tolerance
  const isEndOccluded = predicted.start + predicted.size - visible.start - visible.size > tolerance
  if (detected.size >= predicted.size || isStartOccluded === isEndOccluded) return detected
  const start = isStartOccluded ? detected.start + detected.size - predicted.size : detected.start
  return { start, size: predicted.size }
}
