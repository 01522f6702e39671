import type { Shape } from '@eyrie/contract/exports'
import type { BBox, Counter, DetectedObject, Point } from '@eyrie/contract/object'
import { classColour } from './colours.ts'
import type { FrameMetadata } from './metadata-buffer.ts'

interface Size {
  width: number
  height: number
}

type Context = CanvasRenderingContext2D

const FONT = '600 12px system-ui, sans-serif'
const CASING = 'rgb(0 0 0 / 55%)'
const LINE = '#f8fafc'
const ZONE = '#7dd3fc'
const LABEL_HEIGHT = 18

/** Shapes with their counts, then objects over them. Coordinates of all of them are 0..1 of the picture. */
export function drawScene(
  context: Context,
  size: Size,
  shapes: readonly Shape[],
  frame: FrameMetadata | undefined,
): void {
  context.font = FONT
  context.textBaseline = 'middle'
  context.lineJoin = 'round'
  context.lineCap = 'round'
  for (const shape of shapes) {
    if (shape.points.length < 2) continue
    const points = shape.points.map(point => scale(point, size))
    const counter = frame?.counters[shape.name]
    if (shape.type === 'line') drawLine(context, size, points, shape.name, counter)
    else drawZone(context, size, points, shape.name, counter)
  }
  for (const object of frame?.objects ?? []) drawObject(context, size, object)
}

function drawObject(context: Context, size: Size, object: DetectedObject) {
  const colour = classColour(object.class)
  const { x, y, width, height } = toPixels(object.bbox, size)
  drawTrail(context, size, object, colour)
  const outline = new Path2D()
  outline.roundRect(x, y, width, height, 3)
  strokeCased(context, outline, colour, 2)
  const label = object.track === undefined ? object.class : `${object.class} ${object.track}`
  drawLabel(context, size, label, { x: x - 1, y: y - LABEL_HEIGHT - 2 }, { text: '#0b0f14', back: colour })
}

/** Where the object has been, as far as its tracker tells. */
function drawTrail(context: Context, size: Size, { attributes }: DetectedObject, colour: string) {
  const trail = attributes?.trail as Point[] | undefined
  if (!Array.isArray(trail)) return
  const path = new Path2D()
  for (const point of trail) {
    const { x, y } = scale(point, size)
    path.lineTo(x, y)
  }
  context.globalAlpha = 0.6
  context.lineWidth = 2
  context.strokeStyle = colour
  context.stroke(path)
  context.globalAlpha = 1
}

function drawLine(context: Context, size: Size, points: Point[], name: string, counter: Counter | undefined) {
  const path = new Path2D()
  for (const { x, y } of points) path.lineTo(x, y)
  strokeCased(context, path, LINE, 2.5)
  const middle = middleOf(points)
  drawArrow(context, middle)
  const counts = counter ? `  up ${counter.up ?? 0}  down ${counter.down ?? 0}` : ''
  drawLabel(context, size, name + counts, { x: middle.x + 10, y: middle.y - LABEL_HEIGHT / 2 })
}

function drawZone(context: Context, size: Size, points: Point[], name: string, counter: Counter | undefined) {
  const path = new Path2D()
  for (const { x, y } of points) path.lineTo(x, y)
  path.closePath()
  const occupancy = counter?.occupancy ?? 0
  context.globalAlpha = occupancy > 0 ? 0.22 : 0.1
  context.fillStyle = ZONE
  context.fill(path)
  context.globalAlpha = 1
  strokeCased(context, path, ZONE, 1.5)
  const top = points.reduce((a, b) => (b.y < a.y ? b : a))
  drawLabel(context, size, counter ? `${name}  ${occupancy}` : name, { x: top.x + 6, y: top.y + 6 })
}

/** Points where `up` leads: to the right of who stands at the first point and looks to the last. */
function drawArrow(context: Context, { x, y, direction }: Middle) {
  context.save()
  context.translate(x, y)
  context.rotate(direction + Math.PI / 2)
  const head = new Path2D('M 4 -5 L 12 0 L 4 5 Z')
  strokeCased(context, head, LINE, 1)
  context.fillStyle = LINE
  context.fill(head)
  context.restore()
}

interface Colours {
  text: string
  back: string
}

const quiet: Colours = { text: '#f8fafc', back: 'rgb(11 15 20 / 78%)' }

/** Near `at`, but always wholly inside the picture. */
function drawLabel(context: Context, size: Size, text: string, at: Point, colours: Colours = quiet) {
  const width = context.measureText(text).width + 10
  const x = clamp(at.x, 0, size.width - width)
  const y = clamp(at.y, 0, size.height - LABEL_HEIGHT)
  context.fillStyle = colours.back
  context.beginPath()
  context.roundRect(x, y, width, LABEL_HEIGHT, 3)
  context.fill()
  context.fillStyle = colours.text
  context.fillText(text, x + 5, y + LABEL_HEIGHT / 2 + 0.5)
}

/** Light or dark picture: a dark casing keeps a stroke visible on both. */
function strokeCased(context: Context, path: Path2D, colour: string, width: number) {
  context.lineWidth = width + 2
  context.strokeStyle = CASING
  context.stroke(path)
  context.lineWidth = width
  context.strokeStyle = colour
  context.stroke(path)
}

interface Middle extends Point {
  /** Of the segment that it lies on, in radians. */
  direction: number
}

/** The middle of a path's middle segment. */
function middleOf(points: Point[]): Middle {
  const half = Math.floor(points.length / 2)
  const [from, to] = [points[half - 1]!, points[half]!]
  return {
    x: (from.x + to.x) / 2,
    y: (from.y + to.y) / 2,
    direction: Math.atan2(to.y - from.y, to.x - from.x),
  }
}

const clamp = (value: number, least: number, most: number) => Math.max(least, Math.min(value, most))

const scale = ({ x, y }: Point, { width, height }: Size): Point => ({ x: x * width, y: y * height })

const toPixels = ({ x, y, w, h }: BBox, { width, height }: Size) => ({
  x: x * width,
  y: y * height,
  width: w * width,
  height: h * height,
})
