import type { parseArgs } from 'node:util'
import { modelHead } from '@eyrie/contract/model'
import { COCO_DETECTOR, type NewModel, parseLabels } from '@eyrie/model-store'
import { parseChoice, UsageError } from '../command/command.ts'
import { readLocalFile } from '../command/local-files.ts'

/** Command-line options for the properties of a model that its ONNX file does not contain. */
export const MODEL_OPTIONS = {
  head: { type: 'string' },
  labels: { type: 'string' },
  license: { type: 'string' },
  source: { type: 'string' },
  color: { type: 'string' },
  scale: { type: 'string' },
  mean: { type: 'string' },
  std: { type: 'string' },
  size: { type: 'string' },
  'suppress-together': { type: 'string', multiple: true },
  'score-threshold': { type: 'string' },
  'iou-threshold': { type: 'string' },
  'class-score-threshold': { type: 'string', multiple: true },
} as const

export type ModelOptions = ReturnType<typeof parseArgs<{ options: typeof MODEL_OPTIONS }>>['values']

/** Parses the options that are present. Throws `UsageError` for an invalid value. */
export async function parseModelOptions(options: ModelOptions): Promise<Partial<NewModel>> {
  const { head, labels, license, source, color, size } = options
  const {
    'suppress-together': labelGroups,
    'score-threshold': scoreThreshold,
    'iou-threshold': iouThreshold,
    'class-score-threshold': classThresholds,
  } = options

  const properties: Partial<NewModel> = { normalization: parseNormalization(options) }
  if (head !== undefined) properties.head = parseChoice('head', head, modelHead.options)
  if (labels !== undefined) Object.assign(properties, await readLabels(labels))
  if (license !== undefined) properties.license = license
  if (source !== undefined) properties.source = source
  if (color !== undefined) properties.color = parseChoice('color', color, ['rgb', 'bgr'])
  if (size !== undefined) properties.size = parseSize(size)
  if (labelGroups) properties.suppress_together = labelGroups.map(splitLabels)
  if (scoreThreshold !== undefined) {
    properties.score_threshold = parseThreshold('score-threshold', scoreThreshold)
  }
  if (iouThreshold !== undefined) {
    properties.iou_threshold = parseThreshold('iou-threshold', iouThreshold)
  }
  if (classThresholds) {
    properties.class_score_thresholds = Object.fromEntries(classThresholds.map(parseClassThreshold))
  }
  return properties
}

/** Parses a number from 0 to 1. */
function parseThreshold(option: keyof ModelOptions, text: string): number {
  // `Number` converts an empty text to 0.
  const threshold = text.trim() === '' ? Number.NaN : Number(text)
  if (threshold >= 0 && threshold <= 1) return threshold
  throw new UsageError(`--${option} ${text} should be a number from 0 to 1`)
}

/** Parses the threshold of a class, such as `airplane=0.9`. The label may contain `=`, too. */
function parseClassThreshold(text: string): [label: string, threshold: number] {
  const [, label, threshold] = /^(.+)=([^=]*)$/.exec(text) ?? []
  if (label === undefined || threshold === undefined) {
    throw new UsageError(
      `--class-score-threshold ${text} should be a class and a number, such as airplane=0.9`,
    )
  }
  return [label.trim(), parseThreshold('class-score-threshold', threshold)]
}

/** Splits a group of labels such as `car, truck, bus`. */
function splitLabels(group: string): string[] {
  return group.split(',').map(label => label.trim())
}

/**
 * Reads the labels of the classes from a file. Instead of a file, the option can be the word
 * `coco`: then returns all properties of detectors that are trained on the COCO data set.
 */
async function readLabels(labels: string): Promise<Partial<NewModel>> {
  if (labels === 'coco') return COCO_DETECTOR
  return { labels: parseLabels((await readLocalFile(labels)).toString()) }
}

type Normalization = NonNullable<NewModel['normalization']>

/**
 * Parses the options of the normalization. The model receives a pixel value as
 * (value · scale − mean) / std.
 */
function parseNormalization({ scale, mean, std }: ModelOptions): Normalization {
  const normalization: Normalization = {}
  if (scale !== undefined) normalization.scale = parseNumbers('scale', scale)[0]
  if (mean !== undefined) normalization.mean = parseNumbers('mean', mean)
  if (std !== undefined) normalization.std = parseNumbers('std', std)
  return normalization
}

/** What the options of the normalization accept. `counts` are the possible numbers of values. */
const NUMBER_OPTIONS = {
  scale: { counts: [1], allowsZero: false, format: 'a number other than 0' },
  mean: { counts: [1, 3], allowsZero: true, format: 'one number or three' },
  std: { counts: [1, 3], allowsZero: false, format: 'one number or three, none 0' },
}

/**
 * Parses one number for all colour channels, or three numbers in the channel order of the model.
 */
function parseNumbers(option: keyof typeof NUMBER_OPTIONS, text: string): number[] {
  const { counts, allowsZero, format } = NUMBER_OPTIONS[option]
  const numbers = text.split(',').map(parseFraction)
  const areValid = numbers.every(value => Number.isFinite(value) && (allowsZero || value !== 0))
  if (!areValid || !counts.includes(numbers.length)) {
    throw new UsageError(`--${option} ${text} should be ${format}`)
  }
  return numbers
}

/** A numerator, optionally followed by a slash and a denominator. */
const FRACTION = /^([^/]+)(?:\/([^/]+))?$/

/**
 * Parses a number or a fraction such as `1/255`. Returns NaN if the text is neither, if a side of
 * the fraction is empty, or if the result is not finite.
 */
export function parseFraction(text: string): number {
  const match = FRACTION.exec(text.trim())
  if (!match) return Number.NaN
  const [, numerator, denominator = '1'] = match
  const quotient = Number(numerator) / Number(denominator)
  return Number.isFinite(quotient) ? quotient : Number.NaN
}

/** Parses a size in pixels, such as `640x480`. Each side has at most four digits. */
function parseSize(text: string): { width: number; height: number } {
  const match = /^([1-9]\d{0,3})x([1-9]\d{0,3})$/.exec(text)
  if (!match) throw new UsageError(`--size ${text} should be width x height, such as 640x640`)
  const [, width, height] = match
  return { width: Number(width), height: Number(height) }
}
