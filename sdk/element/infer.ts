import type { BBox, DetectedObject } from '@eyrie/contract/object'
import type { Frame } from './frame.ts'
import type { Thresholds } from './inference.ts'

/**
 * Runs a model on a part of the picture of the current frame, as in
 * `await infer('faces', { region: object.bbox })`. The engine cuts out the part and runs the model.
 * The element itself needs neither the pixels nor a library for models.
 *
 * Rejects with the reason in these cases:
 * - The manifest does not declare the model in `capabilities.inference`.
 * - The region is completely outside of the picture.
 * - The model fails or takes too long.
 * - There are more than 32 requests for one frame.
 * - Newer frames have superseded the frame, and its picture is no longer available. If the element
 *   does not catch this error, the frame is dropped, and the element continues with the next one.
 *
 * @param model Name of a model of the catalog, or of an own model of the package.
 */
export type ElementInfer = (model: string, options?: InferOptions) => Promise<ModelResult>

/** The part of the picture on which a model runs, and the objects that it reports. */
export interface InferOptions {
  /**
   * The part of the picture that the model sees, such as the `bbox` of an object. Normalized to
   * 0..1 of the source picture, and clipped to it. The default is the whole picture.
   */
  readonly region?: BBox | undefined
  /**
   * The frame whose picture is used. Its call of `process` must not have finished yet. The default
   * is the last frame for which `process` was called. Stateless elements that run `inline` process
   * several frames concurrently: after their first `await`, they should specify the frame.
   */
  readonly frame?: Pick<Frame, 'n'> | undefined
  /** Which objects are reported, for models that detect objects. */
  readonly thresholds?: Thresholds | undefined
}

/** What a model has computed. */
export interface ModelResult {
  /** The outputs of the model by name. Empty for models that detect objects. */
  readonly outputs: Readonly<Record<string, ModelOutput>>
  /**
   * The objects that a detection model has found, by descending score. Boxes are normalized to 0..1
   * of the whole source picture, also if the model has seen only a region. Empty for other models.
   */
  readonly objects: readonly DetectedObject[]
}

/** One output tensor of a model. */
export interface ModelOutput {
  /** Type of the values in the model. */
  readonly type: OutputType
  /**
   * Shape, such as [1, 1000] for the scores of 1000 classes. The first dimension is usually the
   * batch, which is always 1.
   */
  readonly dims: readonly number[]
  /**
   * The values in row-major order, as many as the product of `dims`. The model defines their unit.
   */
  readonly data: OutputData
}

export type OutputType = 'float32' | 'float64' | 'int32' | 'int64' | 'uint8' | 'bool'

/** `Float64Array` for float64 and int64, `Uint8Array` for uint8 and bool. */
export type OutputData = Float32Array | Float64Array | Int32Array | Uint8Array

/**
 * Returns the output of a model with this name, or the only output if `name` is undefined.
 * Throws an `Error` that lists the outputs if there is no such output, or if there are
 * several to choose from.
 */
export function getOutput({ outputs }: ModelResult, name?: string): ModelOutput {
  const names = Object.keys(outputs)
  const list = names.join(', ') || 'none'
  if (name === undefined && names.length !== 1) {
    throw new Error(`the model has the outputs ${list}: name one of them`)
  }
  const output = outputs[name ?? names[0]!]
  if (!output) throw new Error(`the model has no output ${name}, but ${list}`)
  return output
}

/** Converts the raw scores of classes to probabilities with a sum of 1. */
export function softmax(scores: OutputData): Float32Array {
  // The largest score is subtracted, because the exponential function of a large score overflows.
  let max = Number.NEGATIVE_INFINITY
  for (const score of scores) max = Math.max(max, score)
  const powers = Float32Array.from(scores, score => Math.exp(score - max))
  const sum = powers.reduce((total, power) => total + power, 0)
  return powers.map(power => power / sum)
}

/**
 * Returns the index of the largest value, for example of the class with the highest score. Ignores
 * NaN. Returns -1 if there is no other value.
 */
export function findLargest(values: OutputData): number {
  let largestIndex = -1
  for (const [index, value] of values.entries()) {
    if (Number.isNaN(value)) continue
    if (largestIndex === -1 || value > values[largestIndex]!) largestIndex = index
  }
  return largestIndex
}

/**
 * Returns how similar two embeddings of the same length are: the cosine of the angle between them,
 * from -1 to 1. Returns 0 if all values of an embedding are 0.
 */
export function cosineSimilarity(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let dot = 0
  let squaresA = 0
  let squaresB = 0
  for (let i = 0; i < a.length; i++) {
    dot += a[i]! * b[i]!
    squaresA += a[i]! ** 2
    squaresB += b[i]! ** 2
  }
  return dot / (Math.sqrt(squaresA * squaresB) || 1)
}
