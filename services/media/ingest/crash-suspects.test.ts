import { writeFileSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { createLog } from '@eyrie/kit'
import { beforeEach, describe, expect, it } from 'vitest'
import { createTemporaryFolder } from '../../../test/fixtures/temporary-folder.ts'
import { systemClock } from '../runtime/clock.ts'
import { createCrashSuspects } from './crash-suspects.ts'

const signal = new AbortController().signal
const log = createLog('media', 'silent')

const camera = (id: number, url = `rtsp://user:secret@192.0.2.${id}/main`) =>
  ({ id, type: 'video', address: { url }, decoder: 'gst', pacing: 'realtime' }) as const

let folder: string
let wall: number
/** Monotonic time in ms. */
let now: number
beforeEach(() => {
  folder = createTemporaryFolder()
  wall = Date.parse('2027-03-01T12:00:00Z')
  now = 0
})

/** The next process, after the last one has crashed: it has written no more notes. */
function startProcess() {
  const clock = { ...systemClock, wall: () => wall, now: () => now }
  const suspects = createCrashSuspects(folder, clock, log)
  suspects.load()
  return suspects
}

/** Starts a process that opens these cameras, and crashes. */
async function crashWhileOpening(...cameras: ReturnType<typeof camera>[]) {
  const suspects = startProcess()
  for (const opened of cameras) await suspects.begin(opened, signal)
}

async function crashTwice(...cameras: ReturnType<typeof camera>[]) {
  await crashWhileOpening(...cameras)
  await crashWhileOpening(...cameras)
}

/** Whether the attempt begins without the end of another one. */
const hasBegun = (attempt: Promise<unknown>) =>
  Promise.race([attempt.then(() => true), new Promise(resolve => setImmediate(resolve, false))])

describe('sources', () => {
  it('are opened together at first, and after one crash', async () => {
    await crashWhileOpening(camera(1), camera(2))
    await crashWhileOpening(camera(1), camera(2))
  })

  it('are opened one at a time after two crashes', async () => {
    await crashTwice(camera(1), camera(2))
    const suspects = startProcess()
    const first = await suspects.begin(camera(1), signal)
    const second = suspects.begin(camera(2), signal)
    expect(await hasBegun(second)).toBe(false)
    first.end()
    await second
  })

  it('do not wait for suspects if they were not being opened at the crashes', async () => {
    await crashTwice(camera(1))
    const suspects = startProcess()
    await suspects.begin(camera(1), signal)
    await suspects.begin(camera(2), signal)
  })

  it('are no suspects once they have played for some seconds', async () => {
    await crashTwice(camera(1), camera(2))
    const suspects = startProcess()
    const attempt = await suspects.begin(camera(1), signal)
    const other = suspects.begin(camera(2), signal)
    attempt.onPacket()
    now += 2_000
    attempt.onPacket()
    expect(await hasBegun(other)).toBe(false)
    now += 2_000
    attempt.onPacket()
    expect(await hasBegun(other)).toBe(true)
  })

  it('are no suspects once they were closed', async () => {
    await crashTwice(camera(1))
    const suspects = startProcess()
    const attempt = await suspects.begin(camera(1), signal)
    attempt.end()
    attempt.end()
    await suspects.begin(camera(1), signal)
    await suspects.begin(camera(2), signal)
    expect(await readdir(join(folder, 'opening'))).toHaveLength(2)
  })

  it('end their own turn only, even if another stream of the same camera has the same address', async () => {
    await crashTwice(camera(1), camera(2))
    const suspects = startProcess()
    const main = await suspects.begin(camera(1), signal)
    const sub = suspects.begin(camera(1), signal)
    const other = suspects.begin(camera(2), signal)
    main.end()
    const subAttempt = await sub
    main.end()
    expect(await hasBegun(other)).toBe(false)
    subAttempt.end()
    await other
  })

  it('stop waiting for their turn when they are removed', async () => {
    await crashTwice(camera(1), camera(2), camera(3))
    const suspects = startProcess()
    const removal = new AbortController()
    const first = await suspects.begin(camera(1), signal)
    const removed = suspects.begin(camera(2), removal.signal)
    const third = suspects.begin(camera(3), signal)
    removal.abort()
    await expect(removed).rejects.toThrow('aborted')
    first.end()
    await third
  })
})

describe('the source that is opened alone when media crashes', () => {
  beforeEach(async () => {
    await crashTwice(camera(1), camera(2))
    const suspects = startProcess()
    await suspects.begin(camera(1), signal)
    void suspects.begin(camera(2), signal)
  })

  it('is not opened for an hour, while the others are', async () => {
    const suspects = startProcess()
    await expect(suspects.begin(camera(1), signal)).rejects.toThrow(
      'rtsp://192.0.2.1/main: opening it has crashed media 3 times, so it is not opened until 2027-03-01T13:00:00.000Z: ',
    )
    await suspects.begin(camera(2), signal)
  })

  it('is tried again after the hour, alone', async () => {
    const suspects = startProcess()
    wall += 3_600_000
    await suspects.begin(camera(1), signal)
    expect(await hasBegun(suspects.begin(camera(2), signal))).toBe(false)
  })

  it('is opened at once with another address', async () => {
    await startProcess().begin(camera(1, 'rtsp://192.0.2.1/sub'), signal)
  })

  it('is opened at once after an orderly restart', async () => {
    startProcess().clear()
    await startProcess().begin(camera(1), signal)
  })
})

it('ignores a note that the crash has interrupted', async () => {
  await startProcess().begin(camera(1), signal)
  const [name = ''] = await readdir(join(folder, 'opening'))
  writeFileSync(join(folder, 'opening', name), '{"crashes":')
  await startProcess().begin(camera(1), signal)
})
