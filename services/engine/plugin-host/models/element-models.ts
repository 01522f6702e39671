import type { InferenceCapability } from '@eyrie/contract/plugin-inference'
import { type ViewSpec, viewSpec } from '@eyrie/contract/view'
import { unlessAborted } from '@eyrie/kit'
import type { EncodedResult, InferCall } from '../protocol/infer-call.ts'
import type { CropModel, CropModelSource, CropModels } from './crop-models.ts'
import type { HostedElement } from './hosted-element.ts'
import { parseRegion, parseThresholds } from './infer-request.ts'

/** Maximum number of requests for one frame, all of which may wait at the same time. */
const MAX_REQUESTS_PER_FRAME = 32
/**
 * Maximum number of requests in progress of all frames together, for elements that process several
 * frames at the same time.
 */
const MAX_REQUESTS = 64
/** Time after the first request for a frame, in which all of its requests must end. */
const MAX_FRAME_MS = 5000
/** Names of models are no longer than this. Elements may send other ones. */
const MAX_NAME_LENGTH = 64

export interface ElementModelsOptions {
  /** The models that the manifest declares; undefined if it declares none. */
  declared: InferenceCapability | undefined
  cropModels: CropModels
  /** Folder of the plugin, which contains its own models. */
  folder: string
  /** Replaces `MAX_FRAME_MS` in tests. */
  maxFrameMs?: number
}

/** The models that an element runs on parts of the pictures of its frames. */
export interface ElementModels {
  /** Loads the declared models. Rejects with the reason if one cannot be loaded. */
  load(): Promise<void>
  /** Runs a model for a frame that the element is processing. Rejects with the reason. */
  infer(call: InferCall): Promise<EncodedResult>
  /**
   * Wraps the element, so that it can run models on its frames. Its `process` then resolves only
   * when all inferences for the frame have ended, because the picture of the frame remains in
   * its ring until then.
   */
  host(element: HostedElement): HostedElement
  close(): void
}

/** Creates the models that an element declares. They can be used when `load` has finished. */
export function createElementModels({
  declared,
  cropModels,
  folder,
  maxFrameMs = MAX_FRAME_MS,
}: ElementModelsOptions): ElementModels {
  if (!declared) return NO_MODELS

  const view = toModelView(declared)
  let models: ReadonlyMap<string, CropModel> = new Map()
  /** The inferences for the frames that the element is processing, by number of the frame. */
  const frames = new Map<number, FrameInferences>()
  let runningCount = 0

  async function infer(call: InferCall): Promise<EncodedResult> {
    const model = models.get(call.model) ?? throwUndeclared(call.model)
    // The plugin may send a value of another type, for which no frame is found.
    const n = call.n as number
    const frame = frames.get(n)
    if (!frame) {
      throw new Error(
        `${formatFrame(call.n)} is not being processed: infer before the function process has finished`,
      )
    }
    const region = parseRegion(call.region)
    const thresholds = parseThresholds(call)
    frame.countRequest()
    if (runningCount >= MAX_REQUESTS) {
      throw new Error(
        `the element has ${MAX_REQUESTS} inferences in progress already: await them first`,
      )
    }

    runningCount += 1
    try {
      return await frame.run(signal => model.run({ n, region, thresholds, signal }))
    } finally {
      runningCount -= 1
    }
  }

  function close(): void {
    for (const frame of frames.values()) frame.abort('the element is closed')
    for (const model of models.values()) model.close()
  }

  return {
    load: async () => {
      models = await loadModels(declared, { cropModels, folder, view })
    },
    infer,
    close,
    host: element => ({
      ...element,
      modelView: view,
      process: async (frame, picture) => {
        const inferences = new FrameInferences(maxFrameMs)
        frames.set(frame.n, inferences)
        try {
          return await element.process(frame, picture)
        } finally {
          // After a restart of the source, another frame may have the same number.
          if (frames.get(frame.n) === inferences) frames.delete(frame.n)
          await inferences.finish()
        }
      },
      close: () => {
        element.close?.()
        close()
      },
    }),
  }
}

/** The models of an element that declares none. */
const NO_MODELS: ElementModels = {
  load: async () => {},
  infer: async ({ model }) => throwUndeclared(model),
  host: element => element,
  close: () => {},
}

/** The inferences for one frame. */
class FrameInferences {
  readonly #maxMs: number
  readonly #running = new Set<Promise<unknown>>()
  readonly #aborting = new AbortController()
  #requestCount = 0
  #timer: NodeJS.Timeout | undefined

  constructor(maxMs: number) {
    this.#maxMs = maxMs
  }

  /** Throws if there are too many requests for the frame. */
  countRequest(): void {
    this.#requestCount += 1
    if (this.#requestCount > MAX_REQUESTS_PER_FRAME) {
      throw new Error(
        `the element has inferred ${MAX_REQUESTS_PER_FRAME} times for this frame already`,
      )
    }
  }

  /**
   * Returns the result of an inference. The first inference starts the time limit. When the
   * time is over, or the element is closed, the signal is aborted and this rejects at once,
   * even if the work continues.
   */
  async run<T>(startWork: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { signal } = this.#aborting
    signal.throwIfAborted()
    this.#timer ??= setTimeout(() => {
      this.abort(`the inferences for this frame have taken longer than ${this.#maxMs / 1000} s`)
    }, this.#maxMs)

    const result = unlessAborted(startWork(signal), signal)
    this.#running.add(result)
    try {
      return await result
    } finally {
      this.#running.delete(result)
    }
  }

  abort(reason: string): void {
    this.#aborting.abort(new Error(reason))
  }

  /** Resolves when all inferences have ended. */
  async finish(): Promise<void> {
    await Promise.allSettled(this.#running)
    clearTimeout(this.#timer)
  }
}

/**
 * Returns the view from which regions are cut: pictures as wide as declared, in the aspect
 * ratio of the source.
 */
const toModelView = ({ width }: InferenceCapability): ViewSpec =>
  viewSpec.parse({ format: 'RGB', width, letterbox: false })

interface LoadContext extends Pick<ElementModelsOptions, 'cropModels' | 'folder'> {
  /** The pictures that the models read. */
  view: ViewSpec
}

/**
 * Loads all declared models. If one fails, the others are closed, and the error of the
 * first one is thrown.
 */
async function loadModels(
  { models: names, own }: InferenceCapability,
  { cropModels, folder, view }: LoadContext,
): Promise<Map<string, CropModel>> {
  const loaded = new Map<string, CropModel>()
  const load = async (name: string, source: CropModelSource) => {
    loaded.set(name, await cropModels.open(source, view))
  }
  const results = await Promise.allSettled([
    ...names.map(name => load(name, { name })),
    ...own.map(model => load(model.name, { own: model, folder })),
  ])
  const failure = results.find(result => result.status === 'rejected')
  if (!failure) return loaded
  for (const model of loaded.values()) model.close()
  throw failure.reason
}

function throwUndeclared(model: string): never {
  const name = model.slice(0, MAX_NAME_LENGTH)
  throw new Error(
    `the manifest does not declare the model ${name}: add "inference": { "models": ["${name}"] } ` +
      'to the capabilities of the element, or describe it in "own"',
  )
}

const formatFrame = (n: unknown) => (typeof n === 'number' ? `frame ${n}` : 'a frame')
