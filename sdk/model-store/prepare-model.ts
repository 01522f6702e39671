import { createHash } from 'node:crypto'
import { DEFAULT_THRESHOLD, type ModelCard } from '@eyrie/contract/model'
import { supportsDynamicSize } from './dynamic-size-check.ts'
import { assertScoresInRange, type Size } from './head-output.ts'
import { acceptBytes, NO_NORMALIZATION, type Normalization } from './onnx/byte-input.ts'
import { makeSizeDynamic } from './onnx/dynamic-size.ts'
import { assertSelfContained } from './onnx/external-data.ts'
import { findImageInput, type ImageInput } from './onnx/image-input.ts'
import { type GraphProto, type ModelProto, modelProto } from './onnx/schema.ts'
import { openSession, runTrial } from './session.ts'

/**
 * Properties of a detector that its ONNX file does not contain. Whoever adds a model to the
 * store provides them.
 */
export interface ModelFacts {
  head: ModelCard['head']
  labels: string[]
  license: string
  source?: string
  /** Order of the colour channels in the training of the model; `rgb` by default. */
  color?: ModelCard['input']['color']
  normalization?: Partial<Normalization>
  suppress_together?: ModelCard['suppress_together']
  /** Thresholds that pipelines use unless they specify others; those of `modelCard` by default. */
  score_threshold?: number
  iou_threshold?: number
  class_score_thresholds?: ModelCard['class_score_thresholds']
  /** Size to run the model at; required if the input of the file has a dynamic size. */
  size?: Size
}

/**
 * A card, which describes a model, and the ONNX file of the model, ready to be
 * written to the store.
 */
export interface PreparedModel {
  card: ModelCard
  bytes: Uint8Array
}

/**
 * Grey value of the padding around images of another aspect ratio, as in the
 * training of YOLO detectors.
 */
const FILL = 114
/**
 * Width and height of dynamic models must be multiples of the largest stride of common detectors.
 */
const MULTIPLE_OF = 32

/**
 * Converts an exported ONNX file for the store: the model accepts 8-bit pixels, and images of any
 * size if the graph allows it. Runs the result once. Throws an `Error` with the reason if the file
 * is invalid or contradicts the facts.
 */
export async function prepareModel(
  name: string,
  file: Uint8Array,
  facts: ModelFacts,
): Promise<PreparedModel> {
  const model = decodeModel(file)
  const input = findImageInput(model.graph)
  const size = chooseSize(input, facts.size)
  assertLabelsExist(facts)

  const normalization = { ...NO_NORMALIZATION, ...facts.normalization }
  const graph = acceptBytes(model.graph, input, normalization)
  const sizedInput = { ...findImageInput(graph), ...size }
  const card = createCard(name, facts, sizedInput, normalization)

  // Load the original file first, so that its errors are not attributed to the edited graph.
  const original = await openSession(file)
  await original.release()
  const fixed = modelProto.encode({ ...model, graph })
  await assertUsable(fixed, card)

  const dynamic = modelProto.encode({ ...model, graph: makeSizeDynamic(graph, sizedInput) })
  const isDynamic = await supportsDynamicSize(fixed, dynamic, card)
  const bytes = isDynamic ? dynamic : fixed
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  const finalCard = { ...card, input: { ...card.input, dynamic: isDynamic }, sha256 }
  return { card: finalCard, bytes }
}

type CardWithoutHash = Omit<ModelCard, 'sha256'>

function createCard(
  name: string,
  facts: ModelFacts,
  input: ImageInput & Size,
  normalization: Normalization,
): CardWithoutHash {
  return {
    name,
    task: 'detect',
    head: facts.head,
    labels: facts.labels,
    input: {
      name: input.name,
      layout: input.layout,
      color: facts.color ?? 'rgb',
      dtype: 'uint8',
      ...normalization,
      width: input.width,
      height: input.height,
      dynamic: false,
      multiple_of: MULTIPLE_OF,
      fill: FILL,
    },
    suppress_together: facts.suppress_together ?? [],
    score_threshold: facts.score_threshold ?? DEFAULT_THRESHOLD,
    iou_threshold: facts.iou_threshold ?? DEFAULT_THRESHOLD,
    class_score_thresholds: facts.class_score_thresholds ?? {},
    license: facts.license,
    source: facts.source,
  }
}

/** Runs the model once. Throws an `Error` if the model does not match its card. */
async function assertUsable(model: Uint8Array, card: CardWithoutHash): Promise<void> {
  const session = await openSession(model)
  try {
    assertScoresInRange(card, await runTrial(session, card))
  } finally {
    await session.release()
  }
}

/** Decodes an ONNX file. Throws an `Error` if the file is not a complete model. */
function decodeModel(file: Uint8Array): ModelProto & { graph: GraphProto } {
  assertSelfContained(file)
  let model: ModelProto
  try {
    model = modelProto.decode(file)
  } catch {
    throw new Error('it is not an ONNX model, or it is truncated')
  }
  const { graph } = model
  if (!graph?.nodes.length) throw new Error('it is not an ONNX model: it contains no graph')
  return { ...model, graph }
}

/**
 * Returns the size that the model was exported for, or the requested size if the
 * model accepts any size.
 */
function chooseSize({ width, height }: ImageInput, requested: Size | undefined): Size {
  if (width && height) {
    if (requested && (requested.width !== width || requested.height !== height)) {
      throw new Error(`it was exported for ${width}x${height} and cannot be added at another size`)
    }
    return { width, height }
  }
  if (requested) return requested
  throw new Error(
    'it accepts images of any size: choose the size to run at, such as --size 640x640',
  )
}

function assertLabelsExist({
  labels,
  suppress_together: suppressTogether = [],
  class_score_thresholds: classScoreThresholds = {},
}: ModelFacts): void {
  const findUnknown = (named: string[]) => named.find(label => !labels.includes(label))
  const unknown = findUnknown(suppressTogether.flat())
  if (unknown) {
    throw new Error(`${unknown}, in the labels to suppress together, is not a label of the model`)
  }
  const unknownClass = findUnknown(Object.keys(classScoreThresholds))
  if (unknownClass) {
    throw new Error(`${unknownClass}, which has a score threshold, is not a label of the model`)
  }
}
