import type { BBox } from '@eyrie/element'

/** A box is looked at in so many cells across and down. */
const CELLS = 12

/** What is to be seen of a box behind others. */
export interface Sight {
  /** Share of the box that nothing covers: 0..1. */
  share: number
  /** The smallest box around that part; the whole box where nothing is to be seen. */
  bbox: BBox
}

/**
 * Whether one object stands before another. A camera that looks down on a floor sees the feet of who is nearer lower in
 * the picture (the pseudo-depth of SparseTrack, Liu et al. 2023).
 */
export function isNearer(a: BBox, b: BBox): boolean {
  return a.y + a.h > b.y + b.h
}

/** What is to be seen of a box behind `covers`, to a twelfth of its width and height. */
export function sightOf(bbox: BBox, covers: readonly BBox[]): Sight {
  const { x, y, w, h } = bbox
  const over = covers.filter(c => c.x < x + w && c.x + c.w > x && c.y < y + h && c.y + c.h > y)
  if (over.length === 0) return { share: 1, bbox }
  let [left, right, top, bottom, cells] = [CELLS, 0, CELLS, 0, 0]
  for (let row = 0; row < CELLS; row++)
    for (let column = 0; column < CELLS; column++) {
      const px = x + ((column + 0.5) * w) / CELLS
      const py = y + ((row + 0.5) * h) / CELLS
      if (over.some(c => px > c.x && px < c.x + c.w && py > c.y && py < c.y + c.h)) continue
      left = Math.min(left, column)
      right = Math.max(right, column + 1)
      top = Math.min(top, row)
      bottom = Math.max(bottom, row + 1)
      cells += 1
    }
  if (cells === 0) return { share: 0, bbox }
  const visible = {
    x: x + (left * w) / CELLS,
    y: y + (top * h) / CELLS,
    w: ((right - left) * w) / CELLS,
    h: ((bottom - top) * h) / CELLS,
  }
  return { share: cells / CELLS ** 2, bbox: visible }
}

/**
 * The whole box of an object that is seen in part: where one edge of it is covered, the free one opposite and the size
 * that the object is known by say where that edge is.
 *
 * @param seen What the detector has boxed.
 * @param expected The whole box as it should be by now.
 * @param visible What of it should be seen.
 */
export function completed(seen: BBox, expected: BBox, visible: BBox): BBox {
  const across = completedSide(
    { start: seen.x, size: seen.w },
    { start: expected.x, size: expected.w },
    { start: visible.x, size: visible.w },
  )
  const down = completedSide(
    { start: seen.y, size: seen.h },
    { start: expected.y, size: expected.h },
    { start: visible.y, size: visible.h },
  )
  return { x: across.start, y: down.start, w: across.size, h: down.size }
}

interface Span {
  start: number
  size: number
}

function completedSide(seen: Span, whole: Span, visible: Span): Span {
  const tolerance = whole.size / CELLS / 2
  const coversStart = visible.start - whole.start > tolerance
  const coversEnd = whole.start + whole.size - visible.start - visible.size > tolerance
  if (seen.size >= whole.size || coversStart === coversEnd) return seen
  const start = coversStart ? seen.start + seen.size - whole.size : seen.start
  return { start, size: whole.size }
}
