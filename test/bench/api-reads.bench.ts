import { execFile, execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { startEngineProcess } from '../fixtures/engine-process.ts'
import { type Bench, median } from './bench.ts'
import { processCpu } from './cpu.ts'
import { deployFifty, PIPELINES } from './fifty-pipelines.ts'

const rounds = 5
const warmUpReads = 2000
const roundReads = 1000
const connections = 10
const reader = join(import.meta.dirname, 'configuration-reader.ts')

/**
 * The engine has one core, the readers have another. What counts is reads a second of the engine's CPU time, since the
 * core may serve others too: it is what a core does that has nothing else to do. Reads a second by the clock stand
 * beside it.
 */
export const bench: Bench = {
  name: `reads of a configuration of ${PIPELINES} pipelines in a second of one core`,
  limit: { atLeast: 1000 },
  unit: ' a second',

  async run() {
    const folder = mkdtempSync(join(tmpdir(), 'eyrie-bench-reads-'))
    const engine = await startEngineProcess({ data: join(folder, 'data') })
    try {
      execFileSync('taskset', ['-acp', '0', String(engine.pid)])
      await deployFifty(engine.api, index => ({ type: 'video', address: `rtsp://camera/${index}` }))
      const url = `${engine.url}/api/v3/configuration`
      const bytes = (await (await fetch(url)).text()).length
      await secondsOf(url, warmUpReads)
      const [byCpu, byClock] = [[] as number[], [] as number[]]
      for (let round = 0; round < rounds; round += 1) {
        const before = processCpu(engine.pid)
        byClock.push(roundReads / (await secondsOf(url, roundReads)))
        byCpu.push(roundReads / (processCpu(engine.pid) - before))
      }
      return {
        value: median(byCpu),
        detail: `${bytes} bytes over ${connections} connections; by the clock ${median(byClock).toFixed(0)} a second; rounds ${byCpu.map(rate => rate.toFixed(0)).join(' ')}`,
      }
    } finally {
      await engine.stop()
      rmSync(folder, { recursive: true, force: true })
    }
  },
}

/** How long a process on the other core takes to read so often. */
async function secondsOf(url: string, reads: number): Promise<number> {
  const args = ['-c', '1', process.execPath, reader, url, String(connections), String(reads)]
  const { stdout } = await promisify(execFile)('taskset', args)
  return Number(stdout)
}
