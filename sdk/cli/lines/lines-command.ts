import { type ClientOptions, createClient } from '@eyrie/client'
import type { Pipeline, PipelineElement } from '@eyrie/contract'
import { Document, visit } from 'yaml'
import {
  type Command,
  JSON_OPTION,
  parseArguments,
  parsePositiveInteger,
  UsageError,
} from '../command/command.ts'
import { type Output, writeJson, writeSuccess } from '../command/terminal.ts'
import { ENGINE_OPTIONS, getEngineAccess } from '../engine/engine-access.ts'
import {
  drawLines,
  findLineCrossing,
  replaceLinesOfSources,
  toDeployedElement,
} from './line-config.ts'
import { describeLine, MIN_PATHS, type ProposedLine, proposeLines } from './propose-lines.ts'
import { createRecorders, type RecordedPaths, watchPaths } from './watch-paths.ts'

const LINES_OPTIONS = {
  seconds: { type: 'string', default: '60' },
  apply: { type: 'boolean' },
  ...JSON_OPTION,
  ...ENGINE_OPTIONS,
} as const

const MAX_SECONDS = 86_400
const MAX_WAIT_SECONDS = 30

/** Proposed lines by id of the source. */
type Proposals = ReadonlyMap<number, ProposedLine[]>

/**
 * `eyrie lines propose`: proposes lines across the paths of the objects that move
 * through the picture.
 */
export const proposeLinesCommand: Command = {
  usage: '<pipeline> [--seconds 60] [--apply] [--json] [--url URL] [--token TOKEN]',
  about:
    'Watches a pipeline and proposes lines across the paths of moving objects. Prints line-crossing for a file to deploy.\n' +
    '--apply draws the lines in the running pipeline instead, in place of the present lines of its source.',

  async run(args, terminal) {
    const { values, positionals } = parseArguments(args, LINES_OPTIONS, ['pipeline'])
    const id = parsePipelineId(positionals[0])
    const seconds = parseSeconds(values.seconds)

    const access = getEngineAccess(values, terminal)
    const { out, err } = terminal
    const pipeline = await readPipeline(access, id, values.apply === true)
    err.write(`watching pipeline ${id} for ${seconds} s\n`)
    const paths = await recordPaths(access, pipeline, seconds)
    const proposals = propose(paths, seconds, err)

    if (values.apply) {
      const changed = await applyLines(access, id, proposals)
      if (values.json) writeJson(out, changed)
      else printDrawn(proposals, out)
    } else {
      const element = createDeployedElement(pipeline, proposals)
      if (values.json) writeJson(out, element)
      else printYaml(element, proposals, out)
    }
  },
}

function parsePipelineId(text: string): number {
  if (!/^\d{1,9}$/.test(text)) {
    throw new UsageError(`${text} is not the id of a pipeline: eyrie status lists all pipelines`)
  }
  return Number(text)
}

function parseSeconds(text: string): number {
  const seconds = parsePositiveInteger('seconds', text)
  if (seconds > MAX_SECONDS) {
    throw new UsageError(`--seconds ${seconds} should be at most ${MAX_SECONDS}`)
  }
  return seconds
}

/** Reads the pipeline. Throws an `Error` with the remedy if it cannot be watched. */
async function readPipeline(
  access: ClientOptions,
  id: number,
  willApply: boolean,
): Promise<Pipeline> {
  const client = createClient(access)
  const pipeline = await client.pipeline.get(id)
  if (willApply && !findLineCrossing(pipeline.elements)) {
    throw new Error(
      `pipeline ${id} has no element line-crossing: add it to the pipeline, or omit --apply`,
    )
  }

  const { status, reason = 'unknown reason' } = await client.pipelineStatistics(id)
  if (status === 'idle' || status === 'failed' || status === 'stopped') {
    throw new Error(`pipeline ${id} is ${status}: ${reason}`)
  }
  return pipeline
}

/**
 * Watches the pipeline for some time, and returns the paths of its objects. Throws an `Error` if
 * none could be followed.
 */
async function recordPaths(
  access: ClientOptions,
  pipeline: Pipeline,
  seconds: number,
): Promise<RecordedPaths> {
  const recorders = createRecorders(pipeline)
  await watchPaths(access, pipeline.id, recorders, { seconds, maxWaitSeconds: MAX_WAIT_SECONDS })
  await assertTracked(access, pipeline.id, recorders)
  return recorders
}

/**
 * Throws an `Error` with the remedy if no object was followed because frames or a
 * tracker were missing.
 */
async function assertTracked(
  access: ClientOptions,
  id: number,
  recorders: RecordedPaths,
): Promise<void> {
  const all = [...recorders.values()]
  const hasFrames = all.some(({ frames }) => frames > 0)
  if (!hasFrames) {
    const { status, reason = 'the source sends no frames' } =
      await createClient(access).pipelineStatistics(id)
    throw new Error(
      `pipeline ${id} has not analysed a frame for ${MAX_WAIT_SECONDS} s, it is ${status}: ${reason}`,
    )
  }

  const hasPaths = all.some(({ paths }) => paths.length > 0)
  if (!hasPaths && all.some(({ isUntracked }) => isUntracked)) {
    throw new Error(
      `pipeline ${id} does not track its objects: put object-tracking in front of line-crossing`,
    )
  }
}

/**
 * Proposes lines for each source. Throws an `Error` if there is no source with
 * enough moving objects.
 */
function propose(recorders: RecordedPaths, seconds: number, err: Output): Proposals {
  const proposals = new Map<number, ProposedLine[]>()
  for (const [source, { paths }] of recorders) {
    const lines = proposeLines(paths)
    if (lines.length > 0) proposals.set(source, lines)
  }

  const tooFew = `fewer than ${MIN_PATHS} objects moved along the same path within ${seconds} s`
  const explanation = `${tooFew}; watch longer with --seconds, or at a busier time`
  if (proposals.size === 0) throw new Error(`no lines to propose: ${explanation}`)

  for (const source of recorders.keys()) {
    if (!proposals.has(source)) err.write(`no lines for source ${source}: ${explanation}\n`)
  }
  return proposals
}

/**
 * Draws the lines in the pipeline as it is now, because it may have changed since
 * the start of the watch.
 */
async function applyLines(
  access: ClientOptions,
  id: number,
  proposals: Proposals,
): Promise<Pipeline> {
  const client = createClient(access)
  return drawLines(client, await client.pipeline.get(id), proposals)
}

function printDrawn(proposals: Proposals, out: Output): void {
  for (const description of describeLines(proposals)) writeSuccess(out, 'drew', description)
}

/** Returns `line-crossing` with the proposed lines as a file to deploy contains it. */
function createDeployedElement(
  { elements, sources }: Pipeline,
  proposals: Proposals,
): PipelineElement {
  const existing = findLineCrossing(elements) ?? { name: 'line-crossing' }
  const [changed] = replaceLinesOfSources([existing], proposals)
  return toDeployedElement(changed!, sources)
}

function printYaml(element: PipelineElement, proposals: Proposals, out: Output): void {
  for (const description of describeLines(proposals)) out.write(`# ${description}\n`)
  out.write(formatYaml([element]))
}

const describeLines = (proposals: Proposals): string[] =>
  [...proposals].flatMap(([source, lines]) =>
    lines.map(line => `source ${source}, ${describeLine(line)}`),
  )

/** Formats elements as YAML, with each line of the picture in one line of text. */
function formatYaml(elements: PipelineElement[]): string {
  const document = new Document(elements)
  visit(document, {
    Map(_, map) {
      if (map.has('coords')) map.flow = true
    },
  })
  return document.toString({ lineWidth: 0 })
}
