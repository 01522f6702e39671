// @module-tag long

import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type RecordedRange, recordedFrame, recordingList } from '@eyrie/contract'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { writePlugin } from '../fixtures/engine/test-plugin.ts'
import {
  getNumberBox,
  numberedShape,
  writeNumberedVideo,
} from '../fixtures/media/numbered-video.ts'
import { startEngineProcess } from '../fixtures/processes/engine-process.ts'
import { startMediaProcess } from '../fixtures/processes/media-process.ts'
import { createTemporaryFolder } from '../fixtures/temporary-folder.ts'

const POLL = { timeout: 90_000, interval: 200 }
const FRAMES = 500
const FRAME_TICKS = 90_000 / numberedShape.fps

/** Emits one event, some seconds after its start. */
const bell =
  "let rung = false; return { process: (frame: any) => { if (rung || frame.n < 150) return {}; rung = true; return { events: [{ type: 'bell' }] } } }"

describe('event recording', () => {
  it('records the source around an event, with the metadata of every frame', {
    timeout: 240_000,
  }, async () => {
    const data = createTemporaryFolder()
    writePlugin(join(data, 'plugins'), { name: 'bell', open: bell })
    await writeNumberedVideo(join(data, 'numbered.mp4'), FRAMES)
    const variables = { EYRIE_MEDIA_ROOTS: data }
    const media = await startMediaProcess(variables)
    onTestFinished(media.stop)
    const engine = await startEngineProcess({
      ...{ data: join(data, 'engine'), media, variables },
      plugins: join(data, 'plugins'),
    })
    onTestFinished(engine.stop)
    const address = pathToFileURL(join(data, 'numbered.mp4')).href
    const recording = { mode: 'event', before_s: 2, after_s: 2 } as const
    await engine.api.deploy([
      {
        sources: [{ type: 'inf', address, recording }],
        elements: [{ name: 'read-number' }, { name: 'bell' }],
      },
    ])

    const listRecordings = async () =>
      recordingList.parse(await (await fetch(`${media.url}/recordings`)).json())
    await vi.waitFor(async () => {
      const [stream] = (await listRecordings()).streams
      expect(stream).toMatchObject({ state: 'waiting', ranges: [expect.anything()] })
      const [{ from, to }] = stream!.ranges as [RecordedRange]
      // The last fragment may not have been written yet.
      expect(Date.parse(to) - Date.parse(from)).toBeGreaterThanOrEqual(4000)
    }, POLL)

    const readMetadata = async () => {
      const text = await (await fetch(`${media.url}/recordings/1/metadata`)).text()
      return text
        .trim()
        .split('\n')
        .map(line => recordedFrame.parse(JSON.parse(line)))
    }
    const frames = await readMetadata()
    expect(frames.length).toBeGreaterThan(20)
    for (const { pts, objects } of frames) {
      expect(objects).toMatchObject([
        { class: 'number', bbox: getNumberBox((pts / FRAME_TICKS) % FRAMES) },
      ])
    }

    const snapshot = await fetch(
      `${engine.url}/api/v3/exports/channels/1/snapshot.jpg?boxes=1&blur=faces,persons&width=320`,
    )
    expect([snapshot.status, snapshot.headers.get('Content-Type')]).toEqual([200, 'image/jpeg'])
    const wrong = await fetch(`${engine.url}/api/v3/exports/channels/1/snapshot.jpg?blur=nobody`)
    expect(wrong.status).toBe(400)
    expect(await wrong.json()).toMatchObject({ code: 'syntax' })

    // A change of the recording mode does not interrupt the pipeline.
    const before = (await engine.api.pipelineStatistics(1)).status
    await engine.api.source.modify(1, { recording: { mode: 'continuous' } })
    await vi.waitFor(
      async () => expect((await listRecordings()).streams[0]?.state).toBe('recording'),
      POLL,
    )
    expect((await engine.api.pipelineStatistics(1)).status).toBe(before)
  })
})
