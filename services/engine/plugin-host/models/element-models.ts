import type { InferenceCapability } from '@eyrie/contract/plugin-inference'
import { type ViewSpec, viewSpec } from '@eyrie/contract/view'
import type { EncodedResult, InferCall } from '../protocol/infer-call.ts'
import type { CropModel, CropModels } from './crop-models.ts'
import type { HostedElement } from './hosted-element.ts'
import { parseRegion, parseThresholds } from './infer-request.ts'

/** Requests for a frame, which all may wait at the same time. */
const MAX_REQUESTS_PER_FRAME = 32
/** Requests in progress of all frames together, for elements that process several frames at the same time. */
const MAX_REQUESTS = 64
/** Time from the first request for a frame, after which its requests fail. */
const MAX_FRAME_MS = 5000

export interface ElementModelsOptions {
  /** What the manifest declares. */
  declared: InferenceCapability | undefined
  cropModels: CropModels
  /** Folder of the plugin, which contains its own models. */
  folder: string
  /** For tests. */
  maxFrameMs?: number
}

/** The models of an element. */
export interface ElementModels {
  /** Loads the declared models. Rejects with the reason if one cannot be loaded. */
  load(): Promise<void>
  /** Runs a model. Rejects with the reason. */
  infer(call: InferCall): Promise<EncodedResult>
  /**
   * Returns the element, whose frames are processed only when their inferences have ended too. The pictures of a frame thus remain
   * in their ring until then. The element can infer for these frames only.
   */
  host(element: HostedElement): HostedElement
  close(): void
}

/** The inferences for one frame. */
interface FrameInferences {
  requests: number
  running: Set<Promise<unknown>>
  /** Aborted when the time for the frame is over, or the element is closed. */
  abort: AbortController
  timer: NodeJS.Timeout | undefined
}

/** Creates the models that an element declares. They can be used when `load` has finished. */
export function createElementModels({
  declared,
  cropModels,
  folder,
  maxFrameMs = MAX_FRAME_MS,
}: ElementModelsOptions): ElementModels {
  if (!declared)
    return {
      load: async () => {},
      infer: async ({ model }) => throwUndeclared(model),
      host: element => element,
      close: () => {},
    }

  const view = toModelView(declared)
  let models: ReadonlyMap<string, CropModel> = new Map()
  const frames = new Map<number, FrameInferences>()
  let running = 0

  function start(frame: FrameInferences): void {
    frame.requests += 1
    if (frame.requests > MAX_REQUESTS_PER_FRAME)
      throw new Error(`the element has inferred ${MAX_REQUESTS_PER_FRAME} times for this frame already`)
    if (running >= MAX_REQUESTS)
      throw new Error(`the element has ${MAX_REQUESTS} inferences in progress already: await them first`)
    const { abort } = frame
    abort.signal.throwIfAborted()
    frame.timer ??= setTimeout(() => {
      abort.abort(new Error(`the inferences for this frame have taken longer than ${maxFrameMs / 1000} s`))
    }, maxFrameMs)
  }

  async function infer(call: InferCall): Promise<EncodedResult> {
    const model = models.get(call.model) ?? throwUndeclared(call.model)
    const frame = frames.get(call.n as number)
    if (!frame)
      throw new Error(
        `${formatFrame(call.n)} is not being processed: infer before the function process has finished`,
      )
    const request = {
      n: call.n as number,
      region: parseRegion(call.region),
      thresholds: parseThresholds(call),
      signal: frame.abort.signal,
    }
    start(frame)
    running += 1
    const result = untilAborted(model.run(request), frame.abort.signal)
    frame.running.add(result)
    try {
      return await result
    } finally {
      frame.running.delete(result)
      running -= 1
    }
  }

  async function finish(n: number, frame: FrameInferences): Promise<void> {
    if (frames.get(n) === frame) frames.delete(n)
    await Promise.allSettled(frame.running)
    clearTimeout(frame.timer)
  }

  function close(): void {
    for (const { abort } of frames.values()) abort.abort(new Error('the element is closed'))
    for (const model of models.values()) model.close()
  }

  return {
    load: async () => {
      models = await loadModels(declared, cropModels, folder, view)
    },
    infer,
    close,
    host: element => ({
      ...element,
      modelView: view,
      process: async (frame, picture) => {
        const inferences: FrameInferences = {
          requests: 0,
          running: new Set(),
          abort: new AbortController(),
          timer: undefined,
        }
        frames.set(frame.n, inferences)
        try {
          return await element.process(frame, picture)
        } finally {
          await finish(frame.n, inferences)
        }
      },
      close: () => {
        element.close?.()
        close()
      },
    }),
  }
}

/** The pictures from which regions are cut: as wide as declared, in the aspect ratio of the source. */
const toModelView = ({ width }: InferenceCapability): ViewSpec =>
  viewSpec.parse({ format: 'RGB', width, letterbox: false })

async function loadModels(
  { models: names, own }: InferenceCapability,
  cropModels: CropModels,
  folder: string,
  view: ViewSpec,
): Promise<Map<string, CropModel>> {
  const sources = [
    ...names.map(name => [name, { name }] as const),
    ...own.map(model => [model.name, { own: model, folder }] as const),
  ]
  const opened = await Promise.allSettled(
    sources.map(async ([name, source]) => [name, await cropModels.open(source, view)] as const),
  )
  const loaded = new Map(opened.flatMap(each => (each.status === 'fulfilled' ? [each.value] : [])))
  const failure = opened.find(({ status }) => status === 'rejected')
  if (failure?.status !== 'rejected') return loaded
  for (const model of loaded.values()) model.close()
  throw failure.reason
}

/** Rejects as soon as `signal` is aborted, although the work cannot be stopped. */
async function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>()
  const onAbort = () => reject(signal.reason)
  signal.addEventListener('abort', onAbort)
  try {
    return await Promise.race([work, aborted])
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}

function throwUndeclared(model: string): never {
  const name = model.slice(0, 64)
  throw new Error(
    `the manifest does not declare the model ${name}: add "inference": { "models": ["${name}"] } to the capabilities of the element, or describe it in "own"`,
  )
}

const formatFrame = (n: unknown) => (typeof n === 'number' ? `frame ${n}` : 'a frame')
