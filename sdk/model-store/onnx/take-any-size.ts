import { dim } from './build.ts'
import type { ImageInput } from './image-input.ts'
import { elementType, type OnnxGraph, type OnnxNode, type OnnxTensor } from './schema.ts'

/** Strides at which detectors have feature maps, in input pixels. */
const strides = [4, 8, 16, 32, 64]

/**
 * Opens the height and width of a graph that was exported for one size: the input's and outputs' dimensions get
 * names, the sizes noted for values in between are dropped, and constants that reshape a feature map to its number of
 * cells leave that number to be found out. Whether the graph then works at other sizes must be tried: it does if it
 * is fully convolutional, and its answers at its own size stay the same.
 */
export function takeAnySize(
  graph: OnnxGraph,
  input: ImageInput & { width: number; height: number },
): OnnxGraph {
  const cells = new Set(strides.map(stride => (input.width / stride) * (input.height / stride)))
  // A single cell cannot be told from a batch of one.
  cells.delete(1)
  const targets = new Set(graph.nodes.filter(({ op }) => op === 'Reshape').map(({ inputs }) => inputs[1]))
  const open = (tensor: OnnxTensor): OnnxTensor => openCells(tensor, cells)

  return {
    ...graph,
    inputs: graph.inputs.map(info =>
      info.name === input.name ? withDims(info, openDims(input.layout)) : info,
    ),
    outputs: graph.outputs.map(info =>
      withDims(info, info.type?.tensor?.shape?.dims.map((_, i) => dim(`${info.name}_${i}`)) ?? []),
    ),
    valueInfos: [],
    initializers: graph.initializers.map(tensor => (targets.has(tensor.name) ? open(tensor) : tensor)),
    nodes: graph.nodes.map(node =>
      node.op === 'Constant' && targets.has(node.outputs[0]) ? withTensor(node, open) : node,
    ),
  }
}

type ValueInfo = OnnxGraph['inputs'][number]
type Dims = ReturnType<typeof dim>[]

const openDims = (layout: ImageInput['layout']): Dims =>
  (layout === 'nchw' ? [1, 3, 'height', 'width'] : [1, 'height', 'width', 3]).map(dim)

function withDims(info: ValueInfo, dims: Dims): ValueInfo {
  const tensor = info.type?.tensor
  if (!tensor?.shape) return info
  return { ...info, type: { ...info.type!, tensor: { ...tensor, shape: { ...tensor.shape, dims } } } }
}

function withTensor(node: OnnxNode, change: (tensor: OnnxTensor) => OnnxTensor): OnnxNode {
  const attributes = node.attributes.map(attribute =>
    attribute.tensor ? { ...attribute, tensor: change(attribute.tensor) } : attribute,
  )
  return { ...node, attributes }
}

/** A target shape that names a feature map's number of cells gets -1 in its place. */
function openCells(tensor: OnnxTensor, cells: ReadonlySet<number>): OnnxTensor {
  if (tensor.dataType !== elementType.int64) return tensor
  const shape = int64Values(tensor)
  const isCells = shape.map(size => cells.has(Number(size)))
  if (shape.includes(-1n) || isCells.filter(Boolean).length !== 1) return tensor
  const opened = BigInt64Array.from(shape, (size, i) => (isCells[i] ? -1n : size))
  return { ...tensor, int64s: [...opened], raw: undefined }
}

function int64Values({ raw, int64s }: OnnxTensor): bigint[] {
  if (!raw) return int64s
  const view = new DataView(raw.buffer, raw.byteOffset, raw.byteLength)
  return Array.from({ length: raw.byteLength / 8 }, (_, i) => view.getBigInt64(i * 8, true))
}
