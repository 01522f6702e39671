import type { BBox, DetectedObject } from '@eyrie/contract/object'
import type { Frame } from './frame.ts'
import type { Thresholds } from './inference.ts'

/**
 * Runs a model on a part of the picture of the frame that is processed now. The engine cuts out the
 * part and runs the model; the element receives neither pixels nor native code.
 *
 * Rejects with the reason if the manifest does not declare the model in `capabilities.inference`,
 * if the region is outside of the picture, if the model fails or takes too long, or if the frame
 * has more than 32 requests. Also rejects if newer frames have superseded the frame. If the element
 * does not catch this error, the frame is dropped, and the element continues with the next one.
 *
 * @param model Name of a model of the catalog, or of an own model of the package.
 */
export type ElementInfer = (model: string, options?: InferOptions) => Promise<ModelResult>

/** On which part of which frame a model runs, and which objects it reports. */
export interface InferOptions {
  /**
   * The part of the picture that the model sees, such as the `bbox` of an object:
   * normalized to 0..1 of the source picture. What is outside of the picture is cut off. By
   * default the whole picture.
   */
  readonly region?: BBox | undefined
  /**
   * The frame, whose `process` must not have finished. By default the last one for which
   * `process` was called, which stateless elements that run `inline` should not rely on after
   * their first `await`.
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
 * Returns an output of a model: by name, or the only one. Throws an `Error` that names the outputs
 * if it does not exist.
 */
export function getOutput({ outputs }: ModelResult, name?: string): ModelOutput {
  const names = Object.keys(outputs)
  if (name === undefined && names.length !== 1) {
    throw new Error(`the model has the outputs ${names.join(', ') || 'none'}: name one of them`)
  }
  const output = outputs[name ?? names[0]!]
  if (!output) throw new Error(`the model has no output ${name}, but ${names.join(', ') || 'none'}`)
  return output
}

/** Converts the raw scores of classes to probabilities, whose sum is 1. */
export function softmax(scores: OutputData): Float32Array {
  let max = Number.NEGATIVE_INFINITY
  for (const score of scores) max = Math.max(max, score)
  const powers = Float32Array.from(scores, score => Math.exp(score - max))
  const sum = powers.reduce((total, power) => total + power, 0)
  return powers.map(power => power / sum)
}

/** Returns the index of the largest value; -1 if there are no values, or none is a number. */
export function findLargest(values: OutputData): number {
  let best = -1
  for (const [index, value] of values.entries()) {
    const isLargest = best < 0 ? !Number.isNaN(value) : value > values[best]!
    if (isLargest) best = index
  }
  return best
}

/**
 * Returns how similar two embeddings of the same length are: the cosine of their angle, -1 to 1.
 */
export function cosineSimilarity(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let [dot, squaresA, squaresB] = [0, 0, 0]
  for (let i = 0; i < a.length; i++) {
    dot += a[i]! * b[i]!
    squaresA += a[i]! ** 2
    squaresB += b[i]! ** 2
  }
  return dot / (Math.sqrt(squaresA * squaresB) || 1)
}
