import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { writePlugin } from '../../../test/fixtures/engine/test-plugin.ts'
import { createTemporaryFolder } from '../../../test/fixtures/temporary-folder.ts'
import { readPlugin } from '../plugin-host/known-plugin.ts'
import { storeCompiledCode } from '../plugin-host/sandbox/compiled-code.ts'
import { inspectElements } from './inspect-elements.ts'

const LIMIT_MS = 120_000

it(
  'an inspection loads the stored code of the SDK, whose types it need not strip again',
  async () => {
    const folder = createTemporaryFolder()
    writePlugin(folder, { manifest: { entry: 'element.js' } })
    // In JavaScript, so that only the SDK has types.
    const code = `
      import '@eyrie/element'
      if (process.moduleLoadList.some(name => name.includes('amaro'))) throw new Error('strips')
      export default { probe: { open() {} } }`
    writeFileSync(join(folder, 'probe/element.js'), code)
    const plugin = readPlugin(join(folder, 'probe'), 'uploaded')
    const { signal } = new AbortController()
    await expect(inspectElements(plugin, { signal })).rejects.toThrow(/strips/)

    const codeFolder = join(folder, 'code')
    await storeCompiledCode(codeFolder)
    await inspectElements(plugin, { codeFolder, signal })
  },
  LIMIT_MS,
)
