import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { allRevisions } from '../../../../test/fixtures/engine/conformance.ts'
import { startEngine } from '../../../../test/fixtures/engine/engine.ts'
import { SMALL_PICTURE } from '../../../../test/fixtures/media/small-picture.ts'
import { startMediaProcess } from '../../../../test/fixtures/processes/media-process.ts'
import { createTemporaryFolder } from '../../../../test/fixtures/temporary-folder.ts'

/** Exports of a running channel: its stream, its frame rate and its static metadata. */

const door = {
  name: 'door',
  coords: [
    { x: 0, y: 0 },
    { x: 1, y: 1 },
  ],
}
const floor = [
  { x: 0, y: 0.5 },
  { x: 1, y: 0.5 },
  { x: 1, y: 1 },
  { x: 0, y: 1 },
]
const patience = { timeout: 60_000, interval: 100 }

test('a running channel has a stream, a frame rate and static metadata in the representation of the revision', async () => {
  const media = await startMediaProcess()
  onTestFinished(() => media.stop())
  const { engine, call, getRevision } = await startEngine(join(createTemporaryFolder(), 'data'), {
    EYRIE_MEDIA_URL: media.url,
    EYRIE_LICENSE: 'community',
  })
  onTestFinished(() => engine.stop())
  const crossing = { name: 'line-crossing', config: { '0': { lines: [door] } } }
  const distancing = {
    name: 'social-distancing',
    config: { calibration: { image: floor, world: floor } },
  }
  const deployed = await call('POST', '/configuration', [
    {
      sources: [{ type: 'inf', address: SMALL_PICTURE }],
      elements: [{ name: 'object-tracking-OH' }, crossing, distancing],
      usecase: 'counting',
    },
  ])
  const source = deployed.body.sources[0].id
  const pipeline = deployed.body.pipelines[0].id

  await vi.waitFor(async () => {
    const { status, fps, latency } = (await call('GET', `/pipelines/${pipeline}/statistics`)).body
    expect(status).toBe('running')
    expect(fps).toBeGreaterThan(0)
    expect(latency).toBeGreaterThan(0)
  }, patience)

  for (const revision of allRevisions) {
    const get = async (path: string) => (await getRevision(revision)('GET', path)).body
    const { streams, channels } = await get('/exports')
    expect(streams).toEqual([{ id: source, sources: [source] }])
    const { id, stream, ...channel } = channels[0]
    expect(channel).toEqual({ source, pipeline })
    const served = {
      id: source,
      hostname: expect.any(String),
      port: Number(new URL(media.url).port),
    }
    expect(stream).toEqual(revision === 'v3' ? served : source)

    const { [id]: entry } = await get('/exports/channels/properties')
    expect(entry).toMatchObject({ ...channel, stream, usecase: 'counting' })
    expect(entry.fps).toBeGreaterThan(0)
    expect(entry.latency).toBeGreaterThan(0)
    const calibration = { name: 'calibration', coords: floor, world: floor }
    expect(entry.static).toEqual({
      'line-crossing': { lines: [door] },
      'social-distancing': { threshold: 2, calibration },
    })

    const drawn = (format: string) => get(`/exports/channels/${id}/static${format}`)
    expect(await drawn('')).toEqual(entry.static)
    expect(await drawn('?format=pass')).toEqual(entry.static)
    expect(await drawn('?format=formatter_a')).toMatchObject({
      'line-crossing.lines.0.name': 'door',
    })
    const shapes = [
      { name: 'door', type: 'line', points: door.coords },
      { name: 'calibration', type: 'calibration', points: floor },
    ]
    expect(await drawn('?format=formatter_b')).toEqual(shapes)
    const formatted = await get(
      `/exports/channels/properties?ids=${id}&props=static&format=formatter_b`,
    )
    expect(formatted).toEqual({ [id]: { static: shapes } })
  }
}, 180_000)
