import { join } from 'node:path'
import { openPluginQuarantine } from './plugin-quarantine.ts'
import { createTestSandboxes, openProbe } from './probe-sandboxes.fixture.ts'

/**
 * Runs the plugin `probe` in the folder as the engine does, within boundaries that refuse to set
 * further boundaries, as some containers do. Sends the level of isolation and what became of the
 * plugin, without and with the permission of the owner.
 */

const ignore = () => {}
const log = { debug: ignore, info: ignore, warn: ignore, error: ignore }

process.once('message', async (folder: string) => {
  const results: unknown[] = []
  for (const allowsPartialIsolation of [false, true]) {
    const sandboxes = await createTestSandboxes(folder, {
      quarantine: openPluginQuarantine({ file: join(folder, 'quarantine.json'), log }),
      allowsPartialIsolation,
      log,
    })
    const outcome = await openProbe(sandboxes, folder, log).then(
      element => element.metadata,
      (error: Error) => error.message,
    )
    results.push({ level: sandboxes.isolation.level, outcome })
  }
  process.send!(results, () => process.exit())
})
