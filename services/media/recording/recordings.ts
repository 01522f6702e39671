import { join } from 'node:path'
import {
  type DesiredSource,
  type EventToRecord,
  EyrieError,
  type RecordedStream,
  type RecordingList,
  type RecordingsDeleted,
  type ResultToRecord,
} from '@eyrie/contract'
import type { RecordingSettings } from '@eyrie/contract/settings'
import { createRetentionClock, type Log, withTimeout } from '@eyrie/kit'
import type { Clock } from '../runtime/clock.ts'
import type { RetentionPolicy } from './archive/recording-index.ts'
import { openArchive, type RemoteArchive } from './archive/remote-archive.ts'
import { type DiskSpace, describeFullDisk } from './archive/retention.ts'
import type { UndeletableFiles } from './archive/undeletable-files.ts'
import { createDiskQueue } from './writing/disk-queue.ts'
import { createSegmenter } from './writing/segmenter.ts'
import {
  createRecorder,
  type Recorder,
  type RecorderStatus,
  type RecordingInput,
} from './writing/source-recorder.ts'

/**
 * Records sources (cameras and files) to disk, applies retention, and provides
 * access to the recordings.
 */
export interface Recordings {
  readonly archive: RemoteArchive
  start(): Promise<void>
  /** Starts and stops recorders as configured. Must be called after the sources were configured. */
  apply(sources: readonly Pick<DesiredSource, 'id' | 'recording'>[]): void
  addEvent(event: EventToRecord): void
  addResult(result: ResultToRecord): void
  /**
   * Lists one stream or all streams. Throws `EyrieError` (`id`) if the stream has no recordings
   * and is not recorded.
   */
  list(source: number | undefined, fromUs: number, toUs: number): Promise<RecordingList>
  /**
   * Deletes recordings. Throws `EyrieError`: `id` if the stream has no recordings and is not
   * recorded, `unavailable` while the index is being rebuilt, or `conflict` if some files cannot
   * be deleted; all others are deleted nevertheless, and `value` has the numbers.
   */
  remove(source: number, fromUs: number, toUs: number): Promise<RecordingsDeleted>
  statuses(): { source: number; status: RecorderStatus }[]
  /** Returns the state of each recorded source. While the disk is full, all of them have failed. */
  states(): Map<number, Pick<RecorderStatus, 'state' | 'reason'>>
  /** Returns the number of bytes that wait for the disk. */
  queuedBytes(): number
  /** Returns the problems that an operator must know, such as a full disk. */
  alarms(): string[]
  stop(): Promise<void>
}

export interface RecordingsOptions {
  /** Data folder of the appliance. */
  data: string
  settings: RecordingSettings
  /** Start of this run of the service. Stream times of different epochs are not comparable. */
  epoch: number
  /** Returns the packets of a configured source. */
  findPackets(source: number): RecordingInput | undefined
  clock: Clock
  log: Log
}

/** Why the last run of retention has failed, or could not delete this number of files. */
interface RetentionFailure {
  error: Error
  files?: number
}

type RecordingConfiguration = NonNullable<DesiredSource['recording']>

/** Holds several seconds of many cameras while the disk is slow. */
const MAX_QUEUED_BYTES = 64 << 20
/** Time between two applications of the retention policies, and between two checks of recorders. */
const CHECK_INTERVAL_MS = 1000
/** Maximum time to wait until the disk has been measured when the service starts. */
const START_TIMEOUT_MS = 2000
/** Maximum time to wait for the disk when the service stops. */
const STOP_TIMEOUT_MS = 800

export function createRecordings(options: RecordingsOptions): Recordings {
  const { data, settings, epoch, findPackets, clock, log } = options
  const folder = settings.folder ?? join(data, 'recordings')
  const reserve = { bytes: settings.reserve_bytes, percent: settings.reserve_percent }
  const queue = createDiskQueue(MAX_QUEUED_BYTES)
  const recorders = new Map<number, Recorder>()
  const retentionClock = createRetentionClock({
    file: join(folder, 'retention-clock.json'),
    wall: clock.wall,
    monotonic: clock.now,
    log,
  })
  /** Policies that the archive has not stored yet, for example because its index is locked. */
  const newPolicies = new Map<number, RetentionPolicy>()
  const stopping = new AbortController()
  let archive: RemoteArchive
  let closeArchive = async () => {}
  /** Undefined until the disk has been measured. Nothing is recorded before. */
  let disk: DiskSpace | undefined
  /** Whether the last run of retention has ended, and `disk` is its result. */
  let isRetentionApplied = false
  /** Undefined while retention works. */
  let retentionFailure: RetentionFailure | undefined
  /** Resolves when retention is no longer applied, after `stop`. */
  let retentionEnded: Promise<void> = Promise.resolve()

  const nowUs = () => clock.wall() * 1000

  /** Repeats a check until `stop`, after `first`, the first one, which has been started. */
  async function repeatUntilStopped(
    first: void | Promise<void>,
    check: () => void | Promise<void>,
  ) {
    await first
    for (;;) {
      await clock.sleep(CHECK_INTERVAL_MS, stopping.signal).catch(() => {})
      if (stopping.signal.aborted) return
      await check()
    }
  }

  function checkSilence() {
    for (const recorder of recorders.values()) recorder.checkSilence()
  }

  /** Returns the end of the newest recording, in epoch ms. */
  async function findNewest(): Promise<number | undefined> {
    const extents = await Promise.all(
      (await archive.listSources()).map(id => archive.findExtent(id)),
    )
    const ends = extents.flatMap(extent => extent?.last ?? [])
    return ends.length > 0 ? Math.max(...ends.map(end => Date.parse(end))) : undefined
  }

  /**
   * Measures the disk while retention does not: during its first run, which may have to delete the
   * recordings of days, and while it fails.
   */
  async function measureDisk() {
    if (isRetentionApplied) return
    const measured = await archive.measureDisk().catch(() => disk)
    if (!isRetentionApplied) disk = measured
  }

  async function storeNewPolicies() {
    for (const [source, policy] of newPolicies) {
      await archive.setPolicy(source, policy)
      const hasChanged = newPolicies.get(source) !== policy
      if (!hasChanged) newPolicies.delete(source)
    }
  }

  async function applyRetention() {
    try {
      // A full disk cannot store the policies until retention has deleted files.
      const storeFailure = await storeNewPolicies().catch((error: Error) => error)
      const { nowMs } = await retentionClock.read(findNewest)
      const { undeletable, ...space } = await archive.applyRetention(nowMs * 1000)
      if (storeFailure) await storeNewPolicies()
      disk = space
      isRetentionApplied = true
      reportRetention(undeletable)
    } catch (error) {
      isRetentionApplied = false
      reportRetention({ error: error as Error })
    }
  }

  /** Logs a failure unless the last run failed for the same reason. */
  function reportRetention(failure?: RetentionFailure) {
    if (failure && failure.error.message !== retentionFailure?.error.message) {
      const { error, files } = failure
      log.error({ err: error, folder, files }, 'failed to apply retention of recordings')
    }
    retentionFailure = failure
  }

  /** Returns why retention fails; undefined while it works. */
  function describeRetentionFailure(): string | undefined {
    if (!retentionFailure) return undefined
    const { files, error } = retentionFailure
    const count = files === undefined ? '' : ` (number of files that cannot be deleted: ${files})`
    return `retention fails for the recordings in ${folder}: ${error.message}${count}`
  }

  /** Returns the reason why nothing can be recorded; undefined if recording is possible. */
  function findObstacle(): string | undefined {
    if (!disk) return describeRetentionFailure() ?? describeSilence(folder)
    return disk.full ? describeFullDisk(disk) : undefined
  }

  function startRecorder(
    source: number,
    packets: RecordingInput,
    recording: RecordingConfiguration,
  ) {
    const segmenter = createSegmenter({
      source,
      epoch,
      archive,
      queue,
      nowUs,
      findObstacle,
      seconds: settings.segment_s,
    })
    recorders.set(source, createRecorder(packets, segmenter, recording))
  }

  function stopRecorder(source: number) {
    recorders.get(source)?.stop()
    recorders.delete(source)
  }

  /** Returns the sources that have recordings or are recorded. The API calls them streams. */
  async function findStreams(): Promise<Set<number>> {
    return new Set([...(await archive.listSources()), ...recorders.keys()])
  }

  async function describeStream(
    source: number,
    fromUs: number,
    toUs: number,
  ): Promise<RecordedStream> {
    const { state, reason, dropped } = recorders.get(source)?.status() ?? {
      state: 'off',
      dropped: 0,
    }
    const ranges = await archive.listRanges(source, fromUs, toUs)
    const extent = await archive.findExtent(source)
    return { stream: source, state, ...(reason && { reason }), dropped, ...extent, ranges }
  }

  return {
    get archive() {
      return archive
    },
    async start() {
      const opened = openArchive({ folder, reserve })
      archive = opened.archive
      closeArchive = opened.close
      const measured = measureDisk()
      archive.rebuildIndex().then(
        ({ files, failures }) => {
          if (files > 0) log.info({ files, failed: failures.length }, 'recordings indexed')
          for (const { file, error } of failures) {
            log.error({ file, err: error }, 'failed to index recording')
          }
        },
        error => log.error({ err: error }, 'failed to rebuild the index of recordings'),
      )
      retentionEnded = repeatUntilStopped(applyRetention(), applyRetention)
      void repeatUntilStopped(measured, measureDisk)
      void repeatUntilStopped(checkSilence(), checkSilence)
      // Live views start even if the disk hangs.
      await withTimeout(START_TIMEOUT_MS, measured).catch(() => {})
    },

    apply(sources) {
      const recorded = new Map<number, RecordingConfiguration>()
      for (const { id, recording } of sources) {
        if (recording) recorded.set(id, recording)
      }

      for (const source of [...recorders.keys()]) {
        const isReplaced = recorders.get(source)?.stream !== findPackets(source)?.stream
        if (!recorded.has(source) || isReplaced) stopRecorder(source)
      }

      for (const [source, recording] of recorded) {
        const packets = findPackets(source)
        if (!packets) continue

        const { keep_s, keep_bytes } = recording
        newPolicies.set(source, { keep_s, keep_bytes })

        const recorder = recorders.get(source)
        if (recorder) recorder.configure(recording)
        else startRecorder(source, packets, recording)
      }
    },
    addEvent: event => recorders.get(event.source)?.addEvent(event),
    addResult: result => recorders.get(result.source)?.addResult(result),

    async list(source, fromUs, toUs) {
      const streams = await findStreams()
      if (source !== undefined) assertIsStream(source, streams)
      const sources = source === undefined ? [...streams].sort((a, b) => a - b) : [source]
      return {
        rebuilding: await archive.isRebuilding(),
        free_bytes: disk?.freeBytes ?? 0,
        reserve_bytes: disk?.reserveBytes ?? 0,
        streams: await Promise.all(sources.map(id => describeStream(id, fromUs, toUs))),
      }
    },

    async remove(source, fromUs, toUs) {
      // Files that are not indexed yet would not be deleted.
      if (await archive.isRebuilding()) throw createRebuildingError()
      const streams = await findStreams()
      // The archive deletes only closed segments, so an open one in this time is closed first.
      recorders.get(source)?.prepareDeletion(fromUs, toUs)
      await queue.drain()
      const { undeletable, ...deleted } = await archive.deleteSegments(source, fromUs, toUs)
      // A stream whose only files cannot be indexed is not listed.
      if (!undeletable && deleted.files === 0) assertIsStream(source, streams)
      if (!undeletable) return deleted

      const { error, files } = undeletable
      log.error({ err: error, source, files }, 'failed to delete recordings')
      throw createUndeletableError(deleted, undeletable)
    },

    statuses: () =>
      [...recorders].map(([source, recorder]) => ({ source, status: recorder.status() })),
    states() {
      const obstacle = findObstacle()
      const states = [...recorders].map(([source, recorder]) => {
        const { state, reason } = recorder.status()
        const failure = reason ?? obstacle
        return [
          source,
          failure ? { state: 'failed' as const, reason: failure } : { state },
        ] as const
      })
      return new Map(states)
    },
    queuedBytes: queue.queuedBytes,
    alarms() {
      const failure = describeRetentionFailure()
      const alarms = failure ? [failure] : []
      // Recorders that wait for an event have not tried to write yet.
      const obstacle = recorders.size > 0 ? findObstacle() : undefined
      if (obstacle) return [...alarms, `recordings cannot be stored: ${obstacle}`]

      for (const [source, recorder] of recorders) {
        const { reason } = recorder.status()
        if (reason) alarms.push(`source ${source} is not recorded: ${reason}`)
      }
      return alarms
    },

    async stop() {
      stopping.abort()
      for (const source of [...recorders.keys()]) stopRecorder(source)
      const finished = queue.drain().then(() => retentionEnded)
      // A disk that hangs must not delay the exit. Files are complete up to their last fragment.
      await withTimeout(STOP_TIMEOUT_MS, finished).catch(error =>
        log.warn({ err: error }, 'failed to finish recordings in time'),
      )
      await withTimeout(STOP_TIMEOUT_MS, closeArchive()).catch(() => {})
    },
  }
}

const describeSilence = (folder: string) =>
  `the disk of ${folder} has not responded yet or is full, or another process has locked ${join(folder, 'index.db')}`

function assertIsStream(source: number, streams: ReadonlySet<number>): void {
  if (streams.has(source)) return
  const reason = `stream ${source} has no recordings: GET /recordings lists the streams that have`
  throw new EyrieError('id', reason)
}

const createRebuildingError = () =>
  new EyrieError(
    'unavailable',
    'the recordings are being indexed and nothing was deleted: try again later',
  )

function createUndeletableError(
  deleted: RecordingsDeleted,
  { files, error }: UndeletableFiles,
): EyrieError {
  const reason = `${files} of ${files + deleted.files} files could not be deleted, all others were deleted: ${error.message}: correct this, then repeat the request`
  return new EyrieError('conflict', reason, { value: { ...deleted, undeletable: files } })
}
