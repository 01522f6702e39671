// Finds places for the labels of objects in a picture, so that they do not overlap.

/** A rectangle in CSS pixels of the picture. */
export interface Box {
  x: number
  y: number
  width: number
  height: number
}

/** An object to label. */
export interface LabelRequest {
  /** Identifies the object across frames, so that its label can remain in the same position. */
  key: string
  /** Bounding box of the object. */
  box: Box
  /** Alternative texts in order of preference. The last one is the shortest. */
  texts: readonly string[]
}

/** A text at its place in the picture. */
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
/** Below this height, an object gets a small label, which is not larger than the object. */
const SMALL_OBJECT_PX = 64
/** Below this height, an object gets no label, because it would hide the object. */
const MIN_OBJECT_PX = 12
const PADDING_PX = 5
const GAP_PX = 2

/**
 * Returns a function that places the labels of a frame. No label overlaps another label or
 * the centre of another object. Large objects are labelled first. A label that does not fit
 * uses a shorter text, or is omitted. Positions of the previous frame are preferred, so
 * that labels do not jump.
 */
export function createLabelLayout() {
  /** Index of the candidate that was used in the previous frame, by key. */
  let previousChoices = new Map<string, number>()

  return (
    requests: readonly LabelRequest[],
    canvas: LabelCanvas,
    reserved: readonly Box[] = [],
  ): Label[] => {
    const occupied = [...reserved]
    const centers = requests.map(({ key, box }) => ({
      key,
      x: box.x + box.width / 2,
      y: box.y + box.height / 2,
    }))
    const isFree = (label: Label) =>
      !occupied.some(other => overlaps(label.box, other)) &&
      !centers.some(({ key, x, y }) => key !== label.key && contains(label.box, x, y))

    const choices = new Map<string, number>()
    const labels: Label[] = []

    for (const request of sortBySize(requests)) {
      const candidates = createCandidates(request, canvas)
      const previousIndex = previousChoices.get(request.key)
      const previous = previousIndex === undefined ? undefined : candidates[previousIndex]
      const label = previous && isFree(previous) ? previous : candidates.find(isFree)
      if (!label) continue
      labels.push(label)
      occupied.push(label.box)
      choices.set(request.key, candidates.indexOf(label))
    }
    previousChoices = choices
    return labels
  }
}

/** Returns the objects that are large enough for a label, largest first. */
const sortBySize = (requests: readonly LabelRequest[]) =>
  requests
    .filter(({ box }) => box.height >= MIN_OBJECT_PX)
    .toSorted((a, b) => b.box.height - a.box.height || (a.key < b.key ? -1 : 1))

/**
 * Returns the possible labels of an object, best first: each text above, below and
 * inside its bounding box.
 */
function createCandidates(
  { key, box, texts }: LabelRequest,
  { size, measure }: LabelCanvas,
): Label[] {
  const isSmall = box.height < SMALL_OBJECT_PX
  const font = isSmall ? SMALL_FONT : NORMAL_FONT
  const fittingTexts = isSmall ? texts.slice(-1) : texts
  return fittingTexts.flatMap(text => {
    const width = measureLabel(text, font, measure)
    const above = box.y - font.height - GAP_PX
    const below = box.y + box.height + GAP_PX
    const inside = box.y + GAP_PX
    return [above, below, inside].map(y => ({
      key,
      text,
      font,
      box: moveInside({ x: box.x - 1, y, width, height: font.height }, size),
    }))
  })
}

/** Returns the width of a label in pixels, including its padding. */
export const measureLabel = (text: string, font: LabelFont, measure: LabelCanvas['measure']) =>
  measure(text, font) + 2 * PADDING_PX

/** Moves a box inside the picture by the shortest distance. */
export function moveInside(box: Box, { width, height }: LabelCanvas['size']): Box {
  const clamp = (value: number, max: number) => Math.max(0, Math.min(value, max))
  return { ...box, x: clamp(box.x, width - box.width), y: clamp(box.y, height - box.height) }
}

export const overlaps = (a: Box, b: Box) =>
  a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height

const contains = (box: Box, x: number, y: number) =>
  x > box.x && x < box.x + box.width && y > box.y && y < box.y + box.height
