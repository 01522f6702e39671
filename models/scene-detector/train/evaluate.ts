/**
 * Evaluates an exported detector on frames that were not used in training:
 *
 *   node evaluate.ts SHARDS [model.onnx]
 *
 * SHARDS is a folder of files written by `generate.ts`. The result for each class is the average
 * precision at an IoU of 0.5, the area under the precision-recall curve as in PASCAL VOC 2010.
 * Objects are ignored if less than a quarter of them is visible or if they are too small.
 */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { openSession } from '@eyrie/model-store/session'
import { Tensor } from 'onnxruntime-node'
import type { TruthFrame } from '../../../scene/truth/scene-truth.ts'

const LABELS = ['person', 'car'] as const
const MIN_SCORE = 0.001
const NMS_IOU = 0.5
const MATCH_IOU = 0.5
const MIN_VISIBILITY = 0.25
/** Share of the picture's height. */
const MIN_HEIGHT = 25 / 720
/**
 * Overlap of a detection with an ignored object up to which the detection still counts as wrong.
 */
const MAX_IGNORED_IOU = 0.3
/** Grey value of the padding. */
const FILL = 114
/** Width and height of the model's input must be multiples of this number. */
const MULTIPLE_OF = 32
/** Columns before the class scores: centre x, centre y, width, height, objectness. */
const COLUMNS_BEFORE_CLASSES = 5

interface Box {
  left: number
  top: number
  right: number
  bottom: number
}
interface Detection extends Box {
  label: string
  score: number
}
/** A detection that was compared with the true objects. */
interface Outcome {
  score: number
  isCorrect: boolean
}

const [folder, model = new URL('../model.onnx', import.meta.url).pathname] = process.argv.slice(2)
if (!folder) throw new Error('the folder of shards is missing: node evaluate.ts SHARDS')
const session = await openSession(await readFile(model))
const outcomes = new Map<string, Outcome[]>(LABELS.map(label => [label, []]))
/** Number of true objects by label. */
const truthCounts = new Map<string, number>(LABELS.map(label => [label, 0]))
const inferenceTimesMs: number[] = []

for (const file of (await readdir(folder)).filter(name => name.endsWith('.json'))) {
  const { width, height, frames } = JSON.parse(await readFile(join(folder, file), 'utf8'))
  const pixels = await readFile(join(folder, file.replace('.json', '.rgb')))
  for (const [i, frame] of (frames as TruthFrame[]).entries()) {
    const rgb = pixels.subarray(i * width * height * 3, (i + 1) * width * height * 3)
    matchDetections(await detect(rgb, width, height), frame, width, height)
  }
}
for (const label of LABELS) {
  console.log(label, summarize(outcomes.get(label)!, truthCounts.get(label)!))
}
console.log('median ms', findMedian(inferenceTimesMs).toFixed(1))

async function detect(rgb: Uint8Array, width: number, height: number): Promise<Detection[]> {
  const frame = createInput(rgb, width, height)
  const start = performance.now()
  const { detections } = await session.run({ frame })
  inferenceTimesMs.push(performance.now() - start)
  return suppressOverlaps(decode(detections!.data as Float32Array))
}

/** Converts a frame to planar RGB and pads it to a size that the model accepts. */
function createInput(rgb: Uint8Array, width: number, height: number): Tensor {
  const paddedWidth = Math.ceil(width / MULTIPLE_OF) * MULTIPLE_OF
  const paddedHeight = Math.ceil(height / MULTIPLE_OF) * MULTIPLE_OF
  const planes = new Uint8Array(3 * paddedWidth * paddedHeight).fill(FILL)
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      for (let channel = 0; channel < 3; channel++) {
        planes[(channel * paddedHeight + y) * paddedWidth + x] = rgb[(y * width + x) * 3 + channel]!
      }
    }
  }
  return new Tensor('uint8', planes, [1, 3, paddedHeight, paddedWidth])
}

/** Decodes rows of box, objectness and class scores. Boxes are in pixels. */
function decode(values: Float32Array): Detection[] {
  const detections: Detection[] = []
  const columns = COLUMNS_BEFORE_CLASSES + LABELS.length
  for (let row = 0; row < values.length; row += columns) {
    const centreX = values[row]!
    const centreY = values[row + 1]!
    const halfWidth = values[row + 2]! / 2
    const halfHeight = values[row + 3]! / 2
    const objectness = values[row + 4]!
    for (const [i, label] of LABELS.entries()) {
      const score = objectness * values[row + COLUMNS_BEFORE_CLASSES + i]!
      if (score < MIN_SCORE) continue
      detections.push({
        label,
        score,
        left: centreX - halfWidth,
        top: centreY - halfHeight,
        right: centreX + halfWidth,
        bottom: centreY + halfHeight,
      })
    }
  }
  return detections
}

/** Greedy non-maximum suppression per class. */
function suppressOverlaps(detections: Detection[]): Detection[] {
  const selected: Detection[] = []
  for (const detection of detections.sort((a, b) => b.score - a.score)) {
    const isSuppressed = selected.some(
      other => other.label === detection.label && computeIou(other, detection) > NMS_IOU,
    )
    if (!isSuppressed) selected.push(detection)
  }
  return selected
}

/**
 * Compares detections, in descending order of their score, with the true objects of the same class
 * and adds the outcomes. A detection that belongs to an ignored object has no outcome.
 */
function matchDetections(
  detections: Detection[],
  frame: TruthFrame,
  width: number,
  height: number,
): void {
  const truth = frame.objects.map(({ class: label, bbox, visibility }) => ({
    label,
    left: bbox.x * width,
    top: bbox.y * height,
    right: (bbox.x + bbox.w) * width,
    bottom: (bbox.y + bbox.h) * height,
    isCounted: visibility >= MIN_VISIBILITY && bbox.h >= MIN_HEIGHT,
    isMatched: false,
  }))
  for (const { label, isCounted } of truth) {
    if (isCounted) truthCounts.set(label, truthCounts.get(label)! + 1)
  }
  for (const detection of detections) {
    const candidates = truth
      .filter(box => box.label === detection.label)
      .map(box => ({ box, overlap: computeIou(box, detection) }))
      .sort((a, b) => b.overlap - a.overlap)
    const match = candidates.find(({ box, overlap }) => !box.isMatched && overlap >= MATCH_IOU)
    const overlapsIgnored = candidates.some(
      ({ box, overlap }) => !box.isCounted && overlap > MAX_IGNORED_IOU,
    )
    if (match) match.box.isMatched = true
    const isIgnored = match ? !match.box.isCounted : overlapsIgnored
    if (!isIgnored) {
      outcomes
        .get(detection.label)!
        .push({ score: detection.score, isCorrect: match !== undefined })
    }
  }
}

/** Computes the average precision of a class and the score threshold with the best F1 value. */
function summarize(outcomes: Outcome[], count: number) {
  let correct = 0
  let best = { f1: 0, precision: 0, recall: 0, score: 0 }
  const curve = outcomes
    .sort((a, b) => b.score - a.score)
    .map(({ score, isCorrect }, i) => {
      if (isCorrect) correct++
      const precision = correct / (i + 1)
      const recall = correct / count
      const f1 = (2 * precision * recall) / (precision + recall || 1)
      if (f1 > best.f1) best = { f1, precision, recall, score }
      return { precision, recall }
    })
  let ap50 = 0
  let maxPrecision = 0
  for (let i = curve.length - 1; i >= 0; i--) {
    // The interpolated precision is the maximum over all points of at least this recall.
    maxPrecision = Math.max(maxPrecision, curve[i]!.precision)
    const previousRecall = curve[i - 1]?.recall ?? 0
    ap50 += (curve[i]!.recall - previousRecall) * maxPrecision
  }
  return { count, ap50: ap50.toFixed(3), best }
}

function computeIou(a: Box, b: Box): number {
  const width = Math.min(a.right, b.right) - Math.max(a.left, b.left)
  const height = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top)
  if (width <= 0 || height <= 0) return 0
  const intersection = width * height
  return intersection / (getArea(a) + getArea(b) - intersection)
}

function getArea({ left, top, right, bottom }: Box): number {
  return (right - left) * (bottom - top)
}

function findMedian(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)]!
}
