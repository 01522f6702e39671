import type { Shape } from '@eyrie/contract/exports'
import type { BBox, Counter, DetectedObject, Point } from '@eyrie/contract/object'
import { classColour } from '../ui/class-color.ts'
import {
  createLabelling,
  inside,
  type Label,
  type LabelFont,
  type LabelWish,
  labelWidth,
  NORMAL_FONT,
  SMALL_FONT,
} from './label-layout.ts'
import type { FrameMetadata } from './metadata-buffer.ts'

interface Size {
  width: number
  height: number
}

type Context = CanvasRenderingContext2D
type Name = Omit<Label, 'key'>

const CASING = 'rgb(0 0 0 / 55%)'
const LINE = '#f8fafc'
const ZONE = '#7dd3fc'
/** Boxes lower than this are drawn with a finer line. */
const SMALL_PX = 48
/** On a picture narrower than this, as on a telephone, all labels are small. */
const NARROW_PX = 480

/** Draws shapes with their counts, then objects over them. Coordinates of all of them are 0..1 of the picture. */
export type SceneDrawer = (
  context: Context,
  size: Size,
  shapes: readonly Shape[],
  frame: FrameMetadata | undefined,
) => void

/** Labels stay where they were in the frame before, so each picture has a drawer of its own. */
export function createSceneDrawer(): SceneDrawer {
  const placeLabels = createLabelling()

  return (context, size, shapes, frame) => {
    context.textBaseline = 'middle'
    context.lineJoin = 'round'
    context.lineCap = 'round'
    const names = shapes
      .filter(({ points }) => points.length >= 2)
      .map(shape => drawShape(context, size, shape, frame?.counters[shape.name]))
    const objects = frame?.objects ?? []
    for (const object of objects) drawObject(context, size, object)
    for (const name of names) drawLabel(context, name, quiet)

    const measure = (text: string, font: LabelFont) => {
      context.font = font.css
      return context.measureText(text).width
    }
    const wishes = objects.map((object, index) => wishOf(object, index, size))
    const taken = names.map(({ box }) => box)
    for (const label of placeLabels(wishes, { size, measure }, taken)) {
      const object = objects[wishes.findIndex(({ key }) => key === label.key)]!
      drawLabel(context, label, { text: '#0b0f14', back: classColour(object.class) })
    }
  }
}

function wishOf(object: DetectedObject, index: number, size: Size): LabelWish {
  const { track } = object
  const box = toPixels(object.bbox, size)
  return track === undefined
    ? { key: `untracked ${index}`, box, texts: [object.class] }
    : { key: String(track), box, texts: [`${object.class} ${track}`, String(track)] }
}

function drawObject(context: Context, size: Size, object: DetectedObject) {
  const colour = classColour(object.class)
  const { x, y, width, height } = toPixels(object.bbox, size)
  drawTrail(context, size, object, colour)
  const outline = new Path2D()
  outline.roundRect(x, y, width, height, 3)
  strokeCased(context, outline, colour, height < SMALL_PX ? 1.25 : 2)
}

/** Returns its label, which nothing is to cross. */
function drawShape(
  context: Context,
  size: Size,
  { type, name, points }: Shape,
  counter: Counter | undefined,
): Name {
  const scaled = points.map(point => scale(point, size))
  return type === 'line'
    ? drawLine(context, size, scaled, name, counter)
    : drawZone(context, size, scaled, name, counter)
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

function drawLine(
  context: Context,
  size: Size,
  points: Point[],
  name: string,
  counter: Counter | undefined,
): Name {
  const path = new Path2D()
  for (const { x, y } of points) path.lineTo(x, y)
  strokeCased(context, path, LINE, 2.5)
  const middle = middleOf(points)
  drawArrow(context, middle)
  const counts = counter ? `  up ${counter.up ?? 0}  down ${counter.down ?? 0}` : ''
  return nameAt(context, size, name + counts, { x: middle.x + 10, y: middle.y })
}

function drawZone(
  context: Context,
  size: Size,
  points: Point[],
  name: string,
  counter: Counter | undefined,
): Name {
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
  return nameAt(context, size, counter ? `${name}  ${occupancy}` : name, {
    x: top.x + 6,
    y: top.y + 15,
  })
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

/** To the right of `at`, but always wholly inside the picture. */
function nameAt(context: Context, size: Size, text: string, at: Point): Name {
  const font = size.width < NARROW_PX ? SMALL_FONT : NORMAL_FONT
  context.font = font.css
  const width = labelWidth(text, font, each => context.measureText(each).width)
  return { text, font, box: inside({ x: at.x, y: at.y - font.height / 2, width, height: font.height }, size) }
}

function drawLabel(context: Context, { text, font, box }: Name, colours: Colours) {
  const { x, y, width, height } = box
  context.fillStyle = colours.back
  context.beginPath()
  context.roundRect(x, y, width, height, 3)
  context.fill()
  context.font = font.css
  context.fillStyle = colours.text
  context.textAlign = 'center'
  context.fillText(text, x + width / 2, y + height / 2 + 0.5)
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

const scale = ({ x, y }: Point, { width, height }: Size): Point => ({ x: x * width, y: y * height })

const toPixels = ({ x, y, w, h }: BBox, { width, height }: Size) => ({
  x: x * width,
  y: y * height,
  width: w * width,
  height: h * height,
})
