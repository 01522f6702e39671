import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readLines } from '@eyrie/cli/lines/line-config'
import { createClient } from '@eyrie/client'
import { type ListeningServer, listen, type Service } from '@eyrie/kit'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { startEngine } from '../../test/fixtures/engine/engine.ts'
import { createTemporaryFolder } from '../../test/fixtures/temporary-folder.ts'
import { createServiceLog } from '../process/service-log.ts'
import { chooseLines, drawProposedLines } from './quickstart-lines.ts'
import { createDefaultPipeline, DEFAULT_LINES } from './quickstart-pipeline.ts'
import { readState, writeState } from './quickstart-state.ts'

const camera = { type: 'video', address: 'rtsp://viewer:secret@camera.invalid/stream' } as const
const own = {
  name: 'gate',
  coords: [
    { x: 0.3, y: 0 },
    { x: 0.3, y: 1 },
  ],
}

/** An engine without media, so that no objects are detected. */
let engine: Service
let server: ListeningServer
beforeAll(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'eyrie-quickstart-lines-'))
  ;({ engine } = await startEngine(folder, { EYRIE_ENGINE_TOKENS: 'secret' }))
  server = await listen(engine, '127.0.0.1', 0)
})
afterAll(async () => {
  await server.close()
  await engine.stop()
})

/** Configures a camera with the default line, as the quickstart does. */
async function setUp() {
  const data = createTemporaryFolder()
  const access = { url: `http://127.0.0.1:${server.port}`, token: 'secret' }
  const client = createClient(access)

  const source = (await client.source.create(camera)).id
  const elements = createDefaultPipeline('scene-detector', source)
  const pipeline = (await client.pipeline.create({ elements, sources: [source] })).id
  const state = { source, pipeline, scene: false, replaceable_lines: DEFAULT_LINES }
  writeState(data, state)

  const messages: string[] = []
  const log = createServiceLog([({ msg }) => messages.push(msg)])
  const readDrawnLines = async () =>
    readLines((await client.pipeline.get(pipeline)).elements, source)
  /** Draws lines by hand, as a user does. */
  const drawByHand = (lines: (typeof own)[]) =>
    client.pipeline.modify(pipeline, {
      elements: createDefaultPipeline('scene-detector', source, lines),
    })
  return { data, access, client, state, log, messages, readDrawnLines, drawByHand }
}

describe('lines of the quickstart', () => {
  it('are the default line for the first video, which may be replaced', async () => {
    const { client } = await setUp()
    const expected = { drawn: DEFAULT_LINES, replaceable: DEFAULT_LINES }
    expect(await chooseLines(client, undefined, camera)).toEqual(expected)
    expect(await chooseLines(client, { source: 1, pipeline: 1, scene: true }, camera)).toEqual(
      expected,
    )
  })

  it('are kept at the next start with the same camera', async () => {
    const { client, state, drawByHand } = await setUp()
    const unchanged = { drawn: DEFAULT_LINES, replaceable: DEFAULT_LINES }
    expect(await chooseLines(client, state, camera)).toEqual(unchanged)
    expect(await chooseLines(client, state, undefined)).toEqual(unchanged)

    await drawByHand([own])
    const afterProposal = { ...state, replaceable_lines: undefined }
    expect(await chooseLines(client, afterProposal, camera)).toEqual({
      drawn: [own],
      replaceable: undefined,
    })
  })

  it('are the default line again for another camera and after the pipeline was deleted', async () => {
    const { client, state, drawByHand } = await setUp()
    await drawByHand([own])
    const expected = { drawn: DEFAULT_LINES, replaceable: DEFAULT_LINES }
    const other = { ...camera, address: 'rtsp://viewer:secret@other.invalid/stream' }
    expect(await chooseLines(client, state, other)).toEqual(expected)
    await client.pipeline.remove(state.pipeline, { force: true })
    expect(await chooseLines(client, state, camera)).toEqual(expected)
  })

  it('are not replaced on a test pattern', async () => {
    const { client } = await setUp()
    const pattern = { type: 'inf', address: 'test://ball' } as const
    expect(await chooseLines(client, undefined, pattern)).toEqual({ drawn: DEFAULT_LINES })
  })
})

describe('the proposal of the quickstart', () => {
  it('leaves lines that the user has changed, now and at later starts', async () => {
    const { access, data, log, messages, readDrawnLines, drawByHand } = await setUp()
    await drawByHand([own])
    await drawProposedLines({ engine: access, data, log })
    expect(await readDrawnLines()).toEqual([own])
    expect(messages).toEqual(['lines were changed, so none are proposed'])
    expect(readState(data)).not.toHaveProperty('replaceable_lines')

    await drawProposedLines({ engine: access, data, log })
    expect(messages).toHaveLength(1)
  })

  it('ends when the pipeline is deleted', async () => {
    const { access, client, data, log, state } = await setUp()
    await client.pipeline.remove(state.pipeline, { force: true })
    await drawProposedLines({ engine: access, data, log })
    expect(readState(data)).not.toHaveProperty('replaceable_lines')
  })

  it('leaves the default line until objects move, and continues at the next start', async () => {
    const { access, data, log, messages, state, readDrawnLines } = await setUp()
    const stop = new AbortController()
    const proposal = drawProposedLines({ engine: { ...access, signal: stop.signal }, data, log })
    await vi.waitFor(() =>
      expect(messages).toEqual(['watching for moving objects, to propose lines']),
    )
    stop.abort()
    await proposal
    expect(await readDrawnLines()).toEqual(DEFAULT_LINES)
    expect(readState(data)).toEqual(state)
  })
})
