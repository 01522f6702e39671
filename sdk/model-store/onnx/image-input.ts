import { DATA_TYPES, type GraphProto, type ValueInfoProto } from './schema.ts'

/** The only input of a detector: an image. */
export interface ImageInput {
  name: string
  type: 'float32' | 'uint8'
  /** `nchw`: one plane per colour channel. `nhwc`: the channels of a pixel are adjacent. */
  layout: 'nchw' | 'nhwc'
  /** In pixels; undefined if the dimension is dynamic. */
  width: number | undefined
  height: number | undefined
}

/**
 * Finds the image input of a graph. Throws an `Error` with the reason if the graph is
 * not that of a detector.
 */
export function findImageInput(graph: GraphProto): ImageInput {
  // Models with IR version 3 or lower list their weights as inputs, too.
  const initializerNames = new Set(graph.initializers.map(({ name }) => name))
  const inputs = graph.inputs.filter(({ name }) => !initializerNames.has(name))
  const [input] = inputs
  if (inputs.length !== 1 || !input) {
    const names = inputs.map(({ name }) => name).join(', ') || 'none'
    throw new Error(`it has ${inputs.length} inputs (${names}); a detector has one, an image`)
  }
  return toImageInput(input)
}

function toImageInput(input: ValueInfoProto): ImageInput {
  const name = input.name ?? ''
  const type = parseElementType(input)
  // Some exporters mark a dynamic dimension with zero or a negative number.
  const dims = input.type?.tensorType?.shape?.dims ?? []
  const sizes = dims.map(({ dimValue = 0n }) => (dimValue > 0n ? Number(dimValue) : undefined))
  const [batch = 1, second, third, fourth] = sizes

  if (sizes.length === 4 && batch === 1) {
    if (second === 3) return { name, type, layout: 'nchw', height: third, width: fourth }
    if (fourth === 3) return { name, type, layout: 'nhwc', height: second, width: third }
  }
  const shape = sizes.map(size => size ?? '?').join(', ')
  throw new Error(
    `its input ${name} is [${shape}]; it should be [1, 3, height, width] or [1, height, width, 3]`,
  )
}

function parseElementType({ name, type }: ValueInfoProto): ImageInput['type'] {
  const elemType = type?.tensorType?.elemType
  if (elemType === DATA_TYPES.float) return 'float32'
  if (elemType === DATA_TYPES.uint8) return 'uint8'
  throw new Error(`its input ${name ?? ''} is neither float32 nor uint8 (ONNX type ${elemType})`)
}
