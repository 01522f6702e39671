import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { SDK_VERSION } from '@eyrie/contract/sdk-version'
import { runCommandLine } from '../../sdk/cli/command-line.ts'
import { startEngineProcess } from '../fixtures/processes/engine-process.ts'
import { startMediaProcess } from '../fixtures/processes/media-process.ts'
import type { Measurement } from './bench.ts'

const ROUNDS = 15
const LIMIT_MS = 60_000

/**
 * A plugin in a language. `write` returns the code of the entry module, which reports `edition`
 * with its first frame.
 */
export interface ReloadedPlugin {
  entry: string
  write(edition: number): string
}

/**
 * Measures how long an author waits for `eyrie plugin dev`: from the moment in which a file is
 * saved until the event is printed that the new code has reported for its first frame. The element
 * reads small pictures of a camera, and keeps its state.
 */
export async function measureReloads({ entry, write }: ReloadedPlugin): Promise<Measurement> {
  const folder = mkdtempSync(join(tmpdir(), 'eyrie-bench-reload-'))
  const project = join(folder, 'pulse')
  const data = join(folder, 'data')
  mkdirSync(project)
  mkdirSync(join(data, 'log'), { recursive: true })
  const element = {
    ...{ name: 'pulse', title: 'Pulse', description: 'Beats', passthrough: true, runs: 'worker' },
    needs: ['pixels'],
    capabilities: { frames: { format: 'GRAY8', width: 64, height: 36 }, budget_ms: 50 },
  }
  const plugin = {
    name: 'pulse',
    version: '1.0.0-dev',
    license: 'MIT',
    sdk: `^${SDK_VERSION}`,
    entry,
  }
  writeFileSync(join(project, 'plugin.json'), JSON.stringify({ ...plugin, elements: [element] }))
  const save = (edition: number) => writeFileSync(join(project, entry), write(edition))

  const media = await startMediaProcess()
  const engine = await startEngineProcess({ data, media })
  const interruption = new AbortController()
  let printed = ''
  async function awaitEvent(edition: number): Promise<string> {
    const start = performance.now()
    for (;;) {
      const [, seen] = new RegExp(`pulse edition=${edition} seen=(\\d+)`).exec(printed) ?? []
      if (seen !== undefined) return seen
      if (performance.now() - start > LIMIT_MS) {
        throw new Error(`edition ${edition} has reported nothing: ${printed}`)
      }
      await wait(2)
    }
  }

  try {
    save(0)
    const finished = runCommandLine(['plugin', 'dev', project, '--source', 'test://ball'], {
      data,
      environment: { EYRIE_ENGINE_URL: engine.url },
      out: { write: text => (printed += text) },
      err: { write: text => (printed += text) },
      captureInterrupt: () => interruption.signal,
    })
    await awaitEvent(0)
    const samples: number[] = []
    let seen = 0
    for (let edition = 1; edition <= ROUNDS; edition += 1) {
      // As long as an author needs at least; the state grows meanwhile.
      await wait(500)
      const start = performance.now()
      save(edition)
      const count = Number(await awaitEvent(edition))
      samples.push(performance.now() - start)
      if (count <= seen) throw new Error(`the state was not kept: ${count} frames after ${seen}`)
      seen = count
    }
    interruption.abort()
    await finished
    const slowest = Math.max(...samples)
    return {
      samples,
      loads: [],
      detail: `${ROUNDS} saves; slowest ${slowest.toFixed(0)} ms; state kept`,
    }
  } finally {
    interruption.abort()
    await engine.stop()
    await media.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}
