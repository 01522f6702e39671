import { elementType, type OnnxGraph, type OnnxValueInfo } from './schema.ts'

/** The only input of a detector: an image. */
export interface ImageInput {
  name: string
  type: 'float32' | 'uint8'
  layout: 'nchw' | 'nhwc'
  /** undefined if the dimension is dynamic. */
  width: number | undefined
  height: number | undefined
}

/** Finds the image input of a graph. Throws an `Error` with the reason if there is none. */
export function findImageInput(graph: OnnxGraph): ImageInput {
  const initializerNames = new Set(graph.initializers.map(({ name }) => name))
  const inputs = graph.inputs.filter(({ name }) => !initializerNames.has(name))
  const [input] = inputs
  if (inputs.length !== 1 || !input) {
    const names = inputs.map(({ name }) => name).join(', ') || 'none'
    throw new Error(`it has ${inputs.length} inputs (${names}); a detector has one, an image`)
  }
  return toImageInput(input)
}

function toImageInput(input: OnnxValueInfo): ImageInput {
  const name = input.name ?? ''
  const { elementType: element, shape } = input.type?.tensor ?? {}
  const type = element === elementType.float ? 'float32' : element === elementType.uint8 ? 'uint8' : undefined
  if (!type) throw new Error(`its input ${name} is neither float32 nor uint8 (ONNX type ${element})`)

  // Some exporters mark a dynamic dimension with zero or a negative number.
  const dims = shape?.dims.map(({ value }) => (value && value > 0n ? Number(value) : undefined)) ?? []
  const [batch, second, third, fourth] = dims
  const layout = second === 3 ? 'nchw' : fourth === 3 ? 'nhwc' : undefined
  if (dims.length !== 4 || !layout || (batch ?? 1) !== 1) {
    const found = dims.map(size => size ?? '?').join(', ')
    throw new Error(
      `its input ${name} is [${found}]; it should be [1, 3, height, width] or [1, height, width, 3]`,
    )
  }
  const [height, width] = layout === 'nchw' ? [third, fourth] : [second, third]
  return { name, type, layout, width, height }
}
