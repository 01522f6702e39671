import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { readSettings } from './settings-file.ts'

let data: string
beforeEach(async () => {
  data = await mkdtemp(join(tmpdir(), 'eyrie-settings-'))
})
afterEach(() => rm(data, { recursive: true }))

const write = (text: string) => writeFile(join(data, 'eyrie.json'), text)

const defaults = {
  pacing: 'realtime',
  output_log_bytes: 1 << 30,
  picture_bytes: 256 << 20,
  picture_interval_ms: 1000,
  plugin_package_bytes: 16 << 20,
  plugin_unpacked_bytes: 64 << 20,
  allow_partial_plugin_isolation: false,
  require_signed_plugins: false,
  capacity: {},
}

describe('readSettings', () => {
  it('returns the defaults without a file', () => {
    expect(readSettings(data).engine).toEqual(defaults)
  })

  it('applies defaults to omitted fields', async () => {
    await write('{"$schema":"eyrie.schema.json","engine":{"pacing":"all"}}')
    expect(readSettings(data).engine).toEqual({ ...defaults, pacing: 'all' })
  })

  it.each([
    ['{"engine":', 'JSON'],
    ['{"engine":{"pacing":"fast"}}', '/engine/pacing: '],
    ['{"engine":{"workers":2}}', '/engine/workers: unknown field'],
    ['{"engine":{"output_log_bytes":1}}', '/engine/output_log_bytes: '],
  ])('rejects %s with the file and the field', async (text, place) => {
    await write(text)
    expect(() => readSettings(data)).toThrow(join(data, 'eyrie.json'))
    expect(() => readSettings(data)).toThrow(place)
  })
})
