import type { Shape } from '@eyrie/contract/exports'
import type { BBox, Counter, DetectedObject, Point } from '@eyrie/contract/object'
import { getClassColor } from '../ui/class-color.ts'
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
/** Boxes below this height are drawn with a thinner line. */
const SMALL_BOX_PX = 48
/** In pictures below this width, as on a phone, the labels of shapes are small. */
const NARROW_PICTURE_PX = 480

// Widths of strokes, in CSS pixels.
const LINE_WIDTH = 2.5
const ZONE_WIDTH = 1.5
const BOX_WIDTH = 2
const SMALL_BOX_WIDTH = 1.25
const TRAIL_WIDTH = 2
const OUTLINE_WIDTH = 1

const CORNER_RADIUS = 3
const TRAIL_OPACITY = 0.6
const EMPTY_ZONE_OPACITY = 0.1
const OCCUPIED_ZONE_OPACITY = 0.22
/** Distances of labels from the middle of their line and from the topmost point of their zone. */
const LINE_LABEL_OFFSET = { x: 10, y: 0 }
const ZONE_LABEL_OFFSET = { x: 6, y: 15 }

/**
 * Draws the analysis results of a frame on a canvas above the video: lines and zones with
 * their counters, and objects on top. Coordinates of shapes and objects are fractions of the
 * picture, from 0 to 1.
 */
export type SceneDrawer = (
  context: Context,
  size: Size,
  shapes: readonly Shape[],
  frame: FrameMetadata | undefined,
) => void

/** Creates a drawer for one picture. Its label positions depend on the previous frame. */
export function createSceneDrawer(): SceneDrawer {
  const placeLabels = createLabelLayout()

  return (context, size, shapes, frame) => {
    context.textBaseline = 'middle'
    context.lineJoin = 'round'
    context.lineCap = 'round'

    const objects = frame?.objects ?? []
    const drawableShapes = shapes.filter(({ points }) => points.length >= 2)
    const shapeLabels = drawableShapes.map(shape =>
      drawShape(context, size, shape, frame?.counters[shape.name]),
    )
    for (const object of objects) drawObject(context, size, object)
    for (const label of shapeLabels) drawLabel(context, label, SHAPE_LABEL_COLORS)

    const measure = (text: string, font: LabelFont) => {
      context.font = font.css
      return context.measureText(text).width
    }
    const requests = objects.map((object, index) => createLabelRequest(object, index, size))
    const reserved = shapeLabels.map(({ box }) => box)
    for (const label of placeLabels(requests, { size, measure }, reserved)) {
      const index = requests.findIndex(({ key }) => key === label.key)
      const background = getClassColor(objects[index]!.class)
      drawLabel(context, label, { text: OBJECT_LABEL_TEXT_COLOR, background })
    }
  }
}

function createLabelRequest(object: DetectedObject, index: number, size: Size): LabelRequest {
  const { track } = object
  const box = toPixelBox(object.bbox, size)
  if (track === undefined) return { key: `untracked ${index}`, box, texts: [object.class] }
  return { key: String(track), box, texts: [`${object.class} ${track}`, String(track)] }
}

function drawObject(context: Context, size: Size, object: DetectedObject) {
  const color = getClassColor(object.class)
  const { x, y, width, height } = toPixelBox(object.bbox, size)
  drawTrail(context, size, object, color)
  const box = new Path2D()
  box.roundRect(x, y, width, height, CORNER_RADIUS)
  strokeOutlined(context, box, color, height < SMALL_BOX_PX ? SMALL_BOX_WIDTH : BOX_WIDTH)
}

/** Draws the previous positions of the object, if the pipeline reports them. */
function drawTrail(context: Context, size: Size, { attributes }: DetectedObject, color: string) {
  const trail = attributes?.trail as Point[] | undefined
  if (!Array.isArray(trail)) return
  context.globalAlpha = TRAIL_OPACITY
  context.lineWidth = TRAIL_WIDTH
  context.strokeStyle = color
  context.stroke(toPath(trail.map(point => toPixels(point, size))))
  context.globalAlpha = 1
}

/** Draws a line or zone. Returns its label, which is drawn later, on top of the objects. */
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
  strokeOutlined(context, toPath(points), LINE_COLOR, LINE_WIDTH)
  const middle = findMiddle(points)
  drawDirectionArrow(context, middle)
  const counts = counter ? `  up ${counter.up ?? 0}  down ${counter.down ?? 0}` : ''
  return createShapeLabel(context, size, name + counts, addOffset(middle, LINE_LABEL_OFFSET))
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
  context.globalAlpha = occupancy > 0 ? OCCUPIED_ZONE_OPACITY : EMPTY_ZONE_OPACITY
  context.fillStyle = ZONE_COLOR
  context.fill(path)
  context.globalAlpha = 1
  strokeOutlined(context, path, ZONE_COLOR, ZONE_WIDTH)

  const topmost = points.reduce((highest, point) => (point.y < highest.y ? point : highest))
  const text = counter ? `${name}  ${occupancy}` : name
  return createShapeLabel(context, size, text, addOffset(topmost, ZONE_LABEL_OFFSET))
}

/**
 * Draws an arrow in the direction `up`, which is to the right when walking from the first point of
 * the line to the last.
 */
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

/** Creates a label to the right of a point, moved inside the picture if necessary. */
function createShapeLabel(context: Context, size: Size, text: string, point: Point): ShapeLabel {
  const font = size.width < NARROW_PICTURE_PX ? SMALL_FONT : NORMAL_FONT
  context.font = font.css
  const width = measureLabel(text, font, text => context.measureText(text).width)
  const box = { x: point.x, y: point.y - font.height / 2, width, height: font.height }
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
  context.roundRect(x, y, width, height, CORNER_RADIUS)
  context.fill()

  context.font = font.css
  context.fillStyle = colors.text
  context.textAlign = 'center'
  // Text looks centred when it is drawn half a pixel lower.
  context.fillText(text, x + width / 2, y + height / 2 + 0.5)
}

/** Strokes a path with a dark outline, which makes it visible on bright pictures. */
function strokeOutlined(context: Context, path: Path2D, color: string, width: number) {
  context.lineWidth = width + 2 * OUTLINE_WIDTH
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
  /** Direction of the middle segment, in radians. */
  angle: number
}

/** Returns the middle of the middle segment of a line. */
function findMiddle(points: Point[]): LineMiddle {
  const endIndex = Math.floor(points.length / 2)
  const from = points[endIndex - 1]!
  const to = points[endIndex]!
  return {
    x: (from.x + to.x) / 2,
    y: (from.y + to.y) / 2,
    angle: Math.atan2(to.y - from.y, to.x - from.x),
  }
}

const addOffset = (point: Point, offset: Point): Point => ({
  x: point.x + offset.x,
  y: point.y + offset.y,
})

const toPixels = ({ x, y }: Point, { width, height }: Size): Point => ({
  x: x * width,
  y: y * height,
})

const toPixelBox = ({ x, y, w, h }: BBox, { width, height }: Size) => ({
  x: x * width,
  y: y * height,
  width: w * width,
  height: h * height,
})
