import type { ModelCard } from '@eyrie/contract/model'

/** A box that a model proposes: corners in input pixels, `label` an index into the model's labels. */
export interface Candidate {
  x0: number
  y0: number
  x1: number
  y1: number
  score: number
  label: number
}

/** What a head decodes: the values of one output, row by row, and the size of the input they were computed from. */
export interface HeadOutput {
  values: Float32Array
  classes: number
  inputWidth: number
  inputHeight: number
}

/** Boxes whose score reaches the threshold, in the order of the output. Suppression is still to be done. */
export type DecodeHead = (output: HeadOutput, scoreThreshold: number) => Candidate[]

export type DecodeHeads = Record<ModelCard['head'], DecodeHead>

/** Index of the best class in the row that begins at `row`: 4 of the box, objectness, class scores. */
export function bestClass(values: Float32Array, row: number, classes: number): number {
  let best = 0
  for (let other = 1; other < classes; other++)
    if (values[row + 5 + other]! > values[row + 5 + best]!) best = other
  return best
}

/** What a row's class scores: the class times the objectness. */
export const scoreOf = (values: Float32Array, row: number, label: number) =>
  values[row + 4]! * values[row + 5 + label]!
