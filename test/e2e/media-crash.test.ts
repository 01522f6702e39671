// @module-tag long

import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Client } from '@eyrie/client'
import { expect, onTestFinished, test } from 'vitest'
import { startRtspCamera } from '../fixtures/cameras/rtsp-camera.ts'
import { createEngineClient } from '../fixtures/engine/engine-client.ts'
import { buildCrashingElement, writeCrashingFile } from '../fixtures/media/crashing-element.ts'
import { listRecordings } from '../fixtures/media/recorded-stream.ts'
import { SMALL_PICTURE } from '../fixtures/media/small-picture.ts'
import { type Appliance, startAppliance } from '../fixtures/processes/appliance.ts'
import { findServicePid } from '../fixtures/processes/processes.ts'
import { createTemporaryFolder } from '../fixtures/temporary-folder.ts'

type DeployedSource = Parameters<Client['deploy']>[0][number]['sources'][number]

const POLL = { timeout: 120_000, interval: 100 }

/** Returns the streams of media; nothing while media is not running. */
async function listStreams({ mediaUrl, token }: Appliance) {
  const headers = { authorization: `Bearer ${token}` }
  const response = await fetch(`${mediaUrl}/streams`, { headers }).catch(() => undefined)
  return ((await response?.json()) ?? []) as { id: number; state: string; reason?: string }[]
}

/** Returns the state of each stream. */
const readStates = async (appliance: Appliance): Promise<Record<string, string>> =>
  Object.fromEntries((await listStreams(appliance)).map(({ id, state }) => [id, state]))

/** The number of ranges without a gap that are recorded of each stream. */
async function countRanges({ mediaUrl, token }: Appliance): Promise<number[]> {
  const recordings = await listRecordings({ url: mediaUrl }, '', token)
  return recordings.map(({ ranges }) => ranges.length)
}

test('a file that crashes media at every start is put into quarantine, and cameras, recordings and the engine go on', {
  timeout: 300_000,
}, async () => {
  const plugins = createTemporaryFolder()
  // Media may run as a user of its own.
  chmodSync(plugins, 0o755)
  buildCrashingElement(plugins)
  const appliance = await startAppliance({
    source: SMALL_PICTURE,
    environment: { GST_PLUGIN_PATH: plugins },
  })
  onTestFinished(appliance.remove)
  await appliance.waitForLine(/ready: open/)
  const health = (await (await fetch(`${appliance.mediaUrl}/health`)).json()) as {
    isolation: object
  }
  expect(health.isolation).toEqual({ level: 'full', missing: [] })

  const engine = createEngineClient(appliance)
  const deploy = (sources: DeployedSource[]) =>
    engine.deploy(sources.map(source => ({ sources: [source], elements: [{ name: 'motion' }] })))
  const addresses = [await startRtspCamera(), await startRtspCamera()].map(({ url }) => url)
  const cameras = addresses.map(
    (address): DeployedSource => ({ type: 'video', address, recording: { mode: 'continuous' } }),
  )
  await deploy(cameras)
  const ids = (await engine.source.list()).map(({ id }) => String(id))
  const running = Object.fromEntries(ids.map(id => [id, 'running']))
  await expect.poll(() => readStates(appliance), POLL).toEqual(running)
  await expect.poll(() => countRanges(appliance), POLL).toEqual([1, 1])
  const pids = [findServicePid(appliance.data, 'media'), findServicePid(appliance.data, 'engine')]

  const hostile = join(appliance.data, 'media/hostile.mp4')
  writeCrashingFile(hostile)
  await deploy([...cameras, { type: 'file', address: pathToFileURL(hostile).href }])
  await appliance.waitForLine(/media +! process exited; restarting signal=SIG(SEGV|BUS)/)

  const isQuarantined = ({ reason }: { reason?: string }) =>
    /hostile\.mp4: opening it has crashed media/.test(reason ?? '')
  await expect.poll(async () => (await listStreams(appliance)).some(isQuarantined), POLL).toBe(true)
  await expect.poll(() => readStates(appliance), POLL).toMatchObject(running)
  await expect
    .poll(async () => Math.min(...(await countRanges(appliance))), POLL)
    .toBeGreaterThan(1)
  expect(findServicePid(appliance.data, 'engine')).toBe(pids[1])
  expect(findServicePid(appliance.data, 'media')).not.toBe(pids[0])
})
