import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { InferenceCapability } from '@eyrie/contract/plugin-inference'
import type { Frame } from '@eyrie/element'
import type { HostedPicture, ModelHostRequest } from '@eyrie/element/testing/model-host-messages'
import type { Log } from '@eyrie/kit'
import { openModelStore } from '@eyrie/model-store'
import { createRingFile, type RingFile } from '../frames/ring-file.ts'
import { createCropInference } from '../inference/crop-inference.ts'
import { readPlugin } from '../plugin-host/known-plugin.ts'
import { createElementModels, type ElementModels } from '../plugin-host/models/element-models.ts'

/** The plugin that is tested, and where the models are. */
export interface ModelHostOptions {
  /** Folder of the plugin. */
  folder: string
  /**
   * Folders of the models that are installed on this machine. Folders that do not exist are
   * ignored.
   */
  modelFolders: readonly string[]
  log: Log
}

/** The default priority of pipelines. */
const PRIORITY = 5

/**
 * Runs the models of a plugin for its tests, with the workers and the limits of the engine. The
 * elements run in the process of the tests. That process sends a request when an element begins or
 * ends to process a frame, and when it runs a model.
 */
export interface ModelHost {
  /**
   * Handles a request. Returns the result of an inference; undefined for other requests.
   * Rejects with the reason.
   */
  handle(request: ModelHostRequest): Promise<unknown>
  close(): Promise<void>
}

/**
 * Loads the models that the elements of a plugin declare. Rejects with the reason if
 * one cannot be loaded.
 */
export async function openModelHost({
  folder,
  modelFolders,
  log,
}: ModelHostOptions): Promise<ModelHost> {
  const declared = joinDeclaredModels(folder)
  const roots = modelFolders.filter(path => existsSync(path))
  const temporary = await mkdtemp(join(tmpdir(), 'eyrie-plugin-test-'))
  const store = await openModelStore({ roots, log })
  const inference = await createCropInference({
    models: store,
    folder: join(temporary, 'models'),
    folders: [...roots, temporary],
    workers: 1,
    log,
  })
  const pictures = new TestPictures(temporary)
  const models = createElementModels({
    declared,
    cropModels: inference.forChannel({
      channel: 1,
      pacing: 'all',
      priority: () => PRIORITY,
      findRing: () => pictures.ring,
    }),
    folder,
  })
  /** The frame that an element is processing. */
  let current: CurrentFrame | undefined

  async function close(): Promise<void> {
    models.close()
    await inference.stop()
    store.close()
    pictures.close()
    await rm(temporary, { recursive: true, force: true })
  }

  await models.load().catch(async error => {
    await close()
    throw error
  })
  return {
    async handle(request) {
      switch (request.type) {
        // The models are loaded before the first request.
        case 'open':
          return undefined
        case 'begin':
          pictures.write(request.n, request.picture)
          current = beginFrame(models, request.n)
          return undefined
        case 'infer': {
          const { id: _id, type: _type, ...call } = request
          pictures.assertUsable()
          return models.infer({ method: 'infer', ...call })
        }
        case 'end':
          return current?.end()
      }
    },
    close,
  }
}

interface CurrentFrame {
  /** Resolves when all inferences for the frame have ended. */
  end(): Promise<void>
}

/**
 * Begins to process a frame. Models run only for frames that an element is processing.
 * The actual element runs in another process, so a placeholder processes the frame here,
 * until the frame is ended.
 */
function beginFrame(models: ElementModels, n: number): CurrentFrame {
  const ending = Promise.withResolvers<object>()
  const placeholder = models.host({ process: () => ending.promise })
  // The models use nothing of the frame but its number.
  const processed = placeholder.process({ n } as Frame)
  return {
    end: async () => {
      ending.resolve({})
      await processed
    },
  }
}

/**
 * Returns the models that all elements together declare, because a test does not say
 * which elements it opens.
 */
function joinDeclaredModels(folder: string): InferenceCapability {
  const { elements } = readPlugin(folder, 'uploaded')
  const declared = elements.flatMap(({ manifest }) => manifest.capabilities?.inference ?? [])
  if (declared.length === 0) {
    throw new Error(
      'no element in plugin.json declares models: add "inference" to its capabilities',
    )
  }
  const names = declared.flatMap(({ models }) => models)
  const ownModels = declared.flatMap(({ own }) => own)
  return {
    models: [...new Set(names)],
    // Several elements may declare the same model.
    own: [...new Map(ownModels.map(model => [model.name, model])).values()],
    width: Math.max(...declared.map(({ width }) => width)),
  }
}

/** The pictures of a test, in a ring that is replaced when their size changes. */
class TestPictures {
  readonly #folder: string
  #file: RingFile | undefined
  /** Width and height of the pictures in the ring. */
  #size = ''
  /** The picture of the current frame, which models can read only if it is RGB. */
  #picture: HostedPicture | undefined

  constructor(folder: string) {
    this.#folder = folder
  }

  get ring(): RingFile | undefined {
    return this.#file
  }

  /** Sets the picture of the current frame, and writes it to the ring if models can read it. */
  write(n: number, picture: HostedPicture | undefined): void {
    this.#picture = picture
    if (picture?.format !== 'RGB') return
    const { width, height, data } = picture
    const pixels = Buffer.from(data, 'base64')
    const size = `${width}×${height}`
    if (size !== this.#size) {
      const generation = (this.#file?.generation ?? 0) + 1
      this.#file?.close()
      const shape = {
        width,
        height,
        format: 'RGB',
        generation,
        payloadSize: pixels.length,
      } as const
      this.#file = createRingFile(join(this.#folder, 'view.ring'), shape)
      this.#size = size
    }
    this.#file!.write(n, pixels)
  }

  /** Throws an `Error` if the frame has no picture that models can read. */
  assertUsable(): void {
    if (!this.#picture) {
      throw new Error(
        'the frame has no picture for the models: pass { frame, picture } to runElement',
      )
    }
    if (this.#picture.format !== 'RGB') {
      throw new Error(
        `the picture has the format ${this.#picture.format}: models read pictures in RGB`,
      )
    }
  }

  close(): void {
    this.#file?.close()
  }
}
