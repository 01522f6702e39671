import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { InferenceCapability } from '@eyrie/contract/plugin-inference'
import { createLog } from '@eyrie/kit'
import { addModel, openModelStore } from '@eyrie/model-store'
import { afterAll, beforeAll, onTestFinished } from 'vitest'
import { createBrightCellDetector } from '../../../../test/fixtures/engine/detector-models.ts'
import { writeOwnModel } from '../../../../test/fixtures/engine/mean-colour-model.ts'
import { writePythonPlugin } from '../../../../test/fixtures/engine/python-plugin.ts'
import { writePlugin } from '../../../../test/fixtures/engine/test-plugin.ts'
import { createTestRing, type TestRing } from '../../../../test/fixtures/media/test-ring.ts'
import { createTemporaryFolder } from '../../../../test/fixtures/temporary-folder.ts'
import { type CropInference, createCropInference } from '../../inference/crop-inference.ts'
import { patient } from '../protocol/element-timeouts.fixture.ts'
import type { ElementTimeouts } from '../protocol/remote-element.ts'
import { openSandboxedElement } from '../sandbox/sandboxed-element.ts'
import { createElementModels } from './element-models.ts'

/**
 * Opens elements in sandboxes that run models on a picture. The tests of a file share
 * one inference worker.
 */

const log = createLog('test', 'silent')
/** Time limit of a test that starts processes, on a busy machine. */
export const LIMIT_MS = 120_000
/** The picture of the frames 1 and 2, in RGB. */
const SIZE = 64
const size = { width: SIZE, height: SIZE }
const PICTURE_BYTES = 3 * SIZE * SIZE
/** The left half of the picture. */
export const left = { x: 0, y: 0, w: 0.5, h: 1 }

let root: string
let ring: TestRing
let inference: CropInference
let closeModels: () => void

const RED = [255, 0, 0]
const BLUE = [0, 0, 255]
const WHITE = [255, 255, 255]

/**
 * The left half is red, the right half blue; a white cell of 8 x 8 pixels is in the upper right
 * corner.
 */
function createColours(): Uint8Array {
  const pixels = new Uint8Array(PICTURE_BYTES)
  for (let y = 0; y < SIZE; y++) {
    for (let x = 0; x < SIZE; x++) {
      const half = x < SIZE / 2 ? RED : BLUE
      const isInCell = y < 8 && x >= SIZE - 8
      pixels.set(isInCell ? WHITE : half, 3 * (y * SIZE + x))
    }
  }
  return pixels
}

/**
 * Starts the inference worker before the tests of a file. `pids` returns the process ids of the
 * workers.
 */
export function useInference(): { pids(): number[] } {
  beforeAll(async () => {
    root = mkdtempSync(join(tmpdir(), 'eyrie-inference-'))
    const catalog = join(root, 'models')
    mkdirSync(catalog)
    await addModel(catalog, {
      name: 'bright',
      head: 'yolox',
      labels: ['bright'],
      license: 'MIT',
      model: createBrightCellDetector(size),
    })
    const models = await openModelStore({ roots: [catalog], log })
    closeModels = models.close
    ring = createTestRing(join(root, 'view.ring'), {
      ...size,
      format: 'RGB',
      payloadSize: PICTURE_BYTES,
    })
    ring.write(1, createColours())
    ring.write(2, createColours())
    inference = await createCropInference({
      models,
      folder: join(root, 'copies'),
      folders: [root],
      workers: 1,
      log,
    })
  }, LIMIT_MS)
  afterAll(async () => {
    await inference.stop()
    closeModels()
    ring.close()
    rmSync(root, { recursive: true })
  })
  return { pids: () => inference.pids() }
}

interface Setup {
  /** What the manifest declares, in addition to the model `colour`, unless `own` replaces that. */
  declared?: Partial<InferenceCapability>
  maxFrameMs?: number
  folder?: string
  timeouts?: ElementTimeouts
}

/**
 * Opens the models that the manifest of the plugin `probe` declares: its own model
 * `colour` by default.
 */
export async function openModels({
  declared,
  maxFrameMs,
  folder = createTemporaryFolder(),
}: Setup = {}) {
  const plugin = join(folder, 'probe')
  const own = declared?.own ?? [writeOwnModel(plugin, 'colour', { width: 8, height: 8 })]
  const models = createElementModels({
    declared: { models: [], width: 64, ...declared, own },
    cropModels: inference.forChannel({
      channel: 1,
      pacing: 'realtime',
      priority: () => 5,
      findRing: () => ring,
    }),
    folder: plugin,
    ...(maxFrameMs !== undefined && { maxFrameMs }),
  })
  await models.load()
  return models
}

/**
 * Opens an element in a sandbox. `process` is the source text of its function `process`. Reasons of
 * crashes are added to `crashes`.
 */
export async function openElement(process: string, setup: Setup = {}, crashes: string[] = []) {
  const folder = createTemporaryFolder()
  writePlugin(folder, { open: `return { process: ${process} }` })
  return openWritten(folder, 'element.ts', setup, crashes)
}

/**
 * Opens an element in Python in a sandbox. `process` is the body of its method
 * `process(self, frame)`.
 */
export async function openPythonElement(
  process: string,
  setup: Setup = {},
  crashes: string[] = [],
) {
  const folder = createTemporaryFolder()
  writePythonPlugin(folder, {
    code: `
from dataclasses import dataclass
from eyrie_element import *

@dataclass
class Outcome(Event):
    type = 'outcome'
    outcome: object = None

LEFT = ${JSON.stringify(left)}

class Probe(Element):
    def __init__(self, context):
        self.infer = context.infer
    def process(self, frame):
        infer = self.infer
        ${process.replaceAll('\n', '\n        ')}

elements = {'probe': ElementDefinition(Probe, args=NoArgs)}
`,
  })
  return openWritten(folder, 'element.py', setup, crashes)
}

/** Opens the element of the plugin `probe` that was written to `folder`. */
async function openWritten(folder: string, entry: string, setup: Setup, crashes: string[]) {
  const models = await openModels({ ...setup, folder })
  const element = await openSandboxedElement(
    {
      source: {
        entry: join(folder, 'probe', entry),
        name: 'probe',
        setup: { args: {}, config: undefined, source: { id: 1 }, size: undefined },
      },
      needsPixels: false,
      findRing: () => undefined,
      onCall: call =>
        call.method === 'infer' ? models.infer(call) : Promise.reject(new Error('no')),
      checkIsolation: () => {},
      onCost: () => {},
      onCrash: reason => crashes.push(reason),
      logFields: {},
      log,
    },
    setup.timeouts ?? patient,
  )
  const hosted = models.host(element)
  onTestFinished(() => hosted.close?.())
  return hosted
}
