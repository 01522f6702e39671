import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { readLines, replaceLines } from '@eyrie/cli/lines/line-config'
import { COMMUNITY_LICENSE, type Counters } from '@eyrie/contract'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createServiceLog } from '../../appliance/process/service-log.ts'
import { drawProposedLines } from '../../appliance/quickstart/quickstart-lines.ts'
import {
  createScenePipeline,
  DEFAULT_LINES,
} from '../../appliance/quickstart/quickstart-pipeline.ts'
import { readState } from '../../appliance/quickstart/quickstart-state.ts'
import { findCrossings } from '../../scene/truth/derive-truth.ts'
import {
  createEngineClient,
  readDurableMessages,
  waitUntilStopped,
} from '../fixtures/engine/engine-client.ts'
import { HALF_SIZE, renderTestScene } from '../fixtures/media/rendered-scene.ts'
import { type Appliance, startAppliance } from '../fixtures/processes/appliance.ts'
import { runEyrieCommand } from '../fixtures/processes/command-line.ts'

type Scene = Awaited<ReturnType<typeof renderTestScene>>

let scene: Scene
let appliance: Appliance

const IS_LONG = process.env.EYRIE_LONG === '1'
/**
 * The shortest part of the demo in which each line is crossed often enough, and smaller; in
 * the long run all of it.
 */
const VARIANT = IS_LONG ? {} : { seconds: 39, ...HALF_SIZE }

/**
 * With this pacing every frame is analysed, so the counts do not depend on the speed of the
 * machine.
 */
const settings = { engine: { pacing: 'all' } }

beforeAll(async () => {
  scene = await renderTestScene(VARIANT)
  appliance = await startAppliance({
    // To `make run`, the scene is the user's own video here.
    source: scene.video,
    settings,
    environment: {
      EYRIE_MEDIA_ROOTS: scene.folder,
      EYRIE_DATA: mkdtempSync(join(tmpdir(), 'eyrie-counts-')),
    },
  })
  await appliance.waitForLine(/ready: open/)
}, 900_000)
afterAll(() => appliance.remove())

const count = <T>(items: T[], matches: (item: T) => boolean) => items.filter(matches).length

/**
 * The objects that move through at least a third of the picture, and the share of them that
 * cross one of the lines.
 */
function computeCrossingShare(lines: Parameters<typeof findCrossings>[0][]): number {
  const starts = new Map<number, number>()
  const moved = new Set<number>()
  for (const { track, foot } of scene.truth.frames.flatMap(({ objects }) => objects)) {
    const start = starts.get(track) ?? foot.x
    starts.set(track, start)
    if (Math.abs(foot.x - start) > 1 / 3) moved.add(track)
  }
  const crossing = new Set(
    lines.flatMap(line => findCrossings(line, scene.truth.frames)).map(({ track }) => track),
  )
  return [...moved].filter(track => crossing.has(track)).length / moved.size
}

describe('lines of make run', { tags: 'long' }, () => {
  const readPipeline = async () => {
    const { pipeline = 0, source = 0 } = readState(appliance.data) ?? {}
    const { elements } = await createEngineClient(appliance).pipeline.get(pipeline)
    return { pipeline, source, elements, lines: readLines(elements, source)! }
  }

  it('are proposed across the paths in the video after a minute of watching', async () => {
    expect((await readPipeline()).lines).toEqual(DEFAULT_LINES)
    if (IS_LONG) {
      await appliance.waitForLine(
        /replaced the default line by lines across the paths of moving objects/,
      )
    } else {
      const engine = { url: appliance.engineUrl, token: appliance.token }
      await drawProposedLines({
        engine,
        data: appliance.data,
        log: createServiceLog([]),
        seconds: 16,
      })
    }
    const { lines } = await readPipeline()
    expect(lines).not.toEqual(DEFAULT_LINES)
    expect(computeCrossingShare(lines)).toBeGreaterThan(0.5)
  }, 300_000)

  it('are drawn in a running pipeline by eyrie lines propose --apply', async () => {
    const { pipeline, source, elements } = await readPipeline()
    await createEngineClient(appliance).pipeline.modify(pipeline, {
      elements: replaceLines(elements, source, []),
    })
    const args = ['lines', 'propose', String(pipeline), '--apply', '--seconds', '16']
    const { code, out } = await runEyrieCommand(args, {
      data: appliance.data,
      environment: { EYRIE_ENGINE_URL: appliance.engineUrl },
    })
    expect(out).toMatch(/^drew source \d+, path: \d+ objects moved .* \(up\), \d+ .* \(down\)$/m)
    expect(code).toBe(0)
    const { lines } = await readPipeline()
    expect(computeCrossingShare(lines)).toBeGreaterThan(0.5)
  }, 300_000)
})

describe('counts of the rendered scene', () => {
  it('match the ground truth on every line in both directions', async () => {
    const engine = createEngineClient(appliance)
    await engine.activate(COMMUNITY_LICENSE)
    const { pipelines } = await engine.deploy([
      {
        sources: [{ type: 'file', address: pathToFileURL(scene.video).href }],
        sinks: [{ type: 'inf', address: 'inf://counts' }],
        elements: createScenePipeline('scene-detector', 0),
        usecase: 'line-crossing',
      },
    ])
    const [pipeline] = pipelines
    if (!pipeline) throw new Error('nothing was deployed')
    await waitUntilStopped(engine, pipeline, 600_000)

    const messages = (await readDurableMessages(engine)).filter(
      message => message.pipeline === pipeline.id,
    )
    // A `count` message contains only the counters that have changed.
    const counts = messages.filter(message => message.kind === 'count').map(({ data }) => data)
    const last: Counters = Object.assign({}, ...counts)
    for (const { name } of scene.truth.lines) {
      const up = count(scene.truth.crossings, c => c.line === name && c.direction === 'up')
      const down = count(scene.truth.crossings, c => c.line === name && c.direction === 'down')
      expect(up + down, `${name} is crossed in the ground truth`).toBeGreaterThan(10)
      expect(last[name], name).toEqual({ up, down, total: up + down })
    }
    const crossings = messages.filter(
      message => message.kind === 'event' && message.data.type === 'line-crossing',
    )
    expect(crossings).toHaveLength(scene.truth.crossings.length)
  }, 900_000)
})
