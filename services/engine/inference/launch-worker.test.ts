import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, it } from 'vitest'
import { createTemporaryFolder } from '../../../test/fixtures/temporary-folder.ts'
import { launchWorker, storeWorkerCode } from './launch-worker.ts'

const signal = new AbortController().signal

/** Runs a worker until it is ready. Returns whether Node had to load what strips types. */
function stripsTypes(codeFolder: string | undefined): boolean {
  const script = `
    process.send = () => {
      console.log(process.moduleLoadList.some(name => name.includes('amaro')))
      process.exit()
    }`
  const args = [
    '--disable-wasm-trap-handler',
    `--import=data:text/javascript,${encodeURIComponent(script)}`,
    resolve(import.meta.dirname, 'inference-worker.ts'),
  ]
  const env = { ...process.env, NODE_COMPILE_CACHE: codeFolder }
  return JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8', env }))
}

it('workers start without stripping types, with stored code that they cannot change', async () => {
  const folder = createTemporaryFolder()
  const codeFolder = join(folder, 'code')
  expect(stripsTypes(undefined)).toBe(true)

  // Two engines may share a folder.
  await Promise.all([storeWorkerCode(codeFolder, signal), storeWorkerCode(codeFolder, signal)])
  expect(readdirSync(folder)).toEqual(['code'])
  expect(stripsTypes(codeFolder)).toBe(false)

  const before = listFiles(codeFolder)
  const { child } = launchWorker([], undefined, codeFolder)
  await once(child, 'message')
  expect(readFileSync(`/proc/${child.pid}/environ`, 'utf8')).toContain(codeFolder)
  child.disconnect()
  expect(await once(child, 'exit')).toEqual([0, null])
  expect(listFiles(codeFolder)).toEqual(before)
})

it('nothing is stored if the compiling process is aborted', async () => {
  const folder = createTemporaryFolder()
  const abort = new AbortController()
  const stored = storeWorkerCode(join(folder, 'code'), abort.signal)
  abort.abort()
  await expect(stored).rejects.toThrow('aborted')
  expect(readdirSync(folder)).toEqual([])
})

it('a worker starts while its code is not stored', async () => {
  const codeFolder = join(createTemporaryFolder(), 'code')
  const { child } = launchWorker([], undefined, codeFolder)
  await once(child, 'message')
  child.disconnect()
  expect(await once(child, 'exit')).toEqual([0, null])
  expect(existsSync(codeFolder)).toBe(false)
})

const listFiles = (folder: string) => readdirSync(folder, { recursive: true }).toSorted()
