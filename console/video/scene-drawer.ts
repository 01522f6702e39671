import type { Shape } from '@eyrie/contract/exports'
import type { BBox, Counter, DetectedObject, Point } from '@eyrie/contract/object'
import { classColor } from '../ui/class-color.ts'
import {
  createLabelLayout,
  type Label,
  type LabelFont,
  type LabelRequest,
  measureLabel,
  moveInside,
  NORMAL_FONT,
  SMALL_FONT,
} from './label-layout.ts'
import type { FrameMetadata } from './metadata-buffer.ts'

interface Size {
  width: number
  height: number
}

type Context = CanvasRenderingContext2D
type ShapeLabel = Omit<Label, 'key'>

const OUTLINE_COLOR = 'rgb(0 0 0 / 55%)'
const LINE_COLOR = '#f8fafc'
const ZONE_COLOR = '#7dd3fc'
const SHAPE_LABEL_COLORS = { text: '#f8fafc', background: 'rgb(11 15 20 / 78%)' }
const OBJECT_LABEL_TEXT_COLOR = '#0b0f14'
/** Boxes lower than this are drawn with a thinner line. */
const SMALL_BOX_PX = 48
/** Below this width of the picture, as on a phone, all labels are small. */
const NARROW_PICTURE_PX = 480

/** Draws shapes with their counters, and objects on top of them. All coordinates are 0..1 of the picture. */
export type SceneDrawer = (
  context: Context,
  size: Size,
  shapes: readonly Shape[],
  frame: FrameMetadata | undefined,
) => void

/** Each picture needs its own drawer, because label positions depend on the previous frame. */
export function createSceneDrawer(): SceneDrawer {
  const placeLabels = createLabelLayout()

  return (context, size, shapes, frame) => {
    context.textBaseline = 'middle'
    context.lineJoin = 'round'
    context.lineCap = 'round'
    const shapeLabels = shapes
      .filter(({ points }) => points.length >= 2)
      .map(shape => drawShape(context, size, shape, frame?.counters[shape.name]))
    const objects = frame?.objects ?? []
    for (const object of objects) drawObject(context, size, object)
    for (const label of shapeLabels) drawLabel(context, label, SHAPE_LABEL_COLORS)

    const measure = (text: string, font: LabelFont) => {
      context.font = font.css
      return context.measureText(text).width
    }
    const requests = objects.map((object, index) => createLabelRequest(object, index, size))
    const reserved = shapeLabels.map(({ box }) => box)
    for (const label of placeLabels(requests, { size, measure }, reserved)) {
      const object = objects[requests.findIndex(({ key }) => key === label.key)]!
      drawLabel(context, label, { text: OBJECT_LABEL_TEXT_COLOR, background: classColor(object.class) })
    }
  }
}

function createLabelRequest(object: DetectedObject, index: number, size: Size): LabelRequest {
  const { track } = object
  const box = toPixelBox(object.bbox, size)
  return track === undefined
    ? { key: `untracked ${index}`, box, texts: [object.class] }
    : { key: String(track), box, texts: [`${object.class} ${track}`, String(track)] }
}

function drawObject(context: Context, size: Size, object: DetectedObject) {
  const color = classColor(object.class)
  const { x, y, width, height } = toPixelBox(object.bbox, size)
  drawTrail(context, size, object, color)
  const box = new Path2D()
  box.roundRect(x, y, width, height, 3)
  strokeOutlined(context, box, color, height < SMALL_BOX_PX ? 1.25 : 2)
}

/** Draws the previous positions of the object, if the pipeline reports them. */
function drawTrail(context: Context, size: Size, { attributes }: DetectedObject, color: string) {
  const trail = attributes?.trail as Point[] | undefined
  if (!Array.isArray(trail)) return
  context.globalAlpha = 0.6
  context.lineWidth = 2
  context.strokeStyle = color
  context.stroke(toPath(trail.map(point => toPixels(point, size))))
  context.globalAlpha = 1
}

/** Returns the label of the shape, which is drawn on top of the objects. */
function drawShape(
  context: Context,
  size: Size,
  { type, name, points }: Shape,
  counter: Counter | undefined,
): ShapeLabel {
  const pixels = points.map(point => toPixels(point, size))
  return type === 'line'
    ? drawLine(context, size, pixels, name, counter)
    : drawZone(context, size, pixels, name, counter)
}

function drawLine(
  context: Context,
  size: Size,
  points: Point[],
  name: string,
  counter: Counter | undefined,
): ShapeLabel {
  strokeOutlined(context, toPath(points), LINE_COLOR, 2.5)
  const middle = findMiddle(points)
  drawDirectionArrow(context, middle)
  const counts = counter ? `  up ${counter.up ?? 0}  down ${counter.down ?? 0}` : ''
  return createShapeLabel(context, size, name + counts, { x: middle.x + 10, y: middle.y })
}

function drawZone(
  context: Context,
  size: Size,
  points: Point[],
  name: string,
  counter: Counter | undefined,
): ShapeLabel {
  const path = toPath(points)
  path.closePath()
  const occupancy = counter?.occupancy ?? 0
  context.globalAlpha = occupancy > 0 ? 0.22 : 0.1
  context.fillStyle = ZONE_COLOR
  context.fill(path)
  context.globalAlpha = 1
  strokeOutlined(context, path, ZONE_COLOR, 1.5)
  const top = points.reduce((a, b) => (b.y < a.y ? b : a))
  return createShapeLabel(context, size, counter ? `${name}  ${occupancy}` : name, {
    x: top.x + 6,
    y: top.y + 15,
  })
}

/** Points in the direction `up`: to the right, when looking from the first point of the line to the last. */
function drawDirectionArrow(context: Context, { x, y, angle }: LineMiddle) {
  context.save()
  context.translate(x, y)
  context.rotate(angle + Math.PI / 2)
  const head = new Path2D('M 4 -5 L 12 0 L 4 5 Z')
  strokeOutlined(context, head, LINE_COLOR, 1)
  context.fillStyle = LINE_COLOR
  context.fill(head)
  context.restore()
}

/** A label to the right of `at`, moved inside the picture if necessary. */
function createShapeLabel(context: Context, size: Size, text: string, at: Point): ShapeLabel {
  const font = size.width < NARROW_PICTURE_PX ? SMALL_FONT : NORMAL_FONT
  context.font = font.css
  const width = measureLabel(text, font, text => context.measureText(text).width)
  const box = { x: at.x, y: at.y - font.height / 2, width, height: font.height }
  return { text, font, box: moveInside(box, size) }
}

function drawLabel(
  context: Context,
  { text, font, box }: ShapeLabel,
  colors: { text: string; background: string },
) {
  const { x, y, width, height } = box
  context.fillStyle = colors.background
  context.beginPath()
  context.roundRect(x, y, width, height, 3)
  context.fill()
  context.font = font.css
  context.fillStyle = colors.text
  context.textAlign = 'center'
  context.fillText(text, x + width / 2, y + height / 2 + 0.5)
}

/** The dark outline keeps a stroke visible on bright pictures, too. */
function strokeOutlined(context: Context, path: Path2D, color: string, width: number) {
  context.lineWidth = width + 2
  context.strokeStyle = OUTLINE_COLOR
  context.stroke(path)
  context.lineWidth = width
  context.strokeStyle = color
  context.stroke(path)
}

function toPath(points: Point[]): Path2D {
  const path = new Path2D()
  for (const { x, y } of points) path.lineTo(x, y)
  return path
}

interface LineMiddle extends Point {
  /** Of the middle segment, in radians. */
  angle: number
}

/** The middle of the middle segment. */
function findMiddle(points: Point[]): LineMiddle {
  const half = Math.floor(points.length / 2)
  const [from, to] = [points[half - 1]!, points[half]!]
  return {
    x: (from.x + to.x) / 2,
    y: (from.y + to.y) / 2,
    angle: Math.atan2(to.y - from.y, to.x - from.x),
  }
}

const toPixels = ({ x, y }: Point, { width, height }: Size): Point => ({ x: x * width, y: y * height })

const toPixelBox = ({ x, y, w, h }: BBox, { width, height }: Size) => ({
  x: x * width,
  y: y * height,
  width: w * width,
  height: h * height,
})
