import { join } from 'node:path'
import { serviceEgress } from '@eyrie/kit'
import { openPluginQuarantine } from './plugin-quarantine.ts'
import { createSandboxes } from './sandboxes.ts'

/**
 * Runs the plugin `probe` in the folder as the engine does, within boundaries that refuse to set further boundaries, as some
 * containers do. Sends the level of isolation and what became of the plugin, without and with the permission of the owner.
 */

const ignore = () => {}
const log = { debug: ignore, info: ignore, warn: ignore, error: ignore }

process.once('message', async (folder: string) => {
  const results: unknown[] = []
  for (const allowsPartialIsolation of [false, true]) {
    const sandboxes = await createSandboxes({
      quarantine: openPluginQuarantine({ file: join(folder, 'quarantine.json') }),
      allowsPartialIsolation,
      folder,
      cacheFolder: join(folder, '.compiled'),
      storageFolder: join(folder, '.storage'),
      egress: serviceEgress,
      verifyPackage: async () => {},
      log,
    })
    const opened = sandboxes.open({
      plugin: { plugin: 'probe', version: '1.0.0', channel: 1 },
      source: {
        entry: join(folder, 'probe/element.ts'),
        name: 'probe',
        setup: { args: {}, config: undefined, source: { id: 1 }, size: undefined },
      },
      capabilities: undefined,
      needsPixels: false,
      findRing: () => undefined,
      onCost: ignore,
      log,
    })
    const outcome = await opened.then(
      element => element.metadata,
      (error: Error) => error.message,
    )
    results.push({ level: sandboxes.isolation.level, outcome })
  }
  process.send!(results, () => process.exit())
})
