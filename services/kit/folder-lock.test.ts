import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { lockFolder } from './folder-lock.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'eyrie-lock-'))
})
afterEach(() => rm(folder, { recursive: true }))

test('a folder is one process’s own, whatever path leads to it, until it is given back', async () => {
  const own = join(folder, 'own')
  const release = await lockFolder(own)
  await symlink(own, join(folder, 'alias'))
  await expect(lockFolder(join(folder, 'alias'))).rejects.toThrow('in use by another process')
  release()
  const again = await lockFolder(own)
  again()
})

test('a folder is free once the process that held it has been killed', async () => {
  const script = join(folder, 'holder.ts')
  await writeFile(
    script,
    `import { lockFolder } from ${JSON.stringify(join(import.meta.dirname, 'folder-lock.ts'))}
await lockFolder(process.argv[2])
process.send('held')
setInterval(() => {}, 1000)`,
  )
  const holder = fork(script, [join(folder, 'own')])
  await once(holder, 'message')
  await expect(lockFolder(join(folder, 'own'))).rejects.toThrow('in use')
  holder.kill('SIGKILL')
  await once(holder, 'exit')
  const release = await lockFolder(join(folder, 'own'))
  release()
})
