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
const TEXT_OUTLINE_COLOUR = '#0b0f14'
/** Width of the outline of text, as a fraction of the font size. */
const TEXT_OUTLINE_WIDTH = 1 / 5
/** Sizes as fractions of the picture's height. */
const RELATIVE_LINE_WIDTH = 1 / 240
const RELATIVE_FONT_SIZE = 1 / 32
/** Minimum sizes in pixels, for small pictures. */
const MIN_LINE_WIDTH = 2
const MIN_FONT_SIZE = 9
/** Minimum distance of text from the left edge, in pixels. */
const TEXT_MARGIN = 2

/** The picture that is drawn on. All sizes are in pixels. */
interface Canvas extends Size {
  lineWidth: number
  fontSize: number
}

/**
 * Renders the results of an analysed picture as an SVG, which is drawn over the picture:
 * shapes (lines and zones), and above them the objects with their labels. The SVG has the size
 * of the picture in pixels.
 */
export function renderSvg({ objects, shapes }: Drawing, { width, height }: Size): string {
  const canvas = {
    width,
    height,
    lineWidth: Math.max(MIN_LINE_WIDTH, Math.round(height * RELATIVE_LINE_WIDTH)),
    fontSize: Math.max(MIN_FONT_SIZE, Math.round(height * RELATIVE_FONT_SIZE)),
  }
  return [
    '<svg xmlns="http://www.w3.org/2000/svg"',
    ` width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">`,
    `<g fill="none" stroke-width="${canvas.lineWidth}" shape-rendering="crispEdges">`,
    ...shapes.map(shape => renderShape(shape, canvas)),
    ...objects.map(object => renderObject(object, canvas)),
    '</g></svg>',
  ].join('')
}

function renderShape(
  { name, type, points }: Drawing['shapes'][number],
  { width, height, fontSize }: Canvas,
): string {
  const pixels = points.map(({ x, y }) => ({ x: x * width, y: y * height }))
  const element = type === 'line' ? 'polyline' : 'polygon'
  const coordinates = pixels.map(({ x, y }) => `${toTenths(x)},${toTenths(y)}`).join(' ')
  const line = `<${element} points="${coordinates}" stroke="${SHAPE_COLOUR}"/>`

  const [first] = pixels
  return first ? line + renderText(name, first, { fontSize, colour: SHAPE_COLOUR }) : line
}

function renderObject(
  { bbox, label, colour: colourKey }: Drawing['objects'][number],
  canvas: Canvas,
): string {
  const { x, y, width, height } = toPixelBox(bbox, canvas)
  const colour = chooseColour(colourKey)
  const box = `<rect x="${x}" y="${y}" width="${width}" height="${height}" stroke="${colour}"/>`
  const aboveBox = { x, y: y - canvas.lineWidth }
  return box + renderText(label, aboveBox, { fontSize: canvas.fontSize, colour })
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
  const left = toTenths(Math.max(x, TEXT_MARGIN))
  const baseline = toTenths(Math.max(y, fontSize))
  const outlineWidth = toTenths(fontSize * TEXT_OUTLINE_WIDTH)
  const position = `x="${left}" y="${baseline}"`
  const font = `font-family="sans-serif" font-weight="bold" font-size="${fontSize}"`
  const outline = `stroke="${TEXT_OUTLINE_COLOUR}" stroke-width="${outlineWidth}"`
  const content = escapeXml(text)
  return [
    `<text ${position} ${font} ${outline}>${content}</text>`,
    `<text ${position} ${font} stroke="none" fill="${colour}">${content}</text>`,
  ].join('')
}

/**
 * Returns a colour by a hash of the key, such as the name of a class, so that a class has the same
 * colour on every stream.
 */
function chooseColour(key: string): string {
  let hash = 0
  // `>>> 0` limits the hash to 32 bits.
  for (const character of key) hash = (hash * 31 + character.codePointAt(0)!) >>> 0
  return PALETTE[hash % PALETTE.length]!
}

const toPixelBox = ({ x, y, w, h }: BBox, { width, height }: Size) => ({
  x: toTenths(x * width),
  y: toTenths(y * height),
  width: toTenths(w * width),
  height: toTenths(h * height),
})

/** Rounds to tenths of a pixel, which keeps the SVG short. */
const toTenths = (pixels: number) => Math.round(pixels * 10) / 10

/** Escapes text for XML. Control characters, which XML does not allow, are replaced by spaces. */
function escapeXml(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these characters are to be replaced
  const clean = text.toWellFormed().replace(/[\u0000-\u001f\ufffe\uffff]/g, ' ')
  return clean.replace(/[&<>"]/g, character => `&#${character.charCodeAt(0)};`)
}
