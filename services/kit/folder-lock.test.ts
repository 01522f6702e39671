import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { lockFolder } from './folder-lock.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'eyrie-lock-'))
})
afterEach(() => rm(folder, { recursive: true }))

describe('lockFolder', () => {
  it('locks a folder under every path until it is released', async () => {
    const target = join(folder, 'own')
    const release = await lockFolder(target)
    await symlink(target, join(folder, 'alias'))
    await expect(lockFolder(join(folder, 'alias'))).rejects.toThrow('in use by another process')
    release()
    const again = await lockFolder(target)
    again()
  })

  it('releases the lock when the process is killed', async () => {
    const script = join(folder, 'holder.ts')
    await writeFile(
      script,
      `import { lockFolder } from ${JSON.stringify(join(import.meta.dirname, 'folder-lock.ts'))}
await lockFolder(process.argv[2])
process.send('locked')
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
})
