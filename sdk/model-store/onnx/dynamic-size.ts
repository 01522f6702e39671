import { createDimension } from './build.ts'
import type { ImageInput } from './image-input.ts'
import {
  DATA_TYPES,
  type DimensionProto,
  type GraphProto,
  type NodeProto,
  type TensorProto,
  type ValueInfoProto,
} from './schema.ts'

/**
 * Strides: distances between the cells of a detector's feature maps, in input pixels. Common
 * detectors use some of these.
 */
const STRIDES = [4, 8, 16, 32, 64]

/**
 * Converts a graph that was exported for a fixed image size, so that it accepts other sizes:
 *
 * - Height and width of the input and all dimensions of the outputs become dynamic.
 * - Recorded shapes of intermediate values are removed.
 * - In the target shapes of `Reshape` nodes, the number of cells becomes -1, which ONNX
 *   infers from the data.
 *
 * The result is the same at the original size. Other sizes work only if the graph is fully
 * convolutional, which the caller must verify.
 */
export function makeSizeDynamic(
  graph: GraphProto,
  input: ImageInput & { width: number; height: number },
): GraphProto {
  const cellCounts = countCells(input)
  const reshapes = graph.nodes.filter(({ opType }) => opType === 'Reshape')
  // The second input of a Reshape node is its target shape.
  const targetNames = new Set(reshapes.map(({ inputs }) => inputs[1]))

  // A target shape is either an initializer of the graph or the output of a `Constant` node.
  const initializers = graph.initializers.map(tensor =>
    targetNames.has(tensor.name) ? inferCellCount(tensor, cellCounts) : tensor,
  )
  const nodes = graph.nodes.map(node => {
    const isTarget = node.opType === 'Constant' && targetNames.has(node.outputs[0])
    return isTarget ? inferCellCountOfConstant(node, cellCounts) : node
  })

  return {
    ...graph,
    inputs: graph.inputs.map(info =>
      info.name === input.name ? withDynamicSize(info, input.layout) : info,
    ),
    outputs: graph.outputs.map(withDynamicDims),
    valueInfos: [],
    initializers,
    nodes,
  }
}

/** The number of cells of each possible feature map at the original size. */
function countCells({ width, height }: { width: number; height: number }): Set<number> {
  const cellCounts = new Set(STRIDES.map(stride => (width / stride) * (height / stride)))
  // A single cell cannot be distinguished from a batch of one.
  cellCounts.delete(1)
  return cellCounts
}

function withDynamicSize(input: ValueInfoProto, layout: ImageInput['layout']): ValueInfoProto {
  const dims = layout === 'nchw' ? [1, 3, 'height', 'width'] : [1, 'height', 'width', 3]
  return withDims(input, dims.map(createDimension))
}

function withDynamicDims(output: ValueInfoProto): ValueInfoProto {
  const dims = output.type?.tensorType?.shape?.dims ?? []
  return withDims(
    output,
    dims.map((_, i) => createDimension(`${output.name}_${i}`)),
  )
}

function withDims(info: ValueInfoProto, dims: DimensionProto[]): ValueInfoProto {
  const tensorType = info.type?.tensorType
  if (!tensorType?.shape) return info
  const shape = { ...tensorType.shape, dims }
  return { ...info, type: { ...info.type!, tensorType: { ...tensorType, shape } } }
}

function inferCellCountOfConstant(node: NodeProto, cellCounts: ReadonlySet<number>): NodeProto {
  const attributes = node.attributes.map(attribute =>
    attribute.t ? { ...attribute, t: inferCellCount(attribute.t, cellCounts) } : attribute,
  )
  return { ...node, attributes }
}

/**
 * Replaces the number of cells in a target shape by -1. A shape with several
 * candidates remains unchanged.
 */
function inferCellCount(target: TensorProto, cellCounts: ReadonlySet<number>): TensorProto {
  if (target.dataType !== DATA_TYPES.int64) return target
  const dims = readInt64Values(target)
  const candidates = dims.filter(dim => cellCounts.has(Number(dim)))
  if (dims.includes(-1n) || candidates.length !== 1) return target
  const inferredDims = dims.map(dim => (dim === candidates[0] ? -1n : dim))
  return { ...target, int64Data: inferredDims, rawData: undefined }
}

/** A tensor stores its values either as little-endian bytes (`rawData`) or as a list of numbers. */
function readInt64Values({ rawData, int64Data }: TensorProto): bigint[] {
  if (!rawData) return int64Data
  const view = new DataView(rawData.buffer, rawData.byteOffset, rawData.byteLength)
  const count = rawData.byteLength / BigInt64Array.BYTES_PER_ELEMENT
  return Array.from({ length: count }, (_, i) =>
    view.getBigInt64(i * BigInt64Array.BYTES_PER_ELEMENT, true),
  )
}
