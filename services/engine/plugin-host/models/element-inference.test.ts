import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createElementFrame as frame } from '../../../../test/fixtures/engine/element-frame.ts'
import {
  createCopyModel,
  writeOwnModel,
} from '../../../../test/fixtures/engine/mean-colour-model.ts'
import { createTemporaryFolder } from '../../../../test/fixtures/temporary-folder.ts'
import { patient } from '../protocol/element-timeouts.fixture.ts'
import {
  LIMIT_MS,
  left,
  openElement,
  openModels,
  openPythonElement,
  useInference,
} from './element-inference.fixture.ts'
import type { ElementModels } from './element-models.ts'

const inference = useInference()

/** Opens models, and runs `work` while the frame 1 is processed. */
async function duringFrame<T>(models: ElementModels, work: () => Promise<T>): Promise<T> {
  let result: T
  const element = models.host({
    process: async () => {
      result = await work()
      return {}
    },
  })
  await element.process(frame(1))
  return result!
}
describe('inference of a sandboxed element', () => {
  it(
    'runs an own model on regions of a frame whose pixels the element does not receive',
    async () => {
      const element = await openElement(`async (frame: any, picture: any) => {
        const right = { x: 0.5, y: 0.5, w: 0.5, h: 0.5 }
        const regions = [${JSON.stringify(left)}, right, undefined]
        const results = await Promise.all(regions.map(region => setup.infer('colour', { region })))
        const { type, dims, data } = results[0].outputs.means
        const means = results.map(({ outputs }: any) => [...outputs.means.data].map((v: number) => Math.round(v * 10)))
        const isArray = data instanceof Float32Array
        return { events: [{ type: 'colours', means, dims, value: type, isArray, sees: picture !== undefined }] }
      }`)
      expect(element.modelView).toMatchObject({ format: 'RGB', width: 64, letterbox: false })
      expect((await element.process(frame(1))).events).toEqual([
        {
          type: 'colours',
          means: [[10, 0, 0], [0, 0, 10], expect.anything()],
          dims: [1, 3, 1, 1],
          value: 'float32',
          isArray: true,
          sees: false,
        },
      ])
    },
    LIMIT_MS,
  )

  it(
    'refuses an undeclared model, other frames, and regions that are no part of the picture, and continues',
    async () => {
      const element = await openElement(`async (frame: any) => {
        const fail = (model: string, options: any) => setup.infer(model, options).catch((error: Error) => error.message)
        const reasons = [
          await fail('faces', {}),
          await fail('colour', { frame: { n: 99 } }),
          await fail('colour', { frame: { n: 'x' } }),
          await fail('colour', { region: { x: NaN, y: 0, w: 1, h: 1 } }),
          await fail('colour', { region: { x: 2, y: 0, w: 1, h: 1 } }),
        ]
        const { outputs } = await setup.infer('colour', { region: ${JSON.stringify(left)} })
        return { events: [{ type: 'refused', reasons, red: outputs.means.data[0] }] }
      }`)
      const [event] = (await element.process(frame(1))).events!
      expect(event).toMatchObject({
        reasons: [
          expect.stringMatching(
            /^the manifest does not declare the model faces: add "inference": \{ "models": \["faces"\] \}/,
          ),
          expect.stringMatching(/^frame 99 is not being processed/),
          expect.stringMatching(/^a frame is not being processed/),
          expect.stringMatching(/^the region must have the numbers/),
          expect.stringMatching(/outside of the picture/),
        ],
        red: expect.closeTo(1),
      })
    },
    LIMIT_MS,
  )

  it(
    'refuses more requests than a frame may have, and ends an element that floods the engine',
    async () => {
      const crashes: string[] = []
      const element = await openElement(
        `async (frame: any) => {
        const requests = Array.from({ length: frame.n === 1 ? 40 : 1000 }, () => setup.infer('colour'))
        const outcomes = await Promise.allSettled(requests)
        const refused = outcomes.filter(({ status }) => status === 'rejected')
        return { events: [{ type: 'outcome', refused: refused.length, reason: String((refused[0] as any).reason) }] }
      }`,
        {},
        crashes,
      )
      expect((await element.process(frame(1))).events).toEqual([
        {
          type: 'outcome',
          refused: 8,
          reason: 'Error: the element has inferred 32 times for this frame already',
        },
      ])
      const flood = 'it asks for more than 200 inferences for a frame'
      await expect(element.process(frame(2))).rejects.toThrow(flood)
      expect(crashes).toEqual([flood])
    },
    LIMIT_MS,
  )

  it(
    'drops a frame whose picture was overwritten, without a failure of the element',
    async () => {
      const crashes: string[] = []
      const element = await openElement(
        `async () => ({ counters: { red: { sum: (await setup.infer('colour')).outputs.means.data[0] } } })`,
        {},
        crashes,
      )
      // The slot of frame 101 holds frame 1.
      await expect(element.process(frame(101))).rejects.toMatchObject({ name: 'FrameDroppedError' })
      expect((await element.process(frame(1))).counters?.red?.sum).toBeGreaterThan(0)
      expect(crashes).toEqual([])
    },
    LIMIT_MS,
  )
})

describe('inference of a sandboxed element in Python', () => {
  it(
    'runs models of the package and of the catalog on regions, whose pixels the element does not receive',
    async () => {
      const element = await openPythonElement(
        `whole = infer('colour').output()
left, right = infer.all('colour', [LEFT, {'x': 0.5, 'y': 0.5, 'w': 0.5, 'h': 0.5}])
bright = infer('bright', {'x': 0.5, 'y': 0, 'w': 0.5, 'h': 0.5}, score_threshold=0.9)
try:
    sees = frame.picture is not None
except LookupError:
    sees = False
return Result(objects=bright.objects, events=[Outcome(outcome={
    'left': left.outputs['means'].round(1).reshape(-1), 'right': right.output('means').round(1).reshape(-1),
    'type': whole.dtype.name, 'dims': whole.shape, 'outputs': list(bright.outputs), 'sees': sees})])`,
        { declared: { models: ['bright'] } },
      )
      const { events, objects } = await element.process(frame(1))
      expect(events).toEqual([
        {
          type: 'outcome',
          outcome: {
            ...{ left: [1, 0, 0], right: [0, 0, 1] },
            ...{ type: 'float32', dims: [1, 3, 1, 1], outputs: [], sees: false },
          },
        },
      ])
      // In coordinates of the whole picture.
      expect(objects!.length).toBeGreaterThan(0)
      for (const { bbox } of objects!) expect(bbox.x).toBeGreaterThan(0.8)
    },
    LIMIT_MS,
  )

  it(
    'is refused for the same reasons as in TypeScript, also if it bypasses the SDK, and continues',
    async () => {
      const element = await openPythonElement(`import json, os
def fail(*args, **options):
    try:
        return infer(*args, **options)
    except OSError as error:
        return str(error)
for n in (99, 'x'):
    call = {'type': 'call', 'id': 0, 'call': {'method': 'infer', 'model': 'colour', 'n': n}}
    body = json.dumps(call).encode()
    os.write(3, len(body).to_bytes(4, 'little') + bytes([4]) + body)
reasons = [
    fail('faces'),
    fail('colour', {'x': float('nan'), 'y': 0, 'w': 1, 'h': 1}),
    fail('colour', {'x': 2, 'y': 0, 'w': 1, 'h': 1}),
    fail('colour', score_threshold=2),
]
red = infer('colour', LEFT).output()[0, 0, 0, 0]
return Result(events=[Outcome(outcome=[reasons, red])])`)
      const [event] = (await element.process(frame(1))).events!
      expect(event!.outcome).toEqual([
        [
          expect.stringMatching(
            /^the manifest does not declare the model faces: add "inference": \{ "models": \["faces"\] \}/,
          ),
          expect.stringMatching(/^the region must have the numbers/),
          expect.stringMatching(/outside of the picture/),
          expect.stringMatching(/^thresholds must have only score_threshold and iou_threshold/),
        ],
        expect.closeTo(1),
      ])
    },
    LIMIT_MS,
  )

  it(
    'is limited for a frame, loses a frame that was overwritten, and ends with a flood of requests',
    async () => {
      const crashes: string[] = []
      const element = await openPythonElement(
        `reason = ''
if frame.n == 2:
    infer.all('colour', [LEFT] * 1000)
try:
    infer.all('colour', [LEFT] * 33)
except OSError as error:
    if frame.n == 101:
        raise
    reason = str(error)
return Result(events=[Outcome(outcome=reason)])`,
        {},
        crashes,
      )
      const limited = 'the element has inferred 32 times for this frame already'
      expect((await element.process(frame(1))).events).toEqual([
        { type: 'outcome', outcome: limited },
      ])
      // The slot of frame 101 holds frame 1.
      await expect(element.process(frame(101))).rejects.toMatchObject({ name: 'FrameDroppedError' })
      expect(crashes).toEqual([])
      const flood = 'it asks for more than 200 inferences for a frame'
      await expect(element.process(frame(2))).rejects.toThrow(flood)
      expect(crashes).toEqual([flood])
    },
    LIMIT_MS,
  )
})

describe('models of an element', () => {
  it(
    'include those of the catalog, whose boxes are in the coordinates of the whole picture',
    async () => {
      const models = await openModels({ declared: { models: ['bright'] } })
      onTestFinished(models.close)
      // The upper right corner: the white cell fills a quarter of its width and height.
      const region = { x: 0.5, y: 0, w: 0.5, h: 0.5 }
      const { objects, outputs } = await duringFrame(models, () =>
        models.infer({
          ...{ method: 'infer', model: 'bright', n: 1, region },
          thresholds: { score_threshold: 0.9 },
        }),
      )
      expect(outputs).toEqual([])
      expect(objects.length).toBeGreaterThan(0)
      for (const { bbox } of objects) {
        expect(bbox.x).toBeGreaterThan(0.8)
        expect(bbox.y + bbox.h).toBeLessThan(0.2)
      }
    },
    LIMIT_MS,
  )

  it(
    'are refused when the element is opened: files that have changed, large outputs, and unknown names',
    async () => {
      const folder = createTemporaryFolder()
      const plugin = join(folder, 'probe')
      const changed = {
        ...writeOwnModel(plugin, 'colour', { width: 8, height: 8 }),
        sha256: '0'.repeat(64),
      }
      await expect(openModels({ folder, declared: { own: [changed] } })).rejects.toThrow(
        'model colour: colour.onnx is not the file whose sha256 is in plugin.json',
      )
      const large = { width: 128, height: 128 }
      const copying = writeOwnModel(plugin, 'copying', large, createCopyModel(large))
      await expect(openModels({ folder, declared: { own: [copying] } })).rejects.toThrow(
        /^model copying: its outputs have more than 65536 bytes, copy \[1, 3, 128, 128\] among them/,
      )
      await expect(openModels({ declared: { models: ['unknown'] } })).rejects.toThrow(
        /there is no model unknown/,
      )
    },
    LIMIT_MS,
  )

  it(
    'keep a frame until its inferences have ended, also if the element does not wait for them',
    async () => {
      const models = await openModels()
      onTestFinished(models.close)
      let isDone = false
      const element = models.host({
        process: () => {
          void models.infer({ method: 'infer', model: 'colour', n: 1 }).then(() => {
            isDone = true
          })
          return {}
        },
      })
      await element.process(frame(1))
      expect(isDone).toBe(true)
      await expect(models.infer({ method: 'infer', model: 'colour', n: 1 })).rejects.toThrow(
        'frame 1 is not being processed',
      )
    },
    LIMIT_MS,
  )

  it(
    'that do not answer cost the element its frame, whose time is limited, but no time of its own',
    async () => {
      const crashes: string[] = []
      const element = await openElement(
        `async () => ({
          events: [{ type: 'answer', reason: await setup.infer('colour').then(() => '', (error: Error) => error.message) }],
        })`,
        { maxFrameMs: 3000, timeouts: { ...patient, processMs: 2000 } },
        crashes,
      )
      const answer = (reason: string) => [{ type: 'answer', reason }]
      expect((await element.process(frame(1))).events).toEqual(answer(''))
      const [pid] = inference.pids()
      process.kill(pid!, 'SIGSTOP')
      try {
        const tooLong = 'the inferences for this frame have taken longer than 3 s'
        expect((await element.process(frame(1))).events).toEqual(answer(tooLong))
      } finally {
        process.kill(pid!, 'SIGCONT')
      }
      expect((await element.process(frame(2))).events).toEqual(answer(''))
      expect(crashes).toEqual([])
    },
    LIMIT_MS,
  )

  it(
    'answer no element that was closed in the meantime',
    async () => {
      const models = await openModels()
      const call = { method: 'infer', model: 'colour', n: 1 } as const
      await duringFrame(models, () => models.infer(call))
      const [pid] = inference.pids()
      process.kill(pid!, 'SIGSTOP')
      let late: Promise<unknown> | undefined
      try {
        const element = models.host({
          process: async () => {
            late = models.infer(call)
            await late
            return {}
          },
        })
        const processed = element.process(frame(1))
        element.close?.()
        await expect(processed).rejects.toThrow('the element is closed')
        await expect(late).rejects.toThrow('the element is closed')
      } finally {
        process.kill(pid!, 'SIGCONT')
      }
      // Another element of the same channel is answered.
      const reopened = await openModels()
      onTestFinished(reopened.close)
      expect((await duringFrame(reopened, () => reopened.infer(call))).outputs).toHaveLength(1)
    },
    LIMIT_MS,
  )
})
