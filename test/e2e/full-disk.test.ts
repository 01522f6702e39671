// @module-tag long

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { COMMUNITY_LICENSE, health, recordingList } from '@eyrie/contract'
import { expect, it, onTestFinished, vi } from 'vitest'
import { createEngineClient } from '../fixtures/engine/engine-client.ts'
import { SMALL_PICTURE } from '../fixtures/media/small-picture.ts'
import { startAppliance } from '../fixtures/processes/appliance.ts'
import { createSmallDisk } from '../fixtures/processes/small-disk.ts'
import { mountRequirement } from '../fixtures/requirements/mount-namespace.ts'
import { needs } from '../fixtures/requirements/needs.ts'

const administrator = { email: 'owner@eyrie.test', password: 'correct horse battery staple' }
const settings = { media: { recording: { reserve_bytes: 0, reserve_percent: 0 } } }
const WAIT = { timeout: 60_000, interval: 100 }

async function startOnSmallDisk() {
  const disk = createSmallDisk('400m')
  onTestFinished(disk.remove)
  writeFileSync(join(disk.template, 'eyrie.json'), JSON.stringify(settings))
  const appliance = await startAppliance({
    source: SMALL_PICTURE,
    environment: {
      EYRIE_DATA: disk.folder,
      EYRIE_ADMIN_EMAIL: administrator.email,
      EYRIE_ADMIN_PASSWORD: administrator.password,
    },
    launcher: disk.launcher,
  })
  onTestFinished(appliance.remove)
  await appliance.waitForLine(/ready: open/)

  const pid = appliance.process.pid!
  const token = readFileSync(join(disk.view(pid), 'secrets/engine-token'), 'utf8').trim()
  return { ...appliance, token, fill: () => disk.fill(pid), free: () => disk.free(pid) }
}

type ApplianceOnDisk = Awaited<ReturnType<typeof startOnSmallDisk>>

/** Returns the alarms of a service that is healthy nevertheless. */
async function readAlarms(url: string): Promise<string[]> {
  const response = await fetch(`${url}/health`)
  expect(response.status).toBe(200)
  return health.parse(await response.json()).alarms
}

/** Returns the time of the last recorded picture, in epoch ms; 0 without a recording. */
async function readRecordingEnd({ mediaUrl, token }: ApplianceOnDisk): Promise<number> {
  const headers = { authorization: `Bearer ${token}` }
  const { streams } = recordingList.parse(
    await (await fetch(`${mediaUrl}/recordings`, { headers })).json(),
  )
  const last = streams[0]?.ranges.at(-1)
  return last ? Date.parse(last.to) : 0
}

/** Signs in, which stores a session. Returns the status. */
async function signIn({ consoleUrl }: ApplianceOnDisk): Promise<number> {
  const response = await fetch(`${consoleUrl}/api/v1/user/auth`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(administrator),
  })
  return response.status
}

it('every service reports a full disk, and stores again when there is space', {
  ...needs(mountRequirement),
  timeout: 300_000,
}, async () => {
  const appliance = await startOnSmallDisk()
  const { engineUrl, mediaUrl, consoleUrl } = appliance
  const urls = [engineUrl, mediaUrl, consoleUrl]
  const engine = createEngineClient(appliance)
  await engine.activate(COMMUNITY_LICENSE)
  const [source] = await engine.source.list()
  await engine.source.modify(source!.id, { recording: { mode: 'continuous' } })
  await vi.waitUntil(async () => (await readRecordingEnd(appliance)) > 0, WAIT)
  await vi.waitUntil(async () => (await signIn(appliance)) === 200, WAIT)
  for (const url of urls) {
    await vi.waitFor(async () => expect(await readAlarms(url)).toEqual([]), WAIT)
  }

  appliance.fill()
  for (const url of [engineUrl, consoleUrl]) {
    const noSpace = expect.stringMatching(
      /^nothing can be stored, .* on the disk of \/.*: delete files that are not needed/,
    )
    await vi.waitFor(async () => expect(await readAlarms(url)).toContainEqual(noSpace), WAIT)
  }
  const notRecorded = expect.stringMatching(/^source \d+ is not recorded: .*disk.* full/)
  await vi.waitFor(async () => expect(await readAlarms(mediaUrl)).toContainEqual(notRecorded), WAIT)
  await expect(engine.source.modify(source!.id, { rate: 7 })).rejects.toMatchObject({
    code: 'unavailable',
    message: 'the disk is full and nothing was changed: free some space',
  })

  appliance.free()
  const freedAt = Date.now()
  for (const url of urls) {
    await vi.waitFor(async () => expect(await readAlarms(url)).toEqual([]), WAIT)
  }
  await vi.waitUntil(async () => (await readRecordingEnd(appliance)) > freedAt, WAIT)
  expect(await engine.source.modify(source!.id, { rate: 7 })).toMatchObject({ rate: 7 })
  expect(await signIn(appliance)).toBe(200)
})
