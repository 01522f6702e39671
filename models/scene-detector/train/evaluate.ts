/**
 * Evaluates an exported detector on shards that were not used in training: node evaluate.ts SHARDS [model.onnx]
 *
 * Average precision at an IoU of 0.5 over all points of the curve (PASCAL VOC 2010). Objects that are less than a
 * quarter visible, or lower than 25 pixels of the 720-line picture, are ignored.
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
const MIN_HEIGHT = 25 / 720
const FILL = 114

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
interface Outcome {
  score: number
  isCorrect: boolean
}

const [folder, model = new URL('../model.onnx', import.meta.url).pathname] = process.argv.slice(2)
if (!folder) throw new Error('the folder of shards is missing: node evaluate.ts SHARDS')
const session = await openSession(await readFile(model))
const outcomes = new Map<string, Outcome[]>(LABELS.map(label => [label, []]))
const truthCounts = new Map<string, number>(LABELS.map(label => [label, 0]))
const timesMs: number[] = []

for (const file of (await readdir(folder)).filter(name => name.endsWith('.json'))) {
  const { width, height, frames } = JSON.parse(await readFile(join(folder, file), 'utf8'))
  const pixels = await readFile(join(folder, file.replace('.json', '.rgb')))
  for (const [i, frame] of (frames as TruthFrame[]).entries()) {
    const rgb = pixels.subarray(i * width * height * 3, (i + 1) * width * height * 3)
    matchDetections(await detect(rgb, width, height), frame, width, height)
  }
}
for (const label of LABELS) console.log(label, summarise(outcomes.get(label)!, truthCounts.get(label)!))
console.log('median ms', timesMs.sort((a, b) => a - b)[timesMs.length >> 1]!.toFixed(1))

async function detect(rgb: Uint8Array, width: number, height: number): Promise<Detection[]> {
  const paddedWidth = Math.ceil(width / 32) * 32
  const paddedHeight = Math.ceil(height / 32) * 32
  const planes = new Uint8Array(3 * paddedWidth * paddedHeight).fill(FILL)
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++)
      for (let c = 0; c < 3; c++)
        planes[(c * paddedHeight + y) * paddedWidth + x] = rgb[(y * width + x) * 3 + c]!
  const start = performance.now()
  const { detections } = await session.run({
    frame: new Tensor('uint8', planes, [1, 3, paddedHeight, paddedWidth]),
  })
  timesMs.push(performance.now() - start)
  return suppressOverlaps(decode(detections!.data as Float32Array))
}

function decode(rows: Float32Array): Detection[] {
  const detections: Detection[] = []
  const columns = 5 + LABELS.length
  for (let o = 0; o < rows.length; o += columns) {
    const [x, y, w, h, objectness] = rows.subarray(o, o + 5) as unknown as [
      number,
      number,
      number,
      number,
      number,
    ]
    for (const [i, label] of LABELS.entries()) {
      const score = objectness * rows[o + 5 + i]!
      if (score < MIN_SCORE) continue
      detections.push({ label, score, left: x - w / 2, top: y - h / 2, right: x + w / 2, bottom: y + h / 2 })
    }
  }
  return detections
}

/** Greedy non-maximum suppression per class. */
function suppressOverlaps(detections: Detection[]): Detection[] {
  const kept: Detection[] = []
  for (const box of detections.sort((a, b) => b.score - a.score))
    if (!kept.some(other => other.label === box.label && iou(other, box) > NMS_IOU)) kept.push(box)
  return kept
}

/** Matches detections, best first, to true boxes of their class and records which are correct. */
function matchDetections(detections: Detection[], frame: TruthFrame, width: number, height: number): void {
  const truth = frame.objects.map(({ class: label, bbox, visibility }) => ({
    label,
    left: bbox.x * width,
    top: bbox.y * height,
    right: (bbox.x + bbox.w) * width,
    bottom: (bbox.y + bbox.h) * height,
    isCounted: visibility >= MIN_VISIBILITY && bbox.h >= MIN_HEIGHT,
    isMatched: false,
  }))
  for (const { label, isCounted } of truth) if (isCounted) truthCounts.set(label, truthCounts.get(label)! + 1)
  for (const detection of detections) {
    const candidates = truth
      .filter(box => box.label === detection.label)
      .map(box => ({ box, overlap: iou(box, detection) }))
      .sort((a, b) => b.overlap - a.overlap)
    const match = candidates.find(({ box, overlap }) => !box.isMatched && overlap >= MATCH_IOU)
    if (match) {
      match.box.isMatched = true
      if (match.box.isCounted)
        outcomes.get(detection.label)!.push({ score: detection.score, isCorrect: true })
    } else if (!candidates.some(({ box, overlap }) => !box.isCounted && overlap > 0.3)) {
      outcomes.get(detection.label)!.push({ score: detection.score, isCorrect: false })
    }
  }
}

function summarise(outcomes: Outcome[], count: number) {
  let correct = 0
  let best = { f1: 0, precision: 0, recall: 0, score: 0 }
  const curve = outcomes
    .sort((a, b) => b.score - a.score)
    .map(({ score, isCorrect }, i) => {
      if (isCorrect) correct++
      const [precision, recall] = [correct / (i + 1), correct / count]
      const f1 = (2 * precision * recall) / (precision + recall || 1)
      if (f1 > best.f1) best = { f1, precision, recall, score }
      return { precision, recall }
    })
  let ap50 = 0
  let envelope = 0
  for (let i = curve.length - 1; i >= 0; i--) {
    envelope = Math.max(envelope, curve[i]!.precision)
    ap50 += (curve[i]!.recall - (curve[i - 1]?.recall ?? 0)) * envelope
  }
  return { count, ap50: ap50.toFixed(3), best }
}

function iou(a: Box, b: Box): number {
  const w = Math.min(a.right, b.right) - Math.max(a.left, b.left)
  const h = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top)
  if (w <= 0 || h <= 0) return 0
  const area = (box: Box): number => (box.right - box.left) * (box.bottom - box.top)
  return (w * h) / (area(a) + area(b) - w * h)
}
