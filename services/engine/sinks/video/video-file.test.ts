import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { createTemporaryFolder } from '../../../../test/fixtures/temporary-folder.ts'
import { VideoFile } from './video-file.ts'

const LARGE = 64 << 20
const script = join(import.meta.dirname, 'restart-recording.fixture.ts')

test('a video file whose writer is killed during creation has its header or does not exist', {
  timeout: 120_000,
}, async () => {
  const folder = createTemporaryFolder()
  const path = join(folder, 'door.mp4')
  const sizes = () =>
    readdirSync(folder).flatMap(
      name => statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? [],
    )
  let killedAtWork = 0
  for (let turn = 0; turn < 5; turn++) {
    const writer = spawn(process.execPath, [script, path, String(LARGE)], { stdio: 'inherit' })
    const known = sizes()
    const isGrowing = (size: number) => size > 0 && size < LARGE && !known.includes(size)
    await vi.waitUntil(() => sizes().includes(LARGE) && sizes().some(isGrowing), { interval: 1 })
    writer.kill('SIGKILL')
    await once(writer, 'close')
    if (existsSync(`${path}.new`)) killedAtWork++
    for (const name of readdirSync(folder)) {
      if (name.endsWith('.mp4')) expect(statSync(join(folder, name)).size, name).toBe(LARGE)
    }
  }
  expect(killedAtWork).toBeGreaterThan(0)
  const file = new VideoFile(path, 1)
  await file.create(Buffer.from('header'))
  await file.append(Buffer.from(', picture'))
  await file.close()
  expect(readdirSync(folder).sort()).toEqual(['door.1.mp4', 'door.mp4'])
  expect(readFileSync(path, 'utf8')).toBe('header, picture')
})

test('a video file that cannot be created leaves nothing behind and can be created later', async () => {
  const folder = createTemporaryFolder()
  const path = join(folder, 'door.mp4')
  const begin = async (header: string) => {
    const file = new VideoFile(path, 2)
    await file.create(Buffer.from(header))
    await file.close()
  }
  await begin('first')
  mkdirSync(`${path}.new`)
  for (const again of ['second', 'third']) await expect(begin(again)).rejects.toThrow('EISDIR')
  rmdirSync(`${path}.new`)
  await begin('fourth')
  // To try again has aged nothing.
  expect(readdirSync(folder).sort()).toEqual(['door.1.mp4', 'door.mp4'])
  expect(readFileSync(join(folder, 'door.1.mp4'), 'utf8')).toBe('first')
  expect(readFileSync(path, 'utf8')).toBe('fourth')
})

test('a video file is rotated at once if any number of earlier files is kept', async () => {
  const folder = createTemporaryFolder()
  for (const header of ['first', 'second', 'third']) {
    const file = new VideoFile(join(folder, 'door.mp4'), 999_999_999)
    await file.create(Buffer.from(header))
    await file.close()
  }
  const names = ['door.2.mp4', 'door.1.mp4', 'door.mp4']
  const headers = names.map(name => readFileSync(join(folder, name), 'utf8'))
  expect(headers).toEqual(['first', 'second', 'third'])
})
