import type { BBox, Drawing, Point } from '@eyrie/contract'

interface Size {
  width: number
  height: number
}

/** Bright, and told apart by people with any colour vision (after Okabe and Ito). */
const palette = ['#56d4b0', '#ffb938', '#6cc0f5', '#f58bc0', '#f3ea5d', '#ff8f5a', '#b7a6ff', '#a5dd6f']
const SHAPE = '#f8fafc'
const DARK = '#0b0f14'
/** Of the picture's height: strokes and letters grow with it. */
const STROKE = 1 / 240
const LETTER = 1 / 32

/** A drawing as SVG of the picture's size in pixels: lines and zones, and the objects with their labels over them. */
export function renderSvg({ objects, shapes }: Drawing, size: Size): string {
  const stroke = Math.max(2, Math.round(size.height * STROKE))
  const letter = Math.max(9, Math.round(size.height * LETTER))
  const parts = [
    ...shapes.map(({ name, type, points }) => {
      const [first] = points
      const outline = type === 'line' ? 'polyline' : 'polygon'
      const path = points.map(point => at(point, size)).join(' ')
      const label = first ? text(name, first.x * size.width, first.y * size.height, letter, SHAPE) : ''
      return `<${outline} points="${path}" stroke="${SHAPE}"/>${label}`
    }),
    ...objects.map(({ bbox, label, colour }) => {
      const { x, y, width, height } = pixels(bbox, size)
      const paint = colourOf(colour)
      const box = `<rect x="${x}" y="${y}" width="${width}" height="${height}" stroke="${paint}"/>`
      return box + text(label, x, y - stroke, letter, paint)
    }),
  ]
  const { width, height } = size
  const head = `xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}"`
  return `<svg ${head}><g fill="none" stroke-width="${stroke}" shape-rendering="crispEdges">${parts.join('')}</g></svg>`
}

/** Letters with a dark rim, legible on any picture; above `y`, or at the upper edge where there is no room. */
function text(content: string, x: number, y: number, letter: number, colour: string): string {
  const font = `font-family="sans-serif" font-weight="bold" font-size="${letter}"`
  const place = `x="${round(Math.max(x, 2))}" y="${round(Math.max(y, letter))}"`
  const rim = `<text ${place} ${font} stroke="${DARK}" stroke-width="${letter / 5}">${escaped(content)}</text>`
  return `${rim}<text ${place} ${font} stroke="none" fill="${colour}">${escaped(content)}</text>`
}

/** The same name has the same colour on every stream and every day. */
function colourOf(name: string): string {
  let hash = 0
  for (const character of name) hash = (hash * 31 + character.codePointAt(0)!) >>> 0
  return palette[hash % palette.length]!
}

const round = (value: number) => Math.round(value * 10) / 10
const at = ({ x, y }: Point, { width, height }: Size) => `${round(x * width)},${round(y * height)}`

const pixels = ({ x, y, w, h }: BBox, { width, height }: Size) => ({
  x: round(x * width),
  y: round(y * height),
  width: round(w * width),
  height: round(h * height),
})

/** As it may stand in XML, which knows no control characters. */
function escaped(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is taken out
  const clean = text.toWellFormed().replace(/[\u0000-\u001f\ufffe\uffff]/g, ' ')
  return clean.replace(/[&<>"]/g, character => `&#${character.charCodeAt(0)};`)
}
