import { existsSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { createLog } from '@eyrie/kit'
import { expect, it, onTestFinished, vi } from 'vitest'
import { continuousRecording } from '../../../test/fixtures/media/recorded-stream.ts'
import { createTemporaryFolder } from '../../../test/fixtures/temporary-folder.ts'
import { systemClock } from '../runtime/clock.ts'
import { createStream, type Track } from '../stream/live-stream.ts'
import { NOON_US, write } from './archive/recording-archive.fixture.ts'
import { createArchive } from './archive/recording-archive.ts'
import { createRecordings } from './recordings.ts'
import { FPS, track, unit } from './writing/segmenter.fixture.ts'

const SOURCE = 1

/** Starts the recordings of a source. */
async function startRecordings(folder: string, reserveBytes: number) {
  const stream = createStream<Track>(7)
  stream.begin(track)
  const recordings = createRecordings({
    data: folder,
    settings: { folder, reserve_bytes: reserveBytes, reserve_percent: 0, segment_s: 60 },
    epoch: 7,
    findPackets: () => ({ stream, sound: undefined }),
    clock: systemClock,
    log: createLog('media', 'silent'),
  })
  onTestFinished(recordings.stop)
  await recordings.start()
  recordings.apply([{ id: SOURCE, recording: continuousRecording }])
  return { recordings, stream }
}

it('records nothing on a disk that is full when the service starts', async () => {
  const folder = createTemporaryFolder()
  const { recordings, stream } = await startRecordings(folder, Number.MAX_SAFE_INTEGER)
  // The first run of retention has not ended yet.
  for (let n = 0; n <= 2 * FPS; n++) stream.write(unit(n))
  await vi.waitFor(() =>
    expect(recordings.states().get(SOURCE)).toMatchObject({
      state: 'failed',
      reason: expect.stringMatching(/^the disk has only .* left/),
    }),
  )
  await recordings.stop()
  expect(existsSync(join(folder, String(SOURCE)))).toBe(false)
})

it('reports a recording that cannot be deleted', async () => {
  const folder = createTemporaryFolder()
  const archive = createArchive({ folder, reserve: { bytes: 0, percent: 0 } })
  const { path } = write(archive, SOURCE, NOON_US)
  archive.shutDown()
  // Like a file without permission, a folder cannot be removed as a file.
  rmSync(path)
  mkdirSync(path)

  const { recordings } = await startRecordings(folder, Number.MAX_SAFE_INTEGER)
  await vi.waitFor(() =>
    expect(recordings.alarms()[0]).toMatch(
      /^retention fails for the recordings in .* is a directory.* \(number of files .*: 1\)$/,
    ),
  )
})

it('starts while the disk does not respond, and records once it responds', async () => {
  const folder = createTemporaryFolder()
  createArchive({ folder, reserve: { bytes: 0, percent: 0 } }).shutDown()
  const lock = new DatabaseSync(join(folder, 'index.db'))
  lock.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE')

  const { recordings, stream } = await startRecordings(folder, 0)
  const getState = () => recordings.states().get(SOURCE)
  stream.write(unit(0))
  expect(getState()).toEqual({
    state: 'failed',
    reason: `the disk of ${folder} has not responded yet, or another process has locked ${folder}/index.db`,
  })
  expect(recordings.alarms()).toHaveLength(1)

  lock.close()
  let n = FPS
  await vi.waitFor(() => {
    for (const end = n + FPS; n < end; n++) stream.write(unit(n))
    expect(getState()).toEqual({ state: 'recording' })
  })
})
