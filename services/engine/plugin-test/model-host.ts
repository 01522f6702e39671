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
import { createElementModels } from '../plugin-host/models/element-models.ts'

export interface ModelHostOptions {
  /** Folder of the plugin. */
  folder: string
  /** Folders of the models of the machine. */
  modelFolders: readonly string[]
  log: Log
}

/** Runs the models of a plugin for its tests, as the engine does. */
export interface ModelHost {
  /** Rejects with the reason. */
  handle(request: ModelHostRequest): Promise<unknown>
  close(): Promise<void>
}

/** Loads the models that the elements of a plugin declare. Rejects with the reason if one cannot be loaded. */
export async function openModelHost({ folder, modelFolders, log }: ModelHostOptions): Promise<ModelHost> {
  const declared = joinDeclared(folder)
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
      ...{ channel: 1, pacing: 'all', priority: () => 5 },
      findRing: () => pictures.ring,
    }),
    folder,
  })
  /** The frame that is processed. It ends when `finish` is called, and its inferences with it. */
  let current: { finish(): void; finished: Promise<unknown> } | undefined

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
        case 'open':
          return undefined
        case 'begin': {
          pictures.write(request.n, request.picture)
          const { promise, resolve } = Promise.withResolvers<object>()
          const hosted = models.host({ process: () => promise })
          current = {
            finish: () => resolve({}),
            finished: hosted.process({ n: request.n } as Frame) as Promise<unknown>,
          }
          return undefined
        }
        case 'infer': {
          const { id, type, ...call } = request
          pictures.assertUsable()
          return models.infer({ method: 'infer', ...call })
        }
        case 'end':
          current?.finish()
          await current?.finished
          return undefined
      }
    },
    close,
  }
}

/** Returns the models of all elements together: a test does not say which of them it opens. */
function joinDeclared(folder: string): InferenceCapability {
  const { elements } = readPlugin(folder, 'uploaded')
  const declared = elements.flatMap(({ manifest }) => manifest.capabilities?.inference ?? [])
  if (declared.length === 0)
    throw new Error('no element in plugin.json declares models: add "inference" to its capabilities')
  const own = new Map(declared.flatMap(({ own }) => own.map(model => [model.name, model])))
  const models = new Set(declared.flatMap(({ models }) => models))
  return {
    models: [...models],
    own: [...own.values()],
    width: Math.max(...declared.map(({ width }) => width)),
  }
}

/** The pictures of a test, in a ring that is replaced when their size changes. */
class TestPictures {
  readonly #folder: string
  #file: RingFile | undefined
  #size = ''
  #picture: HostedPicture | undefined

  constructor(folder: string) {
    this.#folder = folder
  }

  get ring(): RingFile | undefined {
    return this.#file
  }

  write(n: number, picture: HostedPicture | undefined): void {
    this.#picture = picture
    if (picture?.format !== 'RGB') return
    const { width, height, data } = picture
    const pixels = Buffer.from(data, 'base64')
    const size = `${width}×${height}`
    if (size !== this.#size) {
      const generation = (this.#file?.generation ?? 0) + 1
      this.#file?.close()
      const shape = { width, height, format: 'RGB', generation, payloadSize: pixels.length } as const
      this.#file = createRingFile(join(this.#folder, 'view.ring'), shape)
      this.#size = size
    }
    this.#file!.write(n, pixels)
  }

  /** Throws an `Error` if the frame has no picture that models can read. */
  assertUsable(): void {
    if (!this.#picture)
      throw new Error('the frame has no picture for the models: pass { frame, picture } to runElement')
    if (this.#picture.format !== 'RGB')
      throw new Error(`the picture has the format ${this.#picture.format}: models read pictures in RGB`)
  }

  close(): void {
    this.#file?.close()
  }
}
