import { fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  containerRequirement,
  IN_CONTAINER,
} from '../../test/fixtures/requirements/container-namespaces.ts'
import { needs } from '../../test/fixtures/requirements/needs.ts'
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

  /** Writes a program that locks a folder, says so, and holds the lock. */
  async function writeHolder(): Promise<string> {
    const script = join(folder, 'holder.ts')
    await writeFile(
      script,
      `import { lockFolder } from ${JSON.stringify(join(import.meta.dirname, 'folder-lock.ts'))}
await lockFolder(process.argv[2])
console.log('locked')
setInterval(() => {}, 1000)`,
    )
    return script
  }

  it(
    'locks a folder for processes in other containers, too',
    needs(containerRequirement),
    async () => {
      const [command, ...args] = [
        ...IN_CONTAINER,
        process.execPath,
        await writeHolder(),
        join(folder, 'own'),
      ]
      const holder = spawn(command!, args, { stdio: ['ignore', 'pipe', 'inherit'] })
      await once(holder.stdout, 'data')
      await expect(lockFolder(join(folder, 'own'))).rejects.toThrow('in use by another process')
      holder.kill('SIGKILL')
      await once(holder.stdout, 'close')
      const release = await lockFolder(join(folder, 'own'))
      release()
    },
  )

  it('releases the lock when the process is killed', async () => {
    const holder = fork(await writeHolder(), [join(folder, 'own')], { silent: true })
    await once(holder.stdout!, 'data')
    await expect(lockFolder(join(folder, 'own'))).rejects.toThrow('in use')
    holder.kill('SIGKILL')
    await once(holder, 'exit')
    const release = await lockFolder(join(folder, 'own'))
    release()
  })
})
