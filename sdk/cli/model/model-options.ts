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
  const properties: Partial<NewModel> = { normalization: parseNormalization(options) }
  if (head !== undefined) properties.head = parseChoice('head', head, modelHead.options)
  if (license !== undefined) properties.license = license
  if (source !== undefined) properties.source = source
  if (color !== undefined) properties.color = parseChoice('color', color, ['rgb', 'bgr'])
  if (size !== undefined) properties.size = parseSize(size)
  return {
    ...properties,
    ...(labels === undefined ? {} : await readLabelProperties(labels)),
    ...parseDetectionOptions(options),
  }
}

/**
 * Reads the labels of the classes from a file. For the word `coco` instead of a file, returns the
 * labels of the COCO data set, and the other properties of detectors that are trained on it.
 */
async function readLabelProperties(fileOrCoco: string): Promise<Partial<NewModel>> {
  if (fileOrCoco === 'coco') return COCO_DETECTOR
  return { labels: parseLabels((await readLocalFile(fileOrCoco)).toString()) }
}

/** Parses the options that decide which detections of a model are kept. */
function parseDetectionOptions({
  'suppress-together': labelGroups,
  'score-threshold': score,
  'iou-threshold': iou,
  'class-score-threshold': classScores,
}: ModelOptions): Partial<NewModel> {
  const properties: Partial<NewModel> = {}
  if (labelGroups !== undefined) properties.suppress_together = labelGroups.map(splitLabels)
  if (score !== undefined) properties.score_threshold = parseThreshold('score-threshold', score)
  if (iou !== undefined) properties.iou_threshold = parseThreshold('iou-threshold', iou)
  if (classScores !== undefined) {
    properties.class_score_thresholds = Object.fromEntries(classScores.map(parseClassThreshold))
  }
  return properties
}

/** Splits a group of labels such as `car, truck, bus`. */
function splitLabels(group: string): string[] {
  return group.split(',').map(label => label.trim())
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

type Normalization = NonNullable<NewModel['normalization']>

/**
 * Parses the options of the normalization. The model receives a pixel value as
 * (value · scale − mean) / std.
 */
function parseNormalization({ scale, mean, std }: ModelOptions): Normalization {
  const normalization: Normalization = {}
  if (scale !== undefined) normalization.scale = parseScale(scale)
  if (mean !== undefined) normalization.mean = parseMean(mean)
  if (std !== undefined) normalization.std = parseStd(std)
  return normalization
}

function parseScale(text: string): number {
  const scale = parseFraction(text)
  if (Number.isNaN(scale) || scale === 0) {
    throw new UsageError(`--scale ${text} should be a number other than 0`)
  }
  return scale
}

function parseMean(text: string): number[] {
  const mean = parseChannelValues(text)
  if (!mean) throw new UsageError(`--mean ${text} should be one number or three`)
  return mean
}

function parseStd(text: string): number[] {
  const std = parseChannelValues(text)
  if (!std || std.includes(0)) {
    throw new UsageError(`--std ${text} should be one number or three, none 0`)
  }
  return std
}

/**
 * Parses one number for all colour channels, or three numbers in the channel order of the model.
 * Returns undefined if the text is neither.
 */
function parseChannelValues(text: string): number[] | undefined {
  const values = text.split(',').map(parseFraction)
  const isValid = (values.length === 1 || values.length === 3) && !values.some(Number.isNaN)
  return isValid ? values : undefined
}

/**
 * Parses a number or a fraction such as `1/255`. Returns NaN if the text is neither, if a side of
 * the fraction is empty, or if the result is not finite.
 */
export function parseFraction(text: string): number {
  // A numerator, optionally followed by a slash and a denominator.
  const match = /^([^/]+)(?:\/([^/]+))?$/.exec(text.trim())
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
