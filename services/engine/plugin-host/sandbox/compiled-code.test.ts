import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createLog } from '@eyrie/kit'
import { expect, it, vi } from 'vitest'
import { writePlugin } from '../../../../test/fixtures/engine/test-plugin.ts'
import { createCompiledCode, storeCompiledCode } from './compiled-code.ts'
import { useSandbox } from './sandboxed-element.fixture.ts'

const LIMIT_MS = 120_000
const sandbox = useSandbox()

/** Ends every process that runs it outside of the sandbox. */
const trap = 'if (!process.permission) process.exit(9)'
/** Reports whether Node had to load what strips types. */
const plugin = {
  module: `
    import { z } from '@eyrie/element'
    import './trap.cjs'
    import './trap.mjs'
    const args = z.strictObject({})`,
  open: `
    const modules: string[] = (process as any).moduleLoadList
    return { metadata: { strips: modules.some(name => name.includes('amaro')) }, process: () => ({}) }`,
}

it(
  'a process starts without stripping types, with code that was stored without running the plugin',
  async () => {
    const { folder } = sandbox
    writePlugin(folder, plugin)
    for (const name of ['trap.cjs', 'trap.mjs']) writeFileSync(join(folder, 'probe', name), trap)
    expect((await sandbox.open('element.ts', {})).metadata).toEqual({ strips: true })
    sandbox.element?.close?.()

    const codeFolder = join(folder, 'code')
    await storeCompiledCode(codeFolder, join(folder, 'probe/element.ts'))
    expect((await sandbox.open('element.ts', {}, { codeFolder })).metadata).toEqual({
      strips: false,
    })
  },
  LIMIT_MS,
)

it(
  'each version has its own code, the code of the SDK serves until then, and a module with an error prevents nothing',
  async () => {
    const { folder } = sandbox
    writePlugin(folder, {})
    writeFileSync(join(folder, 'probe/wrong.ts'), 'export default {')
    const code = await createCompiledCode(join(folder, 'code'), createLog('test', 'silent'))
    const find = (version: string, entry: string) =>
      code.requestFolder({ plugin: 'probe', version, entry: join(folder, 'probe', entry) })
    expect(find('1.0.0', 'element.ts')).toBeUndefined()
    await vi.waitUntil(
      () => find('1.0.0', 'element.ts') === join(folder, 'code/probe/1.0.0'),
      LIMIT_MS,
    )
    expect(find('2.0.0', 'wrong.ts')).toBe(join(folder, 'code/.sdk'))
    await vi.waitUntil(
      () => find('2.0.0', 'wrong.ts') === join(folder, 'code/probe/2.0.0'),
      LIMIT_MS,
    )
    expect(find('1.0.0', 'element.py')).toBeUndefined()
  },
  LIMIT_MS,
)
