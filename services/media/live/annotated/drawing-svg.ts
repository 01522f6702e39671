import type { BBox, Drawing, Point } from '@eyrie/contract'

interface Size {
  width: number
  height: number
}

/** Bright colours that people with any colour vision can distinguish (after Okabe and Ito). */
const PALETTE = [
  '#56d4b0',
  '#ffb938',
  '#6cc0f5',
  '#f58bc0',
  '#f3ea5d',
  '#ff8f5a',
  '#b7a6ff',
  '#a5dd6f',
]
const SHAPE_COLOUR = '#f8fafc'
const OUTLINE_COLOUR = '#0b0f14'
/** Sizes as fractions of the picture's height. */
const RELATIVE_STROKE_WIDTH = 1 / 240
const RELATIVE_FONT_SIZE = 1 / 32
/** Minimum sizes in pixels, for small pictures. */
const MIN_STROKE_WIDTH = 2
const MIN_FONT_SIZE = 9
/** Minimum distance of text from the left edge, in pixels. */
const TEXT_MARGIN = 2

/**
 * Renders the results of an analysed picture as an SVG, which is drawn over the picture:
 * shapes (lines and zones), and above them the objects with their labels. The SVG has the size
 * of the picture in pixels.
 */
export function renderSvg({ objects, shapes }: Drawing, size: Size): string {
  const { width, height } = size
  const stroke = Math.max(MIN_STROKE_WIDTH, Math.round(height * RELATIVE_STROKE_WIDTH))
  const fontSize = Math.max(MIN_FONT_SIZE, Math.round(height * RELATIVE_FONT_SIZE))
  const elements = [
    ...shapes.map(shape => renderShape(shape, size, fontSize)),
    ...objects.map(object => renderObject(object, size, { fontSize, stroke })),
  ]

  const group = `<g fill="none" stroke-width="${stroke}" shape-rendering="crispEdges">${elements.join('')}</g>`
  const attributes = `xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}"`
  return `<svg ${attributes}>${group}</svg>`
}

function renderShape(
  { name, type, points }: Drawing['shapes'][number],
  size: Size,
  fontSize: number,
): string {
  const [first] = points
  const element = type === 'line' ? 'polyline' : 'polygon'
  const coordinates = points.map(point => toPixelPoint(point, size)).join(' ')
  const outline = `<${element} points="${coordinates}" stroke="${SHAPE_COLOUR}"/>`
  if (!first) return outline

  const position = { x: first.x * size.width, y: first.y * size.height }
  return outline + renderText(name, position, { fontSize, colour: SHAPE_COLOUR })
}

function renderObject(
  { bbox, label, colour }: Drawing['objects'][number],
  size: Size,
  { fontSize, stroke }: { fontSize: number; stroke: number },
): string {
  const { x, y, width, height } = toPixelBox(bbox, size)
  const hexColour = chooseColour(colour)
  const box = `<rect x="${x}" y="${y}" width="${width}" height="${height}" stroke="${hexColour}"/>`
  return box + renderText(label, { x, y: y - stroke }, { fontSize, colour: hexColour })
}

/**
 * Renders text with a dark outline, which is legible on any picture. The text is moved down if it
 * would exceed the top edge.
 */
function renderText(
  text: string,
  { x, y }: Point,
  { fontSize, colour }: { fontSize: number; colour: string },
): string {
  const font = `font-family="sans-serif" font-weight="bold" font-size="${fontSize}"`
  const position = `x="${round(Math.max(x, TEXT_MARGIN))}" y="${round(Math.max(y, fontSize))}"`
  const content = escapeXml(text)
  const outline = `<text ${position} ${font} stroke="${OUTLINE_COLOUR}" stroke-width="${fontSize / 5}">${content}</text>`
  return `${outline}<text ${position} ${font} stroke="none" fill="${colour}">${content}</text>`
}

/** Returns a colour by a hash of the name, so that a class has the same colour on every stream. */
function chooseColour(name: string): string {
  let hash = 0
  for (const character of name) hash = (hash * 31 + character.codePointAt(0)!) >>> 0
  return PALETTE[hash % PALETTE.length]!
}

const round = (pixels: number) => Math.round(pixels * 10) / 10

const toPixelPoint = ({ x, y }: Point, { width, height }: Size) =>
  `${round(x * width)},${round(y * height)}`

const toPixelBox = ({ x, y, w, h }: BBox, { width, height }: Size) => ({
  x: round(x * width),
  y: round(y * height),
  width: round(w * width),
  height: round(h * height),
})

/** Escapes text for XML. Control characters, which XML does not allow, are replaced by spaces. */
function escapeXml(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these characters are to be replaced
  const clean = text.toWellFormed().replace(/[\u0000-\u001f\ufffe\uffff]/g, ' ')
  return clean.replace(/[&<>"]/g, character => `&#${character.charCodeAt(0)};`)
}
