import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { killEngines } from '../fixtures/engine/engine-kills.ts'

/**
 * Kills an engine at random moments while it stores configurations. Resolves with whether every
 * stored file was intact.
 */
export async function soakKills(kills: number, seed: number): Promise<boolean> {
  const folder = mkdtempSync(join(tmpdir(), 'eyrie-soak-'))
  const onProgress = (killed: number) => {
    if (killed % 20 === 0) console.log(`${killed} kills`)
  }
  console.log(`killing the engine ${kills} times with seed ${seed}`)
  try {
    const counts = await killEngines({ data: join(folder, 'data'), kills, seed, onProgress })
    console.log(`ok   configuration: old after ${counts.old} kills, new after ${counts.new} kills`)
    return true
  } catch (error) {
    console.log(`FAIL configuration: ${(error as Error).message}`)
    return false
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
