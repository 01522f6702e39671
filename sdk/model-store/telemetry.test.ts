import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'eyrie-telemetry-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

it('a model is run without a trace of ONNX Runtime’s telemetry on the disk', () => {
  const { href } = new URL('./', import.meta.url)
  const script = `
    const { openSession } = await import('${href}session.ts')
    const { identityModel } = await import('${href}onnx/identity.ts')
    await (await openSession(identityModel())).release()`
  // Nothing of this process's environment: with CI=true ONNX Runtime is silent by itself.
  const env = { HOME: folder, TMPDIR: folder }
  execFileSync(process.execPath, ['--input-type=module', '--eval', script], { env })
  expect(readdirSync(folder)).toEqual([])
})
