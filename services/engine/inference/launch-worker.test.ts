import { once } from 'node:events'
import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createTemporaryFolder } from '../../../test/fixtures/temporary-folder.ts'
import { launchWorker, storeWorkerCode } from './launch-worker.ts'

const signal = new AbortController().signal

async function launch(codeFolder: string) {
  const { child } = launchWorker([], undefined, codeFolder)
  const [{ isCompiled }] = await once(child, 'message')
  child.disconnect()
  expect(await once(child, 'exit')).toEqual([0, null])
  return { isCompiled }
}

it('workers start without stripping types, with stored code that they cannot change', async () => {
  const folder = createTemporaryFolder()
  const codeFolder = join(folder, 'code')
  expect(await launch(codeFolder)).toEqual({ isCompiled: false })
  expect(readdirSync(folder)).toEqual([])

  // Two engines may share a folder.
  await Promise.all([storeWorkerCode(codeFolder, signal), storeWorkerCode(codeFolder, signal)])
  expect(readdirSync(folder)).toEqual(['code'])
  expect(await launch(codeFolder)).toEqual({ isCompiled: true })

  for (const file of listFiles(codeFolder)) rmSync(file)
  expect(await launch(codeFolder)).toEqual({ isCompiled: false })
  expect(listFiles(codeFolder)).toEqual([])
  await storeWorkerCode(codeFolder, signal)
  expect(await launch(codeFolder)).toEqual({ isCompiled: true })
})

it('nothing is stored if the compiling process is aborted', async () => {
  const folder = createTemporaryFolder()
  const abort = new AbortController()
  const stored = storeWorkerCode(join(folder, 'code'), abort.signal)
  abort.abort()
  await expect(stored).rejects.toThrow('aborted')
  expect(readdirSync(folder)).toEqual([])
})

/** Lists the paths of the compiled modules in a folder. */
const listFiles = (folder: string) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name))
