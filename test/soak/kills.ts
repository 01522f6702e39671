import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { killEngines } from '../fixtures/engine-kills.ts'

/** The configuration of an engine that is killed at random moments. Resolves with whether it was never torn. */
export async function soakKills(kills: number, seed: number): Promise<boolean> {
  const folder = mkdtempSync(join(tmpdir(), 'eyrie-soak-'))
  const onProgress = (killed: number) => {
    if (killed % 20 === 0) console.log(`${killed} kills`)
  }
  console.log(`killing the engine ${kills} times with seed ${seed}`)
  try {
    const counts = await killEngines({ data: join(folder, 'data'), kills, seed, onProgress })
    console.log(`ok   configuration: ${counts.old} times the old one, ${counts.new} times the new one`)
    return true
  } catch (error) {
    console.log(`OVER configuration: ${(error as Error).message}`)
    return false
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
