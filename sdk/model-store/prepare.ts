import { createHash } from 'node:crypto'
import type { ModelCard } from '@eyrie/contract/model'
import { checkScores } from './head-output.ts'
import { type ImageInput, imageInputOf } from './onnx/image-input.ts'
import { modelType, type OnnxModel } from './onnx/schema.ts'
import { takeAnySize } from './onnx/take-any-size.ts'
import { type Normalization, takeBytes, unnormalized } from './onnx/take-bytes.ts'
import { openSession, type Size, trialRun } from './session.ts'
import { worksAtAnySize } from './sizes.ts'

/** What the file does not say of a detector. */
export interface ModelFacts {
  head: ModelCard['head']
  labels: string[]
  license: string
  source?: string
  /** Order of the colours that the model was trained with; `rgb` by default. */
  color?: ModelCard['input']['color']
  normalization?: Partial<Normalization>
  suppress_together?: ModelCard['suppress_together']
  /** Size to run at, for files that leave it open. */
  size?: Size
}

export interface PreparedModel {
  card: ModelCard
  bytes: Uint8Array
}

/** Value of pixels around a picture of another shape: the grey that YOLO detectors are trained with. */
const FILL = 114
const MULTIPLE_OF = 32

/**
 * Turns an exported ONNX file into one for the store: 8-bit pixels in, any size where the graph can. The result has
 * been loaded and run. Throws an Error that says what is wrong with the file, or where it differs from the facts.
 */
export async function prepareModel(
  name: string,
  file: Uint8Array,
  facts: ModelFacts,
): Promise<PreparedModel> {
  const model = decode(file)
  const input = imageInputOf(model.graph)
  const size = sizeOf(input, facts.size)
  checkTogether(facts)

  const normalization = { ...unnormalized, ...facts.normalization }
  const graph = takeBytes(model.graph, input, normalization)
  const sized = { ...imageInputOf(graph), ...size }
  const card: Omit<ModelCard, 'sha256'> = {
    name,
    task: 'detect',
    head: facts.head,
    labels: facts.labels,
    input: {
      name: sized.name,
      layout: sized.layout,
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

  // First the file as it came, so that what is wrong with it is said of it and not of what was made of it.
  await openSession(file).then(session => session.release())
  const fixed = modelType.encode({ ...model, graph })
  const session = await openSession(fixed)
  try {
    checkScores(card, await trialRun(session, card))
  } finally {
    await session.release()
  }

  const open = modelType.encode({ ...model, graph: takeAnySize(graph, sized) })
  const dynamic = await worksAtAnySize(fixed, open, card)
  const bytes = dynamic ? open : fixed
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  return { card: { ...card, input: { ...card.input, dynamic }, sha256 }, bytes }
}

function decode(file: Uint8Array): OnnxModel & { graph: NonNullable<OnnxModel['graph']> } {
  let model: OnnxModel
  try {
    model = modelType.decode(file)
  } catch {
    throw new Error('it is not an ONNX model, or only a part of one')
  }
  const { graph } = model
  if (!graph?.nodes.length) throw new Error('it is not an ONNX model: it holds no graph')
  if (graph.initializers.some(({ dataLocation }) => dataLocation === 1))
    throw new Error('its weights lie in another file: save it as a single file first')
  return { ...model, graph }
}

function sizeOf({ width, height }: ImageInput, wanted: Size | undefined): Size {
  if (width && height) {
    if (wanted && (wanted.width !== width || wanted.height !== height))
      throw new Error(`it was exported for ${width}x${height} and cannot be added at another size`)
    return { width, height }
  }
  if (wanted) return wanted
  throw new Error('it takes pictures of any size: say at which one it should run, such as --size 640x640')
}

function checkTogether({ suppress_together = [], labels }: ModelFacts): void {
  const unknown = suppress_together.flat().find(label => !labels.includes(label))
  if (unknown)
    throw new Error(`${unknown} is to be suppressed together with others, but no label is called so`)
}
