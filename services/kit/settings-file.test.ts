import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
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
  capacity: {},
}

test('without a file every setting has its default', () => {
  expect(readSettings(data).engine).toEqual(defaults)
})

test('what the file leaves out has its default', async () => {
  await write('{"$schema":"eyrie.schema.json","engine":{"pacing":"all"}}')
  expect(readSettings(data).engine).toEqual({ ...defaults, pacing: 'all' })
})

test.each([
  ['{"engine":', 'JSON'],
  ['{"engine":{"pacing":"fast"}}', '/engine/pacing: '],
  ['{"engine":{"workers":2}}', '/engine/workers: unknown field'],
  ['{"engine":{"output_log_bytes":1}}', '/engine/output_log_bytes: '],
])('%s is refused by file and place', async (text, place) => {
  await write(text)
  expect(() => readSettings(data)).toThrow(join(data, 'eyrie.json'))
  expect(() => readSettings(data)).toThrow(place)
})
