import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createLog } from '@eyrie/kit'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { createTemporaryFolder } from '../../../test/fixtures/temporary-folder.ts'
import { createArchive } from './archive/recording-archive.ts'
import { createRecordings } from './recordings.ts'

const DAY_MS = 86_400_000
const today = Date.parse('2026-03-04T12:00:00Z')
const wrong = Date.parse('2038-01-19T03:14:07Z')
const reserve = { bytes: 0, percent: 0 }

/** A machine with a recording of today, which expires after a week. */
function createMachine() {
  const data = createTemporaryFolder()
  const archive = createArchive({ folder: join(data, 'recordings'), reserve })
  const info = { source: 1, epoch: 1, pts: 0, codecs: 'avc1.42c00d', width: 320, height: 240 }
  const { id, path } = archive.beginSegment(info, (today - 60_000) * 1000)
  writeFileSync(path, 'x')
  archive.closeSegment({ id, path, endUs: today * 1000, bytes: 1 })
  archive.setPolicy(1, { keep_s: (7 * DAY_MS) / 1000 })
  archive.shutDown()

  let [wallMs, monotonicMs] = [today, 0]
  return {
    isRecorded: () => existsSync(path),
    setClock(ms: number) {
      wallMs = ms
    },
    run(ms: number) {
      wallMs += ms
      monotonicMs += ms
    },
    /** Starts the service and waits until it has applied retention. Returns how to stop it. */
    async start(settings = {}) {
      let wallReads = 0
      const recordings = createRecordings({
        data,
        settings: { reserve_bytes: 0, reserve_percent: 0, segment_s: 60, ...settings },
        epoch: 1,
        findPackets: () => undefined,
        clock: {
          wall: () => {
            wallReads += 1
            return wallMs
          },
          now: () => monotonicMs,
          sleep: (_, signal) => sleep(10, undefined, { signal }),
        },
        log: createLog('media', 'silent'),
      })
      await recordings.start()
      onTestFinished(recordings.stop)
      // Each run reads the clock once, the first one twice if it knows no other time.
      await vi.waitUntil(() => wallReads > 2)
      return recordings.stop
    },
  }
}

describe('recordings on a machine whose clock is wrong', () => {
  it('are kept until the service has run for a day with the new time, despite a restart', async () => {
    const machine = createMachine()
    const stop = await machine.start()
    await stop()
    machine.setClock(wrong)
    const stopAgain = await machine.start()
    await stopAgain()
    await machine.start()
    expect(machine.isRecorded()).toBe(true)
    machine.run(DAY_MS)
    await vi.waitFor(() => expect(machine.isRecorded()).toBe(false))
  })

  it('are kept when the clock is wrong at the first start', async () => {
    const machine = createMachine()
    machine.setClock(wrong)
    await machine.start()
    expect(machine.isRecorded()).toBe(true)
  })

  it('are deleted when the disk is full', async () => {
    const machine = createMachine()
    machine.setClock(wrong)
    await machine.start({ reserve_percent: 100 })
    expect(machine.isRecorded()).toBe(false)
  })
})
