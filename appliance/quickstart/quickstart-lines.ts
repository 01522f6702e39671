import { setTimeout as delay } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { drawLines, readLines } from '@eyrie/cli/lines/line-config'
import { describeLine, type ProposedLine, proposeLines } from '@eyrie/cli/lines/propose-lines'
import { createRecorders, type RecordedPaths, watchPaths } from '@eyrie/cli/lines/watch-paths'
import { type Client, type ClientOptions, createClient } from '@eyrie/client'
import { type ErrorCode, EyrieError, redactAddress, type SourceInput } from '@eyrie/contract'
import type { Line } from '@eyrie/element'
import type { ServiceLog } from '../process/service-log.ts'
import { DEFAULT_LINES } from './quickstart-pipeline.ts'
import { type QuickstartState, readState, writeState } from './quickstart-state.ts'

// The lines of the user's own video, at which objects are counted. The quickstart draws one across
// the middle of the picture, watches the video for a minute and replaces the line by lines across
// the paths of the objects, once. Lines that the user has changed are never replaced.

const WATCH_SECONDS = 60
const RETRY_MS = 5_000

/** The lines to draw, and those of them that a proposal may replace. */
export interface ChosenLines {
  drawn: Line[]
  replaceable?: Line[]
}

/**
 * Chooses the lines of the pipeline. The same video as at the previous start gets the same lines,
 * and another video gets the default line. An undefined `source` means that the video is the same.
 */
export async function chooseLines(
  engine: Client,
  previous: QuickstartState | undefined,
  source: Pick<SourceInput, 'type' | 'address'> | undefined,
): Promise<ChosenLines> {
  const lines =
    previous && !previous.scene ? await readPreviousLines(engine, previous, source) : undefined
  if (lines) return { drawn: lines, replaceable: previous?.replaceable_lines }
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
  source: Pick<SourceInput, 'type' | 'address'> | undefined,
): Promise<Line[] | undefined> {
  if (previous.source === undefined || previous.pipeline === undefined) return undefined
  try {
    const stored = await engine.source.get(previous.source)
    const isSame =
      source === undefined ||
      (stored.type === source.type &&
        isDeepStrictEqual(stored.address, redactAddress(source.address)))
    const { elements } = await engine.pipeline.get(previous.pipeline)
    return isSame ? readLines(elements, previous.source) : undefined
  } catch (error) {
    if (hasCode(error, 'id')) return undefined
    throw error
  }
}

export interface LineWatchOptions {
  /** Access to the engine. Its signal ends the watch. */
  engine: ClientOptions
  /** The data folder. */
  data: string
  log: ServiceLog
  /** Time between two attempts to propose lines. */
  seconds?: number
}

/**
 * Watches the pipeline of the quickstart until enough objects have moved, and draws lines across
 * their paths. Resolves when the lines are drawn, when the user has changed the present lines, or
 * when the signal is aborted.
 */
export async function drawProposedLines(options: LineWatchOptions): Promise<void> {
  const { engine, data, log, seconds = WATCH_SECONDS } = options
  const { source, pipeline, replaceable_lines: replaceable } = readState(data) ?? {}
  if (source === undefined || pipeline === undefined || replaceable === undefined) return

  const client = createClient(engine)
  let recorders: RecordedPaths | undefined
  let rounds = 0

  /**
   * Draws lines if the paths that were recorded suffice for a proposal. Otherwise records
   * paths for some time.
   */
  const drawOrWatch = async (): Promise<'done' | 'continue'> => {
    const current = await client.pipeline.get(pipeline)
    const isUnchanged = isDeepStrictEqual(readLines(current.elements, source), replaceable)
    if (!isUnchanged || !current.sources.includes(source)) {
      log.info('quickstart', 'lines were changed, so none are proposed', { pipeline })
      return 'done'
    }

    recorders ??= createRecorders(current)
    const lines = proposeLines(recorders.get(source)?.paths ?? [])
    if (lines.length > 0) {
      await drawLines(client, current, new Map([[source, lines]]))
      logLines(options, pipeline, lines)
      return 'done'
    }

    logProgress(options, { pipeline, rounds, seconds })
    await watchPaths(engine, pipeline, recorders, { seconds })
    rounds += 1
    return 'continue'
  }

  while (!engine.signal?.aborted) {
    try {
      if ((await drawOrWatch()) === 'done') return stopProposing(data)
    } catch (error) {
      // The pipeline was deleted.
      if (hasCode(error, 'id')) return stopProposing(data)
      // The pipeline was changed between two requests, or the engine is restarting.
      if (!hasCode(error, 'precondition') && !hasCode(error, 'unavailable')) throw error
      await delay(RETRY_MS, undefined, { signal: engine.signal }).catch(() => {})
    }
  }
}

/** Remembers that the lines must not be replaced any more. */
function stopProposing(data: string): void {
  const state = readState(data)
  if (state) writeState(data, { ...state, replaceable_lines: undefined })
}

/**
 * Logs the start of the watch and, after the first round, that it takes longer. Later
 * rounds are not logged.
 */
function logProgress(
  { log }: LineWatchOptions,
  { rounds, ...fields }: { rounds: number; pipeline: number; seconds: number },
): void {
  if (rounds === 0) log.info('quickstart', 'watching for moving objects, to propose lines', fields)
  if (rounds === 1) {
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
