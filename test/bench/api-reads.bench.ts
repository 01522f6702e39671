import { execFile, execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { startEngineProcess } from '../fixtures/processes/engine-process.ts'
import { type Bench, median } from './bench.ts'
import { processCpu } from './cpu.ts'
import { deployFifty, PIPELINES } from './fifty-pipelines.ts'

const rounds = 5
const warmUpReads = 2000
const roundReads = 1000
const connections = 10
const readerScript = join(import.meta.dirname, 'configuration-reader.ts')

/**
 * The engine runs on one core, the clients on the other. The result is reads per second of the
 * engine's CPU time, which other load on the same core does not distort. Reads per second of
 * wall-clock time are printed next to it.
 */
export const bench: Bench = {
  name: `reads per second of one core, of a configuration with ${PIPELINES} pipelines`,
  limit: { min: 1000 },
  unit: '/s',

  async run() {
    const folder = mkdtempSync(join(tmpdir(), 'eyrie-bench-reads-'))
    const engine = await startEngineProcess({ data: join(folder, 'data') })
    try {
      execFileSync('taskset', ['-acp', '0', String(engine.pid)])
      await deployFifty(engine.api, index => ({ type: 'video', address: `rtsp://camera/${index}` }))
      const url = `${engine.url}/api/v3/configuration`
      const bytes = (await (await fetch(url)).text()).length
      await timeReads(url, warmUpReads)
      const [byCpu, byClock] = [[] as number[], [] as number[]]
      for (let round = 0; round < rounds; round += 1) {
        const before = processCpu(engine.pid)
        byClock.push(roundReads / (await timeReads(url, roundReads)))
        byCpu.push(roundReads / (processCpu(engine.pid) - before))
      }
      return {
        samples: byCpu,
        loads: [],
        detail: `${bytes} bytes over ${connections} connections; ${median(byClock).toFixed(0)}/s of wall-clock time; rounds ${byCpu.map(rate => rate.toFixed(0)).join(' ')}`,
      }
    } finally {
      await engine.stop()
      rmSync(folder, { recursive: true, force: true })
    }
  },
}

/** Seconds that a client on the other core needs for so many reads. */
async function timeReads(url: string, reads: number): Promise<number> {
  const args = ['-c', '1', process.execPath, readerScript, url, String(connections), String(reads)]
  const { stdout } = await promisify(execFile)('taskset', args)
  return Number(stdout)
}
