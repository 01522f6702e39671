import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { type BenchMeasurement, type BenchRequest, benchAnswer } from '@eyrie/contract/plugin-bench'
import {
  type Command,
  JSON_OPTION,
  parseArguments,
  parseJsonObject,
  parsePositiveInteger,
} from '../command/command.ts'
import { type Output, styled, writeJson, writeTable } from '../command/terminal.ts'
import { readPluginFiles } from '../plugin/plugin-files.ts'

const PROGRAM = resolve(import.meta.dirname, '../../../services/engine/plugin-bench/main.ts')
const BYTES_PER_MB = 1e6

const BENCH_OPTIONS = {
  element: { type: 'string' },
  args: { type: 'string' },
  config: { type: 'string' },
  frames: { type: 'string' },
  fps: { type: 'string', default: '30' },
  seconds: { type: 'string', default: '20' },
  ...JSON_OPTION,
} as const

/**
 * `eyrie plugin bench`: measures what the frames of a channel cost, in the sandbox in which the
 * engine runs the plugin.
 */
export const benchPluginCommand: Command = {
  usage:
    '<folder|file.tgz> [--element NAME] [--args JSON] [--config JSON] [--frames FILE] [--fps 30]\n' +
    '      [--seconds 20] [--json]',
  about:
    'Measures an element in its sandbox: the time and CPU time of a frame, and memory. Fails if it exceeds the budget_ms of its\n' +
    'manifest. --frames is a recording of a file sink, or the truth of a scene (scene-4.truth.json).',

  async run(args, { out, captureInterrupt }) {
    const { values, positionals } = parseArguments(args, BENCH_OPTIONS, ['folder or package'])
    const [path] = positionals
    const request = {
      element: values.element,
      args: parseJsonObject('args', values.args) ?? {},
      config: parseJsonObject('config', values.config),
      frames: values.frames === undefined ? undefined : resolve(values.frames),
      fps: parsePositiveInteger('fps', values.fps),
      seconds: parsePositiveInteger('seconds', values.seconds),
    }
    const measured = await measurePackage(path, request, captureInterrupt?.())
    if (values.json) writeJson(out, measured)
    else printMeasurement(measured, out)
    // Scripts recognize an exceeded budget by the exit code.
    assertWithinBudget(measured)
  },
}

/**
 * Unpacks the files of a package into a temporary folder, as an engine does, and
 * measures the element there, until `interruption` fires.
 */
async function measurePackage(
  path: string,
  request: Omit<BenchRequest, 'folder'>,
  interruption: AbortSignal | undefined,
): Promise<BenchMeasurement> {
  const { files } = await readPluginFiles(path)
  const temporary = await mkdtemp(join(tmpdir(), 'eyrie-plugin-'))
  const folder = join(temporary, 'plugin')
  try {
    for (const [name, content] of files) {
      await mkdir(dirname(join(folder, name)), { recursive: true })
      await writeFile(join(folder, name), content)
    }
    return await runProgram({ ...request, folder }, interruption)
  } catch (error) {
    // Ctrl-C also ends the program, with an error of its own.
    if (interruption?.aborted) {
      throw new Error('interrupted: the measurement is not complete', { cause: error })
    }
    throw error
  } finally {
    await rm(temporary, { recursive: true, force: true })
  }
}

async function runProgram(
  request: BenchRequest,
  signal: AbortSignal | undefined,
): Promise<BenchMeasurement> {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [PROGRAM, JSON.stringify(request)],
    { encoding: 'utf8', signal },
  )
  const answer = benchAnswer.parse(JSON.parse(stdout))
  if ('problem' in answer) throw new Error(answer.problem)
  return answer.measured
}

function printMeasurement(measured: BenchMeasurement, out: Output): void {
  const { element, frames, isolation, budget_ms: budgetMs } = measured
  const style = exceedsBudget(measured) ? 'red' : 'green'
  const cpuTime = styled(out, style, formatMs(measured.cpu_per_frame))
  const budget = budgetMs === undefined ? 'no budget_ms in the manifest' : `of ${budgetMs} ms`
  writeTable(out, [
    [styled(out, 'bold', element), `${frames} frames, isolation ${isolation}`],
    ['CPU time per frame', `${cpuTime} (${budget})`],
    ['there and back, p50', formatMs(measured.round_trip_p50)],
    ['there and back, p99', formatMs(measured.round_trip_p99)],
    ['memory, peak', `${Math.round(measured.peak_rss_bytes / BYTES_PER_MB)} MB`],
  ])
}

function assertWithinBudget(measured: BenchMeasurement): void {
  if (!exceedsBudget(measured)) return
  const { element, cpu_per_frame: cpuPerFrame, budget_ms: budgetMs } = measured
  const usage = `${element} uses ${formatMs(cpuPerFrame)} of CPU time per frame`
  throw new Error(`${usage}, more than the budget_ms of ${budgetMs} in its manifest`)
}

const exceedsBudget = ({ cpu_per_frame, budget_ms }: BenchMeasurement) =>
  budget_ms !== undefined && cpu_per_frame > budget_ms

const formatMs = (ms: number) => `${ms.toFixed(2)} ms`
