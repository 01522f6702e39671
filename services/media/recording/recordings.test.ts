import { existsSync, mkdirSync, rmdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { TICKS_PER_SECOND } from '@eyrie/contract'
import { createLog } from '@eyrie/kit'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { continuousRecording } from '../../../test/fixtures/media/recorded-stream.ts'
import { createTemporaryFolder } from '../../../test/fixtures/temporary-folder.ts'
import { systemClock } from '../runtime/clock.ts'
import type { SoundListener } from '../sound/sound-tap.ts'
import type { SoundTrack } from '../sound/sound-track.ts'
import { createStream, type Track } from '../stream/live-stream.ts'
import { damageFile, NOON_US, write } from './archive/recording-archive.fixture.ts'
import { createArchive } from './archive/recording-archive.ts'
import { createRecordings } from './recordings.ts'
import { BEGIN_US, FPS, track, unit } from './writing/segmenter.fixture.ts'
import type { RecordingInput } from './writing/source-recorder.ts'

const SOURCE = 1

/** Creates the recordings of a source, which must be started. */
function prepareRecordings(folder: string, reserveBytes = 0, sound?: RecordingInput['sound']) {
  const stream = createStream<Track>(7)
  stream.begin(track)
  const recordings = createRecordings({
    data: folder,
    settings: { folder, reserve_bytes: reserveBytes, reserve_percent: 0, segment_s: 60 },
    epoch: 7,
    findPackets: () => ({ stream, sound }),
    clock: systemClock,
    log: createLog('media', 'silent'),
  })
  onTestFinished(recordings.stop)
  return { recordings, stream }
}

/** Starts the recordings of a source. */
async function startRecordings(folder: string, reserveBytes = 0) {
  const prepared = prepareRecordings(folder, reserveBytes)
  await prepared.recordings.start()
  prepared.recordings.apply([{ id: SOURCE, recording: continuousRecording }])
  return prepared
}

/** Stores files of a minute each. Returns their paths and the size of one. */
function storeFiles(folder: string, count: number) {
  const archive = createArchive({ folder, reserve: { bytes: 0, percent: 0 } })
  const files = Array.from({ length: count }, (_, n) => write(archive, SOURCE, NOON_US + n * 60e6))
  archive.shutDown()
  return { paths: files.map(({ path }) => path), bytes: files[0]!.bytes }
}

/** Makes a file impossible to delete: like one without permission, a folder cannot be removed. */
function makeUndeletable(path: string): void {
  rmSync(path)
  mkdirSync(path)
}

it('records nothing on a disk that is full when the service starts', async () => {
  const folder = createTemporaryFolder()
  const { recordings, stream } = await startRecordings(folder, Number.MAX_SAFE_INTEGER)
  let n = 0
  await vi.waitFor(() => {
    // The first pictures arrive before the first run of retention has ended.
    for (const end = n + FPS; n < end; n++) stream.write(unit(n))
    expect(recordings.states().get(SOURCE)).toMatchObject({
      state: 'failed',
      reason: expect.stringMatching(/^the disk has only .* left/),
    })
  })
  await recordings.stop()
  expect(existsSync(join(folder, String(SOURCE)))).toBe(false)
})

it('reports a recording that cannot be deleted', async () => {
  const folder = createTemporaryFolder()
  const { paths } = storeFiles(folder, 1)
  makeUndeletable(paths[0]!)

  const { recordings } = await startRecordings(folder, Number.MAX_SAFE_INTEGER)
  await vi.waitFor(() =>
    expect(recordings.alarms()[0]).toMatch(
      /^retention fails for the recordings in .* EISDIR.* \(number of files .*: 1\)$/,
    ),
  )
})

it('starts while the disk does not respond, and records once it responds', async () => {
  const folder = createTemporaryFolder()
  createArchive({ folder, reserve: { bytes: 0, percent: 0 } }).shutDown()
  const lock = new DatabaseSync(join(folder, 'index.db'))
  lock.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE')

  const { recordings, stream } = await startRecordings(folder)
  const getState = () => recordings.states().get(SOURCE)
  stream.write(unit(0))
  expect(getState()).toEqual({
    state: 'failed',
    reason: `the disk of ${folder} has not responded yet or is full, or another process has locked ${folder}/index.db`,
  })
  expect(recordings.alarms()).toHaveLength(1)

  lock.close()
  let n = FPS
  await vi.waitFor(() => {
    for (const end = n + FPS; n < end; n++) stream.write(unit(n))
    expect(getState()).toEqual({ state: 'recording' })
  })
})

it('applies a new retention policy once the index is no longer locked', async () => {
  const folder = createTemporaryFolder()
  const { paths } = storeFiles(folder, 1)
  const { recordings } = await startRecordings(folder)
  const lock = new DatabaseSync(join(folder, 'index.db'))
  lock.exec('BEGIN IMMEDIATE')
  recordings.apply([{ id: SOURCE, recording: { ...continuousRecording, keep_bytes: 1 } }])
  await vi.waitFor(() => expect(recordings.alarms()[0]).toMatch(/database is locked/))
  expect(existsSync(paths[0]!)).toBe(true)
  lock.close()
  await vi.waitFor(() => expect(existsSync(paths[0]!)).toBe(false))
})

describe('deletion of recordings', () => {
  it('deletes all files that can be deleted, and reports the others', async () => {
    const folder = createTemporaryFolder()
    const { paths, bytes } = storeFiles(folder, 3)
    makeUndeletable(paths[0]!)
    const { recordings } = await startRecordings(folder)
    const remove = () => recordings.remove(SOURCE, 0, Number.MAX_SAFE_INTEGER)
    await expect(remove()).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringMatching(/^1 of 3 files could not be deleted, .* EISDIR/),
      value: { files: 2, bytes: 2 * bytes, undeletable: 1 },
    })
    expect(paths.map(path => existsSync(path))).toEqual([true, false, false])
    rmdirSync(paths[0]!)
    expect(await remove()).toEqual({ files: 1, bytes })
  })

  it('includes the file that is being written, however long ago its pictures were captured', async () => {
    const { recordings, stream } = await startRecordings(createTemporaryFolder())
    await vi.waitFor(() => {
      for (let n = 0; n <= 2 * FPS; n++) stream.write(unit(n))
      expect(recordings.states().get(SOURCE)).toEqual({ state: 'recording' })
    })
    expect(await recordings.remove(SOURCE, BEGIN_US, BEGIN_US + 1e6)).toMatchObject({ files: 1 })
  })

  it('includes pictures that are buffered for a later event', async () => {
    const { recordings, stream } = prepareRecordings(createTemporaryFolder())
    await recordings.start()
    const aroundEvents = { ...continuousRecording, mode: 'event' } as const
    recordings.apply([{ id: SOURCE, recording: aroundEvents }])
    for (let n = 0; n < 5 * FPS; n++) stream.write(unit(n))

    await recordings.remove(SOURCE, BEGIN_US + 1e6, BEGIN_US + 2.5e6)
    const { pts } = unit(4 * FPS)
    const data = { type: 'bell' }
    recordings.addEvent({ source: SOURCE, channel: 1, pts, time: '2026-01-01T00:00:04Z', data })
    const from = await vi.waitFor(async () => {
      const { streams } = await recordings.list(SOURCE, 0, Number.MAX_SAFE_INTEGER)
      expect(streams[0]!.ranges).toHaveLength(1)
      return streams[0]!.ranges[0]!.from
    })
    // The first keyframe after the deleted time.
    expect(Date.parse(from) * 1000).toBe(BEGIN_US + 3e6)
  })

  it('includes pictures that wait for their sound', async () => {
    const listeners: SoundListener<SoundTrack>[] = []
    const sound: RecordingInput['sound'] = {
      listenToAac(listener) {
        listeners.push(listener)
        return () => {}
      },
    }
    const { recordings, stream } = prepareRecordings(createTemporaryFolder(), 0, sound)
    await recordings.start()
    recordings.apply([{ id: SOURCE, recording: continuousRecording }])
    const [listener] = listeners
    listener!.begin({ rate: 48_000, channels: 1, configuration: Uint8Array.of(0x11, 0x88) })
    const playSoundTo = (seconds: number) =>
      listener!.unit({ pts: 0, duration: seconds * TICKS_PER_SECOND, data: Buffer.alloc(1) })
    playSoundTo(0.5)
    for (let n = 0; n < 2.4 * FPS; n++) stream.write(unit(n))

    expect(await recordings.remove(SOURCE, 0, BEGIN_US + 2.4e6)).toMatchObject({ files: 1 })
    playSoundTo(10)
    for (let n = 2.4 * FPS; n < 5 * FPS; n++) stream.write(unit(n))
    const { first } = await vi.waitFor(async () => {
      const { streams } = await recordings.list(SOURCE, 0, Number.MAX_SAFE_INTEGER)
      expect(streams[0]!.ranges).toHaveLength(1)
      return streams[0]!
    })
    // The first keyframe after the deleted time.
    expect(Date.parse(first!) * 1000).toBe(BEGIN_US + 3e6)
  })

  it('includes a file that cannot be indexed, even if its stream has no others', async () => {
    const folder = createTemporaryFolder()
    const { paths } = storeFiles(folder, 1)
    damageFile(paths[0]!)
    rmSync(join(folder, 'index.db'))
    const { recordings } = prepareRecordings(folder)
    await recordings.start()
    const remove = () => recordings.remove(SOURCE, 0, Number.MAX_SAFE_INTEGER)
    await vi.waitFor(async () => expect(await remove()).toMatchObject({ files: 1 }))
    expect(existsSync(paths[0]!)).toBe(false)
    await expect(remove()).rejects.toMatchObject({ code: 'id' })
  })

  it('is refused until all files are indexed', async () => {
    const folder = createTemporaryFolder()
    const { paths } = storeFiles(folder, 2)
    rmSync(join(folder, 'index.db'))
    const { recordings } = prepareRecordings(folder)
    const started = recordings.start()
    const deletion = recordings.remove(SOURCE, 0, Number.MAX_SAFE_INTEGER)
    await expect(deletion).rejects.toMatchObject({ code: 'unavailable' })
    expect(paths.map(path => existsSync(path))).toEqual([true, true])
    await started
  })
})
