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
  /** Of the appliance. */
  data: string
  settings: RecordingSettings
  epoch: number
  findPackets(source: number): RecordingInput | undefined
  clock: Clock
  log: Log
}

/** All that is recorded, and what was. */
export interface Recordings {
  readonly archive: RemoteArchive
  start(): Promise<void>
  /** To be called when the sources are as they are wanted. */
  apply(wanted: readonly Pick<DesiredSource, 'id' | 'recording'>[]): void
  addEvent(happening: EventToRecord): void
  addResult(result: ResultToRecord): void
  list(source: number | undefined, fromUs: number, toUs: number): Promise<RecordingList>
  remove(source: number, fromUs: number, toUs: number): Promise<RecordingsDeleted>
  statuses(): { source: number; status: RecorderStatus }[]
  queuedBytes(): number
  alarms(): string[]
  stop(): Promise<void>
}

/** What may wait for a disk that is slow for a moment: seconds of many cameras. */
const QUEUE_BYTES = 64 << 20
const TIDY_MS = 1000
const STOP_MS = 800

export function createRecordings(options: RecordingsOptions): Recordings {
  const { data, settings, epoch, findPackets, clock, log } = options
  const folder = settings.folder ?? join(data, 'recordings')
  const reserve = { bytes: settings.reserve_bytes, percent: settings.reserve_percent }
  const writer = createDiskQueue(QUEUE_BYTES)
  const recorders = new Map<number, Recorder>()
  const stopping = new AbortController()
  let archive: RemoteArchive
  let closeArchive = async () => {}
  let room: DiskSpace = { freeBytes: 0, reserveBytes: 0, full: false }
  let trouble: string | undefined
  let tidying: Promise<void> = Promise.resolve()

  const nowUs = () => clock.wall() * 1000

  async function tidyAgainAndAgain() {
    while (!stopping.signal.aborted) {
      await tidy()
      await clock.sleep(TIDY_MS, stopping.signal).catch(() => {})
    }
  }

  async function tidy() {
    try {
      room = await archive.tidy(nowUs())
      trouble = undefined
    } catch (error) {
      const reason = `recordings in ${folder} cannot be kept in order: ${(error as Error).message}`
      if (trouble !== reason) log.error({ err: error }, reason)
      trouble = reason
    }
  }

  function obstacle(): string | undefined {
    if (!room.full) return undefined
    return `the disk has only ${room.freeBytes} bytes left, and ${room.reserveBytes} are to stay free: free some space`
  }

  function record(
    source: number,
    packets: RecordingInput,
    recording: NonNullable<DesiredSource['recording']>,
  ) {
    const segmenter = createSegmenter({
      ...{ source, epoch, archive, queue: writer, nowUs, findObstacle: obstacle },
      seconds: settings.segment_s,
    })
    recorders.set(source, createRecorder(packets, segmenter, recording))
  }

  function end(source: number) {
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
        files => files > 0 && log.info({ files }, 'recordings were taken into the index'),
        error => log.error({ err: error }, 'the index of recordings could not be rebuilt'),
      )
      tidying = tidyAgainAndAgain()
    },

    apply(wanted) {
      const recorded = new Map(wanted.flatMap(({ id, recording }) => (recording ? [[id, recording]] : [])))
      for (const source of [...recorders.keys()]) {
        // A source that is another than before has another stream.
        if (!recorded.has(source) || recorders.get(source)?.stream !== findPackets(source)?.stream)
          end(source)
      }
      for (const [source, recording] of recorded) {
        const packets = findPackets(source)
        if (!packets) continue
        const { keep_s, keep_bytes } = recording
        archive.keep(source, { keep_s, keep_bytes }).catch(() => {})
        const recorder = recorders.get(source)
        if (recorder) recorder.configure(recording)
        else record(source, packets, recording)
      }
    },
    addEvent: happening => recorders.get(happening.source)?.addEvent(happening),
    addResult: result => recorders.get(result.source)?.addResult(result),

    async list(source, fromUs, toUs) {
      const known = new Set([...(await archive.sources()), ...recorders.keys()])
      if (source !== undefined && !known.has(source))
        throw new EyrieError('id', `nothing is recorded of stream ${source}: GET /recordings lists what is`)
      const sources = source === undefined ? [...known].sort((a, b) => a - b) : [source]
      return {
        rebuilding: await archive.rebuilding(),
        free_bytes: room.freeBytes,
        reserve_bytes: room.reserveBytes,
        streams: await Promise.all(sources.map(each => describe(each, fromUs, toUs))),
      }
    },

    async remove(source, fromUs, toUs) {
      if (toUs > nowUs() - settings.segment_s * 1e6) {
        recorders.get(source)?.closeSegment()
        await writer.drain()
      }
      return archive.remove(source, fromUs, toUs)
    },

    statuses: () => [...recorders].map(([source, recorder]) => ({ source, status: recorder.status() })),
    queuedBytes: writer.queuedBytes,
    alarms() {
      const failed = [...recorders].flatMap(([source, recorder]) => {
        const { reason } = recorder.status()
        return reason ? [`source ${source} is not recorded: ${reason}`] : []
      })
      return [...(trouble ? [trouble] : []), ...failed]
    },

    async stop() {
      stopping.abort()
      for (const source of [...recorders.keys()]) end(source)
      const finished = writer.drain().then(() => tidying)
      // A disk that hangs must not hold up the end: what is there is whole up to its last fragment.
      await withTimeout(STOP_MS, finished).catch(error =>
        log.warn({ err: error }, 'recordings were not ended'),
      )
      await withTimeout(STOP_MS, closeArchive()).catch(() => {})
    },
  }
}
