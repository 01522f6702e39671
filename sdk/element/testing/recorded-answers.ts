import type { DetectedObject } from '@eyrie/contract/object'
import type { ElementInfer, InferOptions, ModelOutput, ModelResult } from '../infer.ts'

/** What the author of a test says that a model has computed. */
export interface RecordedAnswer {
  /**
   * Outputs by name: the numbers, or also their shape. Without it, the shape is [1, number of
   * values].
   */
  outputs?: Record<string, readonly number[] | ModelOutput>
  objects?: readonly DetectedObject[]
}

/** The answers of one model: for its requests in order, or computed for each request. */
export type RecordedAnswers =
  | readonly RecordedAnswer[]
  | ((options: InferOptions) => RecordedAnswer)

/** A request that an element has made. */
export interface RecordedRequest extends InferOptions {
  readonly model: string
}

/**
 * Creates `infer` for `openElement` from answers that the author of a test supplies, by
 * model. No model runs: such a test shows what the element does with an answer, not whether
 * the model gives it. A request to a model without answers fails, as one to a model that the
 * manifest does not declare.
 */
export function createRecordedAnswers(
  answers: Record<string, RecordedAnswers>,
): ElementInfer & { readonly requests: readonly RecordedRequest[] } {
  const requests: RecordedRequest[] = []
  const counts = new Map<string, number>()

  const infer: ElementInfer = async (model, options = {}) => {
    const recorded = Object.hasOwn(answers, model) ? answers[model]! : undefined
    if (!recorded) throw new Error(`the test has no answers of the model ${model}`)
    requests.push({ model, ...options })
    const count = counts.get(model) ?? 0
    counts.set(model, count + 1)
    const answer = typeof recorded === 'function' ? recorded(options) : recorded[count]
    if (!answer) {
      throw new Error(`the test has only ${recorded.length} answers of the model ${model}`)
    }
    return toResult(answer)
  }
  return Object.assign(infer, { requests })
}

function toResult({ outputs = {}, objects = [] }: RecordedAnswer): ModelResult {
  return {
    outputs: Object.fromEntries(
      Object.entries(outputs).map(([name, output]) => [
        name,
        'dims' in output ? output : toOutput(output),
      ]),
    ),
    objects,
  }
}

const toOutput = (values: readonly number[]): ModelOutput => ({
  type: 'float32',
  dims: [1, values.length],
  data: Float32Array.from(values),
})
