import { setTimeout as delay } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { drawLines, readLines } from '@eyrie/cli/lines/line-config'
import { describeLine, type ProposedLine, proposeLines } from '@eyrie/cli/lines/propose-lines'
import { createRecorders, type RecordedPaths, watchPaths } from '@eyrie/cli/lines/watch-paths'
import { type Client, type ClientOptions, createClient } from '@eyrie/client'
import { type ErrorCode, EyrieError, redactAddress } from '@eyrie/contract'
import type { Line } from '@eyrie/element'
import type { ServiceLog } from '../process/service-log.ts'
import { DEFAULT_LINES } from './quickstart-pipeline.ts'
import { type QuickstartState, readState, writeState } from './quickstart-state.ts'
import type { QuickstartSource } from './source-address.ts'

// The lines of the user's own video, at which objects are counted. The quickstart draws one across
// the middle of the picture. It then watches the video, in rounds of a minute, and replaces the
// line once by lines across the paths of the objects. It never replaces lines that the user has
// changed.

const WATCH_SECONDS = 60
const RETRY_MS = 5_000

export interface ChosenLines {
  /** The lines to draw. */
  drawn: Line[]
  /** The lines that a proposal may replace. Undefined: no lines are proposed. */
  replaceable?: Line[]
}

/**
 * Chooses the lines of the pipeline. The same video as at the previous start gets the same lines,
 * and another video gets the default line. An undefined `source` means that the video is the same.
 */
export async function chooseLines(
  engine: Client,
  previous: QuickstartState | undefined,
  source: QuickstartSource | undefined,
): Promise<ChosenLines> {
  if (previous && !previous.scene) {
    const lines = await readPreviousLines(engine, previous, source)
    if (lines) return { drawn: lines, replaceable: previous.replaceable_lines }
  }
  // No detector finds objects in a test pattern.
  const isPattern = /^test:/i.test(String(source?.address))
  return { drawn: DEFAULT_LINES, replaceable: isPattern ? undefined : DEFAULT_LINES }
}

/**
 * Returns the lines of the previous start. Returns undefined if they were deleted or
 * belong to another video.
 */
async function readPreviousLines(
  engine: Client,
  previous: QuickstartState,
  source: QuickstartSource | undefined,
): Promise<Line[] | undefined> {
  if (previous.source === undefined || previous.pipeline === undefined) return undefined
  try {
    const stored = await engine.source.get(previous.source)
    const { elements } = await engine.pipeline.get(previous.pipeline)
    const isSameVideo = source === undefined || isSameSource(stored, source)
    return isSameVideo ? readLines(elements, previous.source) : undefined
  } catch (error) {
    if (hasCode(error, 'id')) return undefined
    throw error
  }
}

/** Compares a source of the engine, which returns addresses without passwords, with another. */
const isSameSource = (stored: QuickstartSource, source: QuickstartSource) =>
  stored.type === source.type && isDeepStrictEqual(stored.address, redactAddress(source.address))

export interface LineWatchOptions {
  /** Access to the engine. Its signal ends the watch. */
  engine: ClientOptions
  /** The data folder. */
  data: string
  log: ServiceLog
  /** Duration of a round, after which lines are proposed. */
  seconds?: number
}

/** The watch of a pipeline, over several rounds. */
interface LineWatch {
  pipeline: number
  source: number
  /** The lines that may be replaced. */
  replaceable: Line[]
  /** The paths of the objects so far. Undefined before the first round. */
  recorders?: RecordedPaths
  completedRounds: number
}

/**
 * Watches the pipeline of the quickstart until enough objects have moved, and draws lines across
 * their paths. Resolves when the lines are drawn, when the user has changed the present lines, or
 * when the signal is aborted.
 */
export async function drawProposedLines(options: LineWatchOptions): Promise<void> {
  const { engine, data } = options
  const { source, pipeline, replaceable_lines: replaceable } = readState(data) ?? {}
  if (source === undefined || pipeline === undefined || replaceable === undefined) return

  const client = createClient(engine)
  const watch: LineWatch = { pipeline, source, replaceable, completedRounds: 0 }
  while (!engine.signal?.aborted) {
    try {
      if ((await drawOrWatch(client, watch, options)) === 'done') return stopProposing(data)
    } catch (error) {
      // The pipeline was deleted.
      if (hasCode(error, 'id')) return stopProposing(data)
      // The pipeline was changed between two requests, or the engine is restarting.
      if (!hasCode(error, 'precondition') && !hasCode(error, 'unavailable')) throw error
      await delay(RETRY_MS, undefined, { signal: engine.signal }).catch(() => {})
    }
  }
}

/** Draws lines if the recorded paths suffice for a proposal. Otherwise watches for one round. */
async function drawOrWatch(
  client: Client,
  watch: LineWatch,
  options: LineWatchOptions,
): Promise<'done' | 'continue'> {
  const { engine, log, seconds = WATCH_SECONDS } = options
  const { pipeline, source, replaceable } = watch
  const current = await client.pipeline.get(pipeline)
  const isUnchanged = isDeepStrictEqual(readLines(current.elements, source), replaceable)
  if (!isUnchanged || !current.sources.includes(source)) {
    log.info('quickstart', 'lines were changed, so none are proposed', { pipeline })
    return 'done'
  }

  watch.recorders ??= createRecorders(current)
  const lines = proposeLines(watch.recorders.get(source)?.paths ?? [])
  if (lines.length > 0) {
    await drawLines(client, current, new Map([[source, lines]]))
    logLines(options, pipeline, lines)
    return 'done'
  }

  logProgress(log, watch, seconds)
  await watchPaths(engine, pipeline, watch.recorders, { seconds })
  watch.completedRounds += 1
  return 'continue'
}

/** Stores that the lines must not be replaced any more. */
function stopProposing(data: string): void {
  const state = readState(data)
  if (state) writeState(data, { ...state, replaceable_lines: undefined })
}

/**
 * Logs the start of the watch and, after the first round, that it takes longer. Later
 * rounds are not logged.
 */
function logProgress(
  log: ServiceLog,
  { pipeline, completedRounds }: LineWatch,
  seconds: number,
): void {
  const fields = { pipeline, seconds }
  if (completedRounds === 0) {
    log.info('quickstart', 'watching for moving objects, to propose lines', fields)
  }
  if (completedRounds === 1) {
    log.info('quickstart', 'too few objects have moved to propose lines: still watching', fields)
  }
}

function logLines(
  { engine, log }: LineWatchOptions,
  pipeline: number,
  lines: ProposedLine[],
): void {
  log.info('quickstart', 'replaced the default line by lines across the paths of moving objects', {
    pipeline,
    lines: lines.map(describeLine).join('; '),
    change: `./eyrie lines propose ${pipeline} --apply, or PATCH ${engine.url}/api/v3/pipelines/${pipeline}`,
  })
}

const hasCode = (error: unknown, code: ErrorCode) =>
  error instanceof EyrieError && error.code === code
