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

it('ONNX Runtime writes no telemetry files when a model runs', () => {
  const { href } = new URL('./', import.meta.url)
  const script = `
    const { openSession } = await import('${href}session.ts')
    const { createIdentityModel } = await import('${href}onnx/identity.ts')
    await (await openSession(createIdentityModel())).release()`
  // A clean environment: with CI=true ONNX Runtime disables its telemetry itself.
  const env = { HOME: folder, TMPDIR: folder }
  execFileSync(process.execPath, ['--input-type=module', '--eval', script], { env })
  expect(readdirSync(folder)).toEqual([])
})
