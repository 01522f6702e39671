import { createHash } from 'node:crypto'
import type { ModelCard } from '@eyrie/contract/model'
import { supportsDynamicSize } from './dynamic-size-check.ts'
import { assertScoresInRange, type Size } from './head-output.ts'
import { acceptBytes, type Normalization, noNormalization } from './onnx/byte-input.ts'
import { makeSizeDynamic } from './onnx/dynamic-size.ts'
import { findImageInput, type ImageInput } from './onnx/image-input.ts'
import { modelType, type OnnxModel } from './onnx/schema.ts'
import { openSession, runTrial } from './session.ts'

/** Properties of a detector that its ONNX file does not contain. */
export interface ModelFacts {
  head: ModelCard['head']
  labels: string[]
  license: string
  source?: string
  /** The channel order that the model was trained with; `rgb` by default. */
  color?: ModelCard['input']['color']
  normalization?: Partial<Normalization>
  suppress_together?: ModelCard['suppress_together']
  /** The input size for models with a dynamic size. */
  size?: Size
}

export interface PreparedModel {
  card: ModelCard
  bytes: Uint8Array
}

/** Grey value that pads images of another aspect ratio, as in the training of YOLO detectors. */
const FILL = 114
const MULTIPLE_OF = 32

/**
 * Converts an exported ONNX file for the store: it accepts 8-bit pixels, and any size if the graph allows it. The result
 * has been loaded and run once. Throws an `Error` with the reason if the file is invalid or contradicts the facts.
 */
export async function prepareModel(
  name: string,
  file: Uint8Array,
  facts: ModelFacts,
): Promise<PreparedModel> {
  const model = decodeModel(file)
  const input = findImageInput(model.graph)
  const size = chooseSize(input, facts.size)
  assertSuppressedLabelsExist(facts)

  const normalization = { ...noNormalization, ...facts.normalization }
  const graph = acceptBytes(model.graph, input, normalization)
  const sizedInput = { ...findImageInput(graph), ...size }
  const card: Omit<ModelCard, 'sha256'> = {
    name,
    task: 'detect',
    head: facts.head,
    labels: facts.labels,
    input: {
      name: sizedInput.name,
      layout: sizedInput.layout,
      color: facts.color ?? 'rgb',
      dtype: 'uint8',
      ...normalization,
      ...size,
      dynamic: false,
      multiple_of: MULTIPLE_OF,
      fill: FILL,
    },
    suppress_together: facts.suppress_together ?? [],
    license: facts.license,
    source: facts.source,
  }

  // Load the original file first, so that its errors are not attributed to the edited graph.
  await openSession(file).then(session => session.release())
  const fixed = modelType.encode({ ...model, graph })
  const session = await openSession(fixed)
  try {
    assertScoresInRange(card, await runTrial(session, card))
  } finally {
    await session.release()
  }

  const dynamic = modelType.encode({ ...model, graph: makeSizeDynamic(graph, sizedInput) })
  const isDynamic = await supportsDynamicSize(fixed, dynamic, card)
  const bytes = isDynamic ? dynamic : fixed
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  return { card: { ...card, input: { ...card.input, dynamic: isDynamic }, sha256 }, bytes }
}

function decodeModel(file: Uint8Array): OnnxModel & { graph: NonNullable<OnnxModel['graph']> } {
  let model: OnnxModel
  try {
    model = modelType.decode(file)
  } catch {
    throw new Error('it is not an ONNX model, or it is truncated')
  }
  const { graph } = model
  if (!graph?.nodes.length) throw new Error('it is not an ONNX model: it contains no graph')
  if (graph.initializers.some(({ dataLocation }) => dataLocation === 1))
    throw new Error('its weights are in another file: save it as a single file first')
  return { ...model, graph }
}

function chooseSize({ width, height }: ImageInput, requested: Size | undefined): Size {
  if (width && height) {
    if (requested && (requested.width !== width || requested.height !== height))
      throw new Error(`it was exported for ${width}x${height} and cannot be added at another size`)
    return { width, height }
  }
  if (requested) return requested
  throw new Error('it accepts images of any size: choose the size to run at, such as --size 640x640')
}

function assertSuppressedLabelsExist({ suppress_together = [], labels }: ModelFacts): void {
  const unknown = suppress_together.flat().find(label => !labels.includes(label))
  if (unknown) throw new Error(`${unknown}, in the labels to suppress together, is not a label of the model`)
}
