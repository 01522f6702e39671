import { describe, expect, test } from 'vitest'
import type { CallEngine } from '../../../../test/fixtures/engine/engine.ts'
import {
  cameraSource,
  countingElements,
  sharedEngine,
} from '../../../../test/fixtures/engine/shared-engine.ts'

const callOf = sharedEngine()
const call: CallEngine = (...request) => callOf('v3')(...request)

const writers = 50

/** Increments the rate of a source with If-Match and retries after concurrent edits. */
async function increment(path: string): Promise<number> {
  for (let attempts = 1; ; attempts += 1) {
    const { body, headers } = await call('GET', path)
    const patch = { rate: body.rate + 1 }
    const { status } = await call('PATCH', path, patch, { 'If-Match': headers.get('ETag')! })
    if (status === 200) return attempts
    expect(status).toBe(412)
  }
}

test(`${writers} concurrent writers with If-Match lose no update`, async () => {
  const { body } = await call('POST', '/sources', { ...cameraSource, rate: 1 })
  const path = `/sources/${body.id}`
  const attempts = await Promise.all(Array.from({ length: writers }, () => increment(path)))
  expect((await call('GET', path)).body.rate).toBe(1 + writers)
  // The writers did conflict.
  expect(Math.max(...attempts)).toBeGreaterThan(1)
}, 180_000)

test(`${writers} concurrent writers to different resources lose no update`, async () => {
  const made = await Promise.all(
    Array.from({ length: writers }, () => call('POST', '/sources', cameraSource)),
  )
  const change = async ({ body: { id } }: (typeof made)[number], index: number) =>
    call('PATCH', `/sources/${id}`, { rate: index + 1 })
  const changed = await Promise.all(made.map(change))
  const { sources } = (await call('GET', '/configuration')).body
  expect(sources).toEqual(changed.map(({ body }) => body))
}, 180_000)

describe.each(['v1', 'v2'] as const)('concurrent edit by %s', revision => {
  test('retains the decoder and the recording that v3 sets at the same time', async () => {
    const path = `/sources/${(await call('POST', '/sources', cameraSource)).body.id}`
    for (let rate = 1; rate <= writers; rate += 1) {
      const own = {
        decoder: rate % 2 ? 'ffmpeg' : 'gst',
        recording: { mode: 'event', keep_s: 60 * rate },
      }
      const patched = call('PATCH', path, own)
      const put = callOf(revision)('PUT', path, { ...cameraSource, rate })
      expect(await Promise.all([patched, put])).toMatchObject([{ status: 200 }, { status: 200 }])
      expect((await call('GET', path)).body).toMatchObject({ ...own, rate })
    }
  }, 180_000)

  test('retains the priority that v3 sets at the same time', async () => {
    const path = `/pipelines/${(await call('POST', '/pipelines', { elements: countingElements })).body.id}`
    for (let round = 1; round <= writers; round += 1) {
      const [priority, usecase] = [round % 10, `usecase ${round}`]
      const patched = call('PATCH', path, { priority })
      const put = callOf(revision)('PUT', path, { elements: countingElements, usecase })
      expect(await Promise.all([patched, put])).toMatchObject([{ status: 200 }, { status: 200 }])
      expect((await call('GET', path)).body).toMatchObject({ priority, usecase })
    }
  }, 180_000)
})
