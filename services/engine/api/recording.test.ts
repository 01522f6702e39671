import { expect, test } from 'vitest'
import {
  cameraSource,
  countingElements,
  discardSink,
  sharedEngine,
} from '../../../test/fixtures/engine/shared-engine.ts'

const callOf = sharedEngine()
const daily = { mode: 'continuous', before_s: 5, after_s: 10, keep_s: 86_400, sound: true }

test('v3 stores and returns the recording settings of a source', async () => {
  const call = callOf('v3')
  const { body, status } = await call('POST', '/sources', {
    ...cameraSource,
    recording: { mode: 'continuous', keep_s: 86_400 },
  })
  expect([status, body.recording]).toEqual([201, daily])
  const patched = await call('PATCH', `/sources/${body.id}`, {
    recording: { keep_s: null, mode: 'event' },
  })
  expect(patched.body.recording).toEqual({ mode: 'event', before_s: 5, after_s: 10, sound: true })
  const without = await call('PATCH', `/sources/${body.id}`, { recording: null })
  expect(without.body).not.toHaveProperty('recording')
})

test.each([
  [{ mode: 'always' }, '/recording/mode'],
  [{ mode: 'event', before_s: 61 }, '/recording/before_s'],
  [{ mode: 'continuous', keep_bytes: 1 }, '/recording/keep_bytes'],
  [{}, '/recording/mode'],
])('recording settings %j are rejected', async (recording, place) => {
  const { status, body } = await callOf('v3')('POST', '/sources', { ...cameraSource, recording })
  expect([status, body.code, body.reason.split(':')[0]]).toEqual([400, 'syntax', place])
})

test.each(['v1', 'v2'] as const)('%s hides recording settings and keeps them', async revision => {
  const stored = await callOf('v3')('POST', '/sources', { ...cameraSource, recording: daily })
  const { id } = stored.body
  const earlier = callOf(revision)
  expect((await earlier('GET', `/sources/${id}`)).body).not.toHaveProperty('recording')
  expect((await earlier('PUT', `/sources/${id}`, { ...cameraSource, rate: 5 })).status).toBe(200)
  const refused = await earlier('POST', '/sources', { ...cameraSource, recording: daily })
  expect(refused.status).toBe(400)
  const { body } = await callOf('v3')('GET', `/sources/${id}`)
  expect(body).toMatchObject({ rate: 5, recording: daily })
})

test('a deployment by v1 or v2 retains recording settings', async () => {
  const object = {
    sources: [{ ...cameraSource, recording: daily }],
    sinks: [discardSink],
    elements: countingElements,
  }
  const before = (await callOf('v3')('POST', '/configuration', [object])).body.sources
  const earlier = { sources: [cameraSource], sinks: [discardSink], pipeline: countingElements }
  expect((await callOf('v2')('POST', '/configuration', [earlier])).status).toBe(200)
  expect((await callOf('v3')('GET', '/configuration')).body.sources).toEqual(before)
})
