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
import { type Log, withTimeout } from '@eyrie/kit'
import type { Clock } from '../runtime/clock.ts'
import type { DiskSpace } from './archive/recording-archive.ts'
import { openArchive, type RemoteArchive } from './archive/remote-archive.ts'
import { createDiskQueue } from './writing/disk-queue.ts'
import { createSegmenter } from './writing/segmenter.ts'
import {
  createRecorder,
  type Recorder,
  type RecorderStatus,
  type RecordingInput,
} from './writing/source-recorder.ts'

export interface RecordingsOptions {
  /** Data folder of the appliance. */
  data: string
  settings: RecordingSettings
  epoch: number
  findPackets(source: number): RecordingInput | undefined
  clock: Clock
  log: Log
}

/** Records sources to disk and provides access to the recordings. */
export interface Recordings {
  readonly archive: RemoteArchive
  start(): Promise<void>
  /** Must be called after the sources were configured. */
  apply(sources: readonly Pick<DesiredSource, 'id' | 'recording'>[]): void
  addEvent(happening: EventToRecord): void
  addResult(result: ResultToRecord): void
  list(source: number | undefined, fromUs: number, toUs: number): Promise<RecordingList>
  remove(source: number, fromUs: number, toUs: number): Promise<RecordingsDeleted>
  statuses(): { source: number; status: RecorderStatus }[]
  queuedBytes(): number
  alarms(): string[]
  stop(): Promise<void>
}

/** Buffers several seconds of many cameras while the disk is slow. */
const QUEUE_BYTES = 64 << 20
const TIDY_INTERVAL_MS = 1000
const STOP_TIMEOUT_MS = 800

export function createRecordings(options: RecordingsOptions): Recordings {
  const { data, settings, epoch, findPackets, clock, log } = options
  const folder = settings.folder ?? join(data, 'recordings')
  const reserve = { bytes: settings.reserve_bytes, percent: settings.reserve_percent }
  const queue = createDiskQueue(QUEUE_BYTES)
  const recorders = new Map<number, Recorder>()
  const stopping = new AbortController()
  let archive: RemoteArchive
  let closeArchive = async () => {}
  let disk: DiskSpace = { freeBytes: 0, reserveBytes: 0, full: false }
  let tidyFailure: string | undefined
  let tidying: Promise<void> = Promise.resolve()

  const nowUs = () => clock.wall() * 1000

  async function tidyPeriodically() {
    while (!stopping.signal.aborted) {
      await tidy()
      await clock.sleep(TIDY_INTERVAL_MS, stopping.signal).catch(() => {})
    }
  }

  async function tidy() {
    try {
      disk = await archive.tidy(nowUs())
      tidyFailure = undefined
    } catch (error) {
      const reason = `retention fails for the recordings in ${folder}: ${(error as Error).message}`
      if (tidyFailure !== reason) log.error({ err: error, folder }, 'failed to apply retention of recordings')
      tidyFailure = reason
    }
  }

  function findObstacle(): string | undefined {
    if (!disk.full) return undefined
    return `the disk has only ${disk.freeBytes} bytes left of a reserve of ${disk.reserveBytes}: delete other files, or lower the reserve`
  }

  function startRecorder(
    source: number,
    packets: RecordingInput,
    recording: NonNullable<DesiredSource['recording']>,
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

  async function describe(source: number, fromUs: number, toUs: number): Promise<RecordedStream> {
    const { state, reason, dropped } = recorders.get(source)?.status() ?? { state: 'off', dropped: 0 }
    const ranges = await archive.ranges(source, fromUs, toUs)
    const extent = await archive.extent(source)
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
      await tidy()
      archive.rebuild().then(
        files => files > 0 && log.info({ files }, 'recordings indexed'),
        error => log.error({ err: error }, 'failed to rebuild the index of recordings'),
      )
      tidying = tidyPeriodically()
    },

    apply(sources) {
      const recorded = new Map(sources.flatMap(({ id, recording }) => (recording ? [[id, recording]] : [])))
      for (const source of [...recorders.keys()]) {
        // A replaced source has another stream.
        if (!recorded.has(source) || recorders.get(source)?.stream !== findPackets(source)?.stream)
          stopRecorder(source)
      }
      for (const [source, recording] of recorded) {
        const packets = findPackets(source)
        if (!packets) continue
        const { keep_s, keep_bytes } = recording
        archive.keep(source, { keep_s, keep_bytes }).catch(() => {})
        const recorder = recorders.get(source)
        if (recorder) recorder.configure(recording)
        else startRecorder(source, packets, recording)
      }
    },
    addEvent: happening => recorders.get(happening.source)?.addEvent(happening),
    addResult: result => recorders.get(result.source)?.addResult(result),

    async list(source, fromUs, toUs) {
      const existing = new Set([...(await archive.sources()), ...recorders.keys()])
      if (source !== undefined && !existing.has(source))
        throw new EyrieError(
          'id',
          `stream ${source} has no recordings: GET /recordings lists all streams that have`,
        )
      const sources = source === undefined ? [...existing].sort((a, b) => a - b) : [source]
      return {
        rebuilding: await archive.rebuilding(),
        free_bytes: disk.freeBytes,
        reserve_bytes: disk.reserveBytes,
        streams: await Promise.all(sources.map(each => describe(each, fromUs, toUs))),
      }
    },

    async remove(source, fromUs, toUs) {
      if (toUs > nowUs() - settings.segment_s * 1e6) {
        recorders.get(source)?.closeSegment()
        await queue.drain()
      }
      return archive.remove(source, fromUs, toUs)
    },

    statuses: () => [...recorders].map(([source, recorder]) => ({ source, status: recorder.status() })),
    queuedBytes: queue.queuedBytes,
    alarms() {
      const alarms = tidyFailure ? [tidyFailure] : []
      for (const [source, recorder] of recorders) {
        const { reason } = recorder.status()
        if (reason) alarms.push(`source ${source} is not recorded: ${reason}`)
      }
      return alarms
    },

    async stop() {
      stopping.abort()
      for (const source of [...recorders.keys()]) stopRecorder(source)
      const finished = queue.drain().then(() => tidying)
      // A hanging disk must not delay the exit: files are complete up to their last fragment.
      await withTimeout(STOP_TIMEOUT_MS, finished).catch(error =>
        log.warn({ err: error }, 'failed to finish recordings in time'),
      )
      await withTimeout(STOP_TIMEOUT_MS, closeArchive()).catch(() => {})
    },
  }
}
