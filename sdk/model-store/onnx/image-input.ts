import type { OnnxGraph, OnnxValueInfo } from './schema.ts'
import { elementType } from './schema.ts'

/** The one input of a detector: a picture. */
export interface ImageInput {
  name: string
  type: 'float32' | 'uint8'
  layout: 'nchw' | 'nhwc'
  /** undefined where the graph leaves them open. */
  width: number | undefined
  height: number | undefined
}

/** Finds the graph's picture input. Throws an Error that says why there is none. */
export function imageInputOf(graph: OnnxGraph): ImageInput {
  const given = new Set(graph.initializers.map(({ name }) => name))
  const inputs = graph.inputs.filter(({ name }) => !given.has(name))
  const [input] = inputs
  if (inputs.length !== 1 || !input) {
    const names = inputs.map(({ name }) => name).join(', ') || 'none'
    throw new Error(`it has ${inputs.length} inputs (${names}); a detector has one, a picture`)
  }
  return describe(input)
}

function describe(input: OnnxValueInfo): ImageInput {
  const name = input.name ?? ''
  const { elementType: element, shape } = input.type?.tensor ?? {}
  const type = element === elementType.float ? 'float32' : element === elementType.uint8 ? 'uint8' : undefined
  if (!type) throw new Error(`its input ${name} is neither float32 nor uint8 (ONNX type ${element})`)

  // Zero or less is how some exporters say that a dimension is open.
  const dims = shape?.dims.map(({ value }) => (value && value > 0n ? Number(value) : undefined)) ?? []
  const [batch, second, third, fourth] = dims
  const layout = second === 3 ? 'nchw' : fourth === 3 ? 'nhwc' : undefined
  if (dims.length !== 4 || !layout || (batch ?? 1) !== 1) {
    const shown = dims.map(size => size ?? '?').join(', ')
    throw new Error(
      `its input ${name} is [${shown}]; it should be [1, 3, height, width] or [1, height, width, 3]`,
    )
  }
  const [height, width] = layout === 'nchw' ? [third, fourth] : [second, third]
  return { name, type, layout, width, height }
}
