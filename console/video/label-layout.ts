/** In CSS pixels of the picture. */
export interface Box {
  x: number
  y: number
  width: number
  height: number
}

/** A label that something would like to have. */
export interface LabelWish {
  /** The same thing from frame to frame: its label stays where it was as long as there is room. */
  key: string
  box: Box
  /** What to say, the better first; the last one says the least. */
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

export interface LabelRoom {
  size: { width: number; height: number }
  /** Width in pixels. */
  measure(text: string, font: LabelFont): number
}

export const NORMAL_FONT: LabelFont = { css: '600 12px system-ui, sans-serif', height: 18 }
export const SMALL_FONT: LabelFont = { css: '600 10px system-ui, sans-serif', height: 14 }
/** What is lower than this is far away: its label is not to be larger than itself. */
const FAR_PX = 64
/** What is lower than this is not named at all: a label would hide it. */
const TOO_FAR_PX = 12
const PADDING_PX = 5
const GAP_PX = 2

/**
 * Finds room for labels, so that none lies on another and none hides another object. Near things come first; what finds no
 * room says less, and at last nothing. Remembers where labels were, so that they do not leap from side to side.
 */
export function createLabelling() {
  let before = new Map<string, number>()

  return (wishes: readonly LabelWish[], room: LabelRoom, reserved: readonly Box[] = []): Label[] => {
    const taken = [...reserved]
    const centres = wishes.map(({ key, box }) => ({
      key,
      x: box.x + box.width / 2,
      y: box.y + box.height / 2,
    }))
    const isFree = (label: Label) =>
      !taken.some(other => overlap(label.box, other)) &&
      !centres.some(({ key, x, y }) => key !== label.key && contains(label.box, x, y))
    const now = new Map<string, number>()

    const labels = nearFirst(wishes).flatMap(wish => {
      const candidates = candidatesFor(wish, room)
      const last = candidates[before.get(wish.key) ?? -1]
      const found = last && isFree(last) ? last : candidates.find(isFree)
      if (!found) return []
      taken.push(found.box)
      now.set(wish.key, candidates.indexOf(found))
      return [found]
    })
    before = now
    return labels
  }
}

const nearFirst = (wishes: readonly LabelWish[]) =>
  wishes
    .filter(({ box }) => box.height >= TOO_FAR_PX)
    .toSorted((a, b) => b.box.height - a.box.height || (a.key < b.key ? -1 : 1))

/** Above, below and inside the box, with each text. */
function candidatesFor({ key, box, texts }: LabelWish, { size, measure }: LabelRoom): Label[] {
  const isFar = box.height < FAR_PX
  const font = isFar ? SMALL_FONT : NORMAL_FONT
  return (isFar ? texts.slice(-1) : texts).flatMap(text => {
    const width = labelWidth(text, font, measure)
    const sides = [box.y - font.height - GAP_PX, box.y + box.height + GAP_PX, box.y + GAP_PX]
    return sides.map(y => ({
      key,
      text,
      font,
      box: inside({ x: box.x - 1, y, width, height: font.height }, size),
    }))
  })
}

export const labelWidth = (text: string, font: LabelFont, measure: LabelRoom['measure']) =>
  measure(text, font) + 2 * PADDING_PX

/** Wholly inside the picture, as near to where it was wanted as that allows. */
export function inside(box: Box, { width, height }: LabelRoom['size']): Box {
  const least = (wanted: number, most: number) => Math.max(0, Math.min(wanted, most))
  return { ...box, x: least(box.x, width - box.width), y: least(box.y, height - box.height) }
}

export const overlap = (a: Box, b: Box) =>
  a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height

const contains = (box: Box, x: number, y: number) =>
  x > box.x && x < box.x + box.width && y > box.y && y < box.y + box.height
