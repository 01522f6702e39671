/** In CSS pixels of the picture. */
export interface Box {
  x: number
  y: number
  width: number
  height: number
}

export interface LabelRequest {
  /** Identifies the object across frames, so that its label keeps its position while there is room. */
  key: string
  /** Bounding box of the object. */
  box: Box
  /** Alternative texts, the preferred one first and the shortest one last. */
  texts: readonly string[]
}

export interface Label {
  key: string
  text: string
  font: LabelFont
  box: Box
}

export interface LabelFont {
  css: string
  height: number
}

export interface LabelCanvas {
  size: { width: number; height: number }
  /** Returns the width of the text in pixels. */
  measure(text: string, font: LabelFont): number
}

export const NORMAL_FONT: LabelFont = { css: '600 12px system-ui, sans-serif', height: 18 }
export const SMALL_FONT: LabelFont = { css: '600 10px system-ui, sans-serif', height: 14 }
/** Objects lower than this get a small label, so that it is not larger than the object. */
const SMALL_OBJECT_PX = 64
/** Objects lower than this get no label: it would hide them. */
const MIN_OBJECT_PX = 12
const PADDING_PX = 5
const GAP_PX = 2

/**
 * Returns a function that places the labels of a frame so that no label overlaps another one or covers the centre of
 * another object. Large objects come first. A label without room falls back to a shorter text and is then omitted.
 * Positions of the previous frame are preferred, so that labels do not jump from side to side.
 */
export function createLabelLayout() {
  /** Index of the candidate that was used for each key. */
  let previous = new Map<string, number>()

  return (requests: readonly LabelRequest[], canvas: LabelCanvas, reserved: readonly Box[] = []): Label[] => {
    const occupied = [...reserved]
    const centers = requests.map(({ key, box }) => ({
      key,
      x: box.x + box.width / 2,
      y: box.y + box.height / 2,
    }))
    const isFree = (label: Label) =>
      !occupied.some(other => overlaps(label.box, other)) &&
      !centers.some(({ key, x, y }) => key !== label.key && contains(label.box, x, y))
    const current = new Map<string, number>()

    const labels = largestFirst(requests).flatMap(request => {
      const candidates = createCandidates(request, canvas)
      const last = candidates[previous.get(request.key) ?? -1]
      const label = last && isFree(last) ? last : candidates.find(isFree)
      if (!label) return []
      occupied.push(label.box)
      current.set(request.key, candidates.indexOf(label))
      return [label]
    })
    previous = current
    return labels
  }
}

const largestFirst = (requests: readonly LabelRequest[]) =>
  requests
    .filter(({ box }) => box.height >= MIN_OBJECT_PX)
    .toSorted((a, b) => b.box.height - a.box.height || (a.key < b.key ? -1 : 1))

/** Above, below and inside the box of the object, for each text. */
function createCandidates({ key, box, texts }: LabelRequest, { size, measure }: LabelCanvas): Label[] {
  const isSmall = box.height < SMALL_OBJECT_PX
  const font = isSmall ? SMALL_FONT : NORMAL_FONT
  return (isSmall ? texts.slice(-1) : texts).flatMap(text => {
    const width = measureLabel(text, font, measure)
    const positions = [box.y - font.height - GAP_PX, box.y + box.height + GAP_PX, box.y + GAP_PX]
    return positions.map(y => ({
      key,
      text,
      font,
      box: moveInside({ x: box.x - 1, y, width, height: font.height }, size),
    }))
  })
}

/** Width of a label in pixels, with its padding. */
export const measureLabel = (text: string, font: LabelFont, measure: LabelCanvas['measure']) =>
  measure(text, font) + 2 * PADDING_PX

/** Moves a box by the shortest distance that puts it inside the picture. */
export function moveInside(box: Box, { width, height }: LabelCanvas['size']): Box {
  const clamp = (value: number, max: number) => Math.max(0, Math.min(value, max))
  return { ...box, x: clamp(box.x, width - box.width), y: clamp(box.y, height - box.height) }
}

export const overlaps = (a: Box, b: Box) =>
  a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height

const contains = (box: Box, x: number, y: number) =>
  x > box.x && x < box.x + box.width && y > box.y && y < box.y + box.height
